/**
 * Reads a tar archive: ustar, with the long names of GNU tar and of pax. It says what the archive
 * holds and refuses what it does not understand; where things may go is not decided here.
 *
 *   [header 512][body, padded to 512] … [zeros 1024][zeros to the end of the record]
 *
 *   type  0 file · 1 hard link · 2 symbolic link · 5 directory · 3 4 6 devices: refused
 *         x pax header of the next entry · g of all · L K GNU long name, long link
 */
import { type ByteSource, refuse } from './tar-source.ts';

export interface TarEntry {
  readonly type: 'file' | 'directory' | 'symlink' | 'hardlink';
  readonly path: string;
  readonly linkPath: string;
  readonly mode: number;
  readonly size: number;
  /** To be read before the next entry is asked for, or not at all. */
  readonly body: AsyncIterable<Buffer>;
}

const BLOCK = 512;
/** Of one long name or pax header. */
const META_BYTES_MAX = 64 * 1024;
const TYPES: Readonly<Record<string, TarEntry['type']>> = {
  '\0': 'file',
  '0': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
};
const DEVICES: Readonly<Record<string, string>> = {
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a fifo',
};

/** What headers before an entry said about it. */
interface Told {
  path?: string;
  linkPath?: string;
  size?: number;
}

export async function* readTar(source: ByteSource): AsyncGenerator<TarEntry> {
  let told: Told = {};
  // Bounded by the archive: every turn takes a block.
  for (;;) {
    const block = await source.take(BLOCK);
    if (!block) refuse('it is cut short: the zeros that end an archive are missing');
    if (isZero(block)) return expectEnd(source);
    const header = readHeader(block);
    if ('xgLK'.includes(header.type)) {
      const meta = await readMeta(source, header.size, header.path);
      told = { ...told, ...readTold(header.type, meta) };
      continue;
    }
    const { type, path, linkPath, size } = { ...header, ...told };
    told = {};
    const known = TYPES[type];
    if (!known) {
      refuse(`'${path}' is ${DEVICES[type] ?? `of the unknown type '${type}'`}`);
    }
    if (known !== 'file' && size !== 0) refuse(`'${path}' is a ${known} and has ${size} bytes`);
    yield { type: known, path, linkPath, size, mode: header.mode, body: source.body(size) };
    await source.endBody(size);
  }
}

async function expectEnd(source: ByteSource): Promise<void> {
  const second = await source.take(BLOCK);
  if (!second) refuse('it is cut short: only one of the two blocks of zeros that end it is there');
  if (!isZero(second)) refuse('a block of zeros stands among its entries');
  await source.expectZerosToTheEnd();
}

function readHeader(block: Buffer) {
  const wanted = readNumber(block, 148, 8, 'checksum');
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += block[at]!;
  if (sum !== wanted) refuse(`the checksum of a header is ${wanted}, its bytes add up to ${sum}`);
  const magic = block.toString('latin1', 257, 262);
  if (magic !== 'ustar') refuse('it is no ustar archive');
  // GNU tar keeps other things where ustar keeps the prefix.
  const prefix = block[262] === 0 ? readText(block.subarray(345, 500)) : '';
  const name = readText(block.subarray(0, 100));
  return {
    type: String.fromCharCode(block[156]!),
    path: prefix ? `${prefix}/${name}` : name,
    linkPath: readText(block.subarray(157, 257)),
    mode: readNumber(block, 100, 8, 'mode') & 0o777,
    size: readNumber(block, 124, 12, 'size'),
  };
}

async function readMeta(source: ByteSource, size: number, path: string): Promise<Buffer> {
  if (size > META_BYTES_MAX) {
    refuse(`the header '${path}' has ${size} bytes, at most ${META_BYTES_MAX} are read`);
  }
  const pieces: Buffer[] = [];
  for await (const piece of source.body(size)) pieces.push(piece);
  await source.endBody(size);
  return Buffer.concat(pieces);
}

function readTold(type: string, meta: Buffer): Told {
  if (type === 'L') return { path: readText(meta) };
  if (type === 'K') return { linkPath: readText(meta) };
  const pax = readPax(meta);
  if (type === 'x') return pax;
  if (Object.keys(pax).length > 0) refuse('a global pax header names a path or a size');
  return {};
}

/** Records of the form '<length> <key>=<value>\n', where the length counts the whole record. */
function readPax(meta: Buffer): Told {
  const told: Told = {};
  for (let at = 0; at < meta.length; ) {
    const space = meta.indexOf(0x20, at);
    const digits = space < 0 ? '' : meta.toString('latin1', at, space);
    const end = at + (/^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : Number.NaN);
    const equals = meta.indexOf(0x3d, space);
    if (!(end <= meta.length) || meta[end - 1] !== 0x0a || equals < 0 || equals >= end) {
      refuse('a pax header is malformed');
    }
    const key = meta.toString('latin1', space + 1, equals);
    const value = decode(meta.subarray(equals + 1, end - 1));
    if (value.includes('\0')) refuse(`the pax header '${key}' has a zero byte`);
    if (key.startsWith('GNU.sparse')) refuse('it holds a sparse file, which is not supported');
    if (key === 'path') told.path = value;
    if (key === 'linkpath') told.linkPath = value;
    if (key === 'size') told.size = wholeNumber(value, 10, 'size');
    at = end;
  }
  return told;
}

/** Octal digits; or, with the first bit set, a number of many bytes, as GNU tar writes large sizes. */
function readNumber(block: Buffer, at: number, length: number, what: string): number {
  if ((block[at]! & 0x80) === 0) {
    const digits = block.toString('latin1', at, at + length).replace(/[\0 ]+$/, '');
    return wholeNumber(digits.trimStart() || '0', 8, what);
  }
  let value = block[at]! & 0x7f;
  for (let i = at + 1; i < at + length; i++) value = value * 256 + block[i]!;
  if (!Number.isSafeInteger(value)) refuse(`the ${what} in a header is out of range`);
  return value;
}

function wholeNumber(digits: string, base: 8 | 10, what: string): number {
  const isRight = base === 8 ? /^[0-7]+$/.test(digits) : /^[0-9]+$/.test(digits);
  const value = isRight ? Number.parseInt(digits, base) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  return refuse(`the ${what} in a header is ${JSON.stringify(digits)}, which is no number`);
}

/** Up to the first zero byte. */
function readText(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return decode(end < 0 ? bytes : bytes.subarray(0, end));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuse('a name in it is not UTF-8');
  }
}

function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}
