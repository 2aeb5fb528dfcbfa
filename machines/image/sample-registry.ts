/**
 * A registry on loopback that serves sample images, with byte ranges and ETags as a real one has, and
 * with the faults of a real one where a test asks for them: slow, cut off, wrong, busy.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { sampleImage } from './sample-image.ts';

export interface SampleRegistryOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** Of each of the two sample images; 256 KiB by default. */
  readonly imageBytes?: number | undefined;
  /** Served besides the sample images. */
  readonly extra?: readonly { readonly name: string; readonly content: Buffer }[] | undefined;
  readonly bytesPerSecondMax?: number | undefined;
  /** Asked for every request, in order from 0: how this one goes wrong, if it does. */
  readonly faultOf?: ((request: number) => Fault | undefined) | undefined;
}

export type Fault =
  /** Breaks the connection after so many bytes of the body; its ETag may be a weak one. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly isWeak?: boolean }
  /** Sends the right number of wrong bytes. */
  | { readonly kind: 'corrupt' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Answers every range with the whole file. */
  | { readonly kind: 'noRange' }
  /** Answers every request with a range, asked for or not. */
  | { readonly kind: 'alwaysRange' }
  /** Says the file has changed since. */
  | { readonly kind: 'newEtag' }
  /** Sends the head and then nothing. */
  | { readonly kind: 'silent' };

export interface SampleRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly status: number;
}
export interface SampleImage {
  readonly name: string;
  readonly url: string;
  readonly sha256: string;
}
export interface SampleRegistry {
  readonly url: string;
  readonly images: readonly SampleImage[];
  /** What was asked and answered, oldest first; the last thousand. */
  readonly requests: readonly SampleRequest[];
  close(): Promise<void>;
}

const REQUEST_COUNT_MAX = 1_000;
const CUT_MS = 200;
const PIECE_BYTES = 16 * 1024;

export async function startSampleRegistry(
  options: SampleRegistryOptions = {},
): Promise<SampleRegistry> {
  const files = new Map<string, Buffer>();
  const imageBytes = options.imageBytes ?? 256 * 1024;
  files.set('tools.tar', sampleImage('tools', imageBytes));
  files.set('site.tar.gz', gzipSync(sampleImage('site', imageBytes)));
  for (const { name, content } of options.extra ?? []) files.set(name, content);

  const requests: SampleRequest[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const fault = options.faultOf?.(count++);
    const content = files.get(decodeURIComponent((request.url ?? '').slice(1)));
    const range = request.headers.range;
    answer(request, response, content, fault, options.bytesPerSecondMax)
      // The other side went away, or was cut off on purpose.
      .catch(() => response.destroy());
    requests.push({ path: request.url ?? '', range, status: response.statusCode });
    if (requests.length > REQUEST_COUNT_MAX) requests.shift();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    images: [...files].map(([name, content]) => ({
      name: name.replace(/\.tar(\.gz)?$/, ''),
      url: `${url}/${encodeURIComponent(name)}`,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer | undefined,
  fault: Fault | undefined,
  bytesPerSecondMax: number | undefined,
): Promise<void> {
  if (fault?.kind === 'status') {
    const seconds = fault.retryAfterSeconds;
    if (seconds !== undefined) response.setHeader('retry-after', seconds);
    response.writeHead(fault.status).end();
    return;
  }
  if (!content || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(content ? 405 : 404).end();
    return;
  }
  const etag = etagOf(content, fault);
  const from = fault?.kind === 'noRange' ? 0 : startOf(request, etag);
  if (from > 0 && from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const isRange = from > 0 || fault?.kind === 'alwaysRange';
  response.writeHead(isRange ? 206 : 200, {
    etag,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-length': content.length - from,
    ...(isRange
      ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }
      : {}),
  });
  if (request.method === 'HEAD') response.end();
  else await send(response, content.subarray(from), fault, bytesPerSecondMax);
}

async function send(
  response: ServerResponse,
  body: Buffer,
  fault: Fault | undefined,
  bytesPerSecondMax: number | undefined,
): Promise<void> {
  response.flushHeaders();
  if (fault?.kind === 'silent') return;
  const end = fault?.kind === 'cut' ? Math.min(fault.afterBytes, body.length) : body.length;
  for (let at = 0; at < end && !response.destroyed; at += PIECE_BYTES) {
    const piece = Buffer.from(body.subarray(at, Math.min(at + PIECE_BYTES, end)));
    if (fault?.kind === 'corrupt') piece[0]! ^= 1;
    await new Promise<void>((resolve, reject) =>
      response.write(piece, (error) => (error ? reject(error) : resolve())),
    );
    if (bytesPerSecondMax) await sleep((piece.length / bytesPerSecondMax) * 1_000);
  }
  if (fault?.kind !== 'cut') return void response.end();
  // What has arrived and was not read yet is dropped by newer Node.js when the line breaks.
  await sleep(CUT_MS);
  response.destroy();
}

function etagOf(content: Buffer, fault: Fault | undefined): string {
  const tag = `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
  if (fault?.kind === 'newEtag') return tag.replace('"', '"new-');
  return fault?.kind === 'cut' && fault.isWeak ? `W/${tag}` : tag;
}

/** The first byte that is asked for; all of them where the file has changed since the asker saw it. */
function startOf({ headers }: IncomingMessage, etag: string): number {
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return 0;
  return Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
}
