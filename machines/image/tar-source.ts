/**
 * The bytes of an archive, unzipped on the way where they are gzipped, with a bound on how many may
 * come out: an archive is somebody else's data until it has been read to its end.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The archive breaks a rule. Its author has to mend it, so trying again is of no use. */
export class ArchiveRefusedError extends Error {
  override readonly name = 'ArchiveRefusedError';
}

export function refuse(reason: string): never {
  throw new ArchiveRefusedError(reason);
}

export interface ArchiveLimits {
  /** Of all files together, unpacked. */
  readonly bytesMax: number;
  readonly entryCountMax: number;
  /** Unzipped to zipped; real trees stay far below. */
  readonly ratioMax: number;
  /** Small archives of zeros are harmless, so the ratio counts only from here on. */
  readonly ratioFreeBytes: number;
}

const HEADER_BYTES = 512;

export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #bytesMax: number;
  readonly #bytesMaxReason: string;
  #rest: Buffer = Buffer.alloc(0);
  #read = 0;
  /** Of the body that is being read. */
  #left = 0;

  constructor(chunks: AsyncIterable<Buffer>, bytesMax: number, bytesMaxReason: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#bytesMax = bytesMax;
    this.#bytesMaxReason = bytesMaxReason;
  }

  /** Exactly `count` bytes; undefined where there are none left at all. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#rest.length < count) {
      const next = await this.#next();
      if (!next) {
        if (this.#rest.length === 0) return undefined;
        refuse(`it is cut short at byte ${this.#read}`);
      }
      this.#rest = Buffer.concat([this.#rest, next]);
    }
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  /** The next `size` bytes, piece by piece; what the reader leaves is skipped by `endBody`. */
  body(size: number): AsyncIterable<Buffer> {
    this.#left = size;
    return this.#pieces();
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      if (this.#rest.length === 0) {
        this.#rest = (await this.#next()) ?? refuse(`it is cut short at byte ${this.#read}`);
      }
      const piece = this.#rest.subarray(0, this.#left);
      this.#rest = this.#rest.subarray(piece.length);
      this.#left -= piece.length;
      yield piece;
    }
  }

  /** Steps over what is left of a body of `size` bytes, and over the padding behind it. */
  async endBody(size: number): Promise<void> {
    for await (const _ of this.#pieces());
    const padding = (HEADER_BYTES - (size % HEADER_BYTES)) % HEADER_BYTES;
    if (padding > 0 && !(await this.take(padding))) refuse(`it is cut short at byte ${this.#read}`);
  }

  /** Archives are padded to whole records with zeros; anything else would be a second archive. */
  async expectZerosToTheEnd(): Promise<void> {
    for (let piece: Buffer | undefined = this.#rest; piece; piece = await this.#next()) {
      if (piece.some((byte) => byte !== 0)) refuse('data follows its end');
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next();
    if (next.done) return undefined;
    this.#read += next.value.length;
    if (this.#read > this.#bytesMax) refuse(this.#bytesMaxReason);
    return next.value;
  }
}

/** Opens an archive, which is gzipped if it begins like one, whatever its name says. */
export async function openArchive(
  path: string,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<ByteSource> {
  const { size } = await stat(path);
  const isZipped = await isGzipped(path);
  const file = createReadStream(path, { signal });
  if (!isZipped) return new ByteSource(file, Number.POSITIVE_INFINITY, '');
  const bytesMax = Math.max(limits.ratioFreeBytes, size * limits.ratioMax);
  const gunzip = createGunzip();
  // The reader of `gunzip` sees its errors; the callback only says that they are seen.
  pipeline(file, gunzip, () => undefined);
  return new ByteSource(
    refusingBadGzip(gunzip),
    bytesMax,
    `it is a bomb: it unzips to more than ${limits.ratioMax} times its size`,
  );
}

async function isGzipped(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

async function* refusingBadGzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) refuse(`its gzip data is damaged: ${message}`);
    throw error;
  }
}
