/**
 * Downloads one file, going on where an earlier attempt broke off. Beside the partial file stands what
 * the server called the thing (its ETag): only while that still holds may the rest be asked for.
 * Whether the bytes are the right ones is for the checksum to say, not for this file.
 */
import { type FileHandle, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { StepContext } from 'fleetq';
import { lengthOf, rangeOf, refuseSize, refuseStatus, shown, startOf, totalOf } from './answer.ts';
import { unless, writeAll } from './files.ts';

export interface DownloadOptions {
  readonly bytesMax: number;
  /** A server that says nothing for this long is given up. */
  readonly silentMsMax: number;
}
export const DOWNLOAD_OPTIONS: DownloadOptions = { bytesMax: 16 * 2 ** 30, silentMsMax: 30_000 };

type Port = Pick<StepContext<unknown, unknown>, 'signal' | 'progress' | 'use'>;

interface Known {
  readonly url: string;
  readonly etag: string;
  readonly bytes: number | null;
}

const PROGRESS_EVERY_BYTES = 256 * 1024;

/** Brings `part` to its full length, durable, and says how long that is. */
export async function download(
  url: string,
  part: string,
  port: Port,
  options: DownloadOptions,
): Promise<number> {
  const known = await readKnown(part, url);
  const offset = known ? ((await unless(['ENOENT'], stat(part)))?.size ?? 0) : 0;
  if (known && offset > 0 && offset === known.bytes) return offset;
  return port.use('registry', () => fetchInto(url, part, port, options, known, offset));
}

async function fetchInto(
  url: string,
  part: string,
  port: Port,
  options: DownloadOptions,
  known: Known | undefined,
  offset: number,
): Promise<number> {
  const silence = watchSilence(port.signal, options.silentMsMax);
  let response: Response | undefined;
  try {
    response = await fetch(url, {
      signal: silence.signal,
      headers: {
        // Compressed on the way, byte ranges would count other bytes than the file's.
        'accept-encoding': 'identity',
        ...(known && offset > 0 ? { range: `bytes=${offset}-`, 'if-range': known.etag } : {}),
      },
    });
    silence.reset();
    if (response.status === 416 && offset > 0 && totalOf(response) === offset) return offset;
    refuseStatus(response, url);
    const isRange = response.status === 206;
    if (isRange && startOf(response) !== offset) {
      await forget(part);
      throw new Error(`${shown(url)} sent ${rangeOf(response)}, wanted from byte ${offset} on`);
    }
    // A range that nobody asked for, from the first byte on, is a beginning like any other.
    const isRest = isRange && offset > 0;
    const bytes = isRange ? totalOf(response) : lengthOf(response);
    if ((bytes ?? 0) > options.bytesMax) refuseSize(url, options.bytesMax);
    const handle = await open(part, isRest ? 'r+' : 'w', 0o600);
    try {
      // The file is empty before its new name is noted: a kill in between mixes nothing.
      if (!isRest) await note(part, url, response, bytes);
      const begin = isRest ? offset : 0;
      const end = await append(handle, response, begin, bytes, url, port, options, silence.reset);
      await handle.sync();
      return end;
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Cancelled or drained: the engine knows why, and this is nobody's broken connection.
    port.signal.throwIfAborted();
    throw silence.isOver() ? silence.signal.reason : error;
  } finally {
    silence.stop();
    // What was refused unread would hold its connection until it is collected.
    await response?.body?.cancel().catch(() => undefined);
  }
}

async function append(
  handle: FileHandle,
  response: Response,
  begin: number,
  bytes: number | undefined,
  url: string,
  { signal, progress }: Port,
  { bytesMax }: DownloadOptions,
  onChunk: () => void,
): Promise<number> {
  let end = begin;
  let toldAt = begin;
  try {
    for await (const chunk of response.body ?? []) {
      onChunk();
      signal.throwIfAborted();
      if (end + chunk.length > bytesMax) refuseSize(url, bytesMax);
      await writeAll(handle, chunk, end);
      end += chunk.length;
      if (end - toldAt < PROGRESS_EVERY_BYTES) continue;
      toldAt = end;
      progress(bytes ? end / bytes : 0, `${end} of ${bytes ?? 'unknown'} bytes`);
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`${shown(url)} broke off at byte ${end} of ${bytes ?? 'unknown'}`, {
      cause: error,
    });
  }
  if (bytes !== undefined && end !== bytes) {
    throw new Error(`${shown(url)} ended at byte ${end}, and promised ${bytes}`);
  }
  progress(1, `${end} bytes`);
  return end;
}

/** Forgets what the partial file belongs to, so that the next attempt starts from nothing. */
export async function forget(part: string): Promise<void> {
  await rm(`${part}.json`, { force: true });
}

async function note(
  part: string,
  url: string,
  response: Response,
  bytes: number | undefined,
): Promise<void> {
  const etag = response.headers.get('etag');
  // A weak tag promises the same meaning, not the same bytes.
  if (!etag || etag.startsWith('W/')) return forget(part);
  const known: Known = { url, etag, bytes: bytes ?? null };
  await writeFile(`${part}.json`, JSON.stringify(known), { mode: 0o600 });
}

async function readKnown(part: string, url: string): Promise<Known | undefined> {
  const text = await unless(['ENOENT'], readFile(`${part}.json`, 'utf8'));
  try {
    const known = JSON.parse(text ?? 'null') as Known | null;
    return known?.url === url && typeof known.etag === 'string' ? known : undefined;
  } catch {
    // Torn by a kill: then nothing is known.
    return undefined;
  }
}

function watchSilence(signal: AbortSignal, silentMsMax: number) {
  const controller = new AbortController();
  const error = new Error(`the server was silent for ${silentMsMax} ms`);
  const timer = setTimeout(() => controller.abort(error), silentMsMax);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    isOver: () => controller.signal.aborted,
    reset: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}
