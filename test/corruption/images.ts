/** Every way to damage the sample in one place: cut at a byte, or one bit flipped in it. */
import { FILES, type Sample } from './sample.ts';

export interface Image {
  readonly name: string;
  readonly file: (typeof FILES)[number];
  readonly bytes: Buffer;
}

/** Where every byte is taken even at a stride: headers, and the first of the WAL's frames. */
const HEAD_BYTES = 128;

export function imageCount(files: Sample['files']): number {
  return 2 * FILES.reduce((sum, name) => sum + files[name].length, 0);
}

export function imageIndexes(files: Sample['files'], stride: number): number[] {
  const indexes: number[] = [];
  let first = 0;
  for (const name of FILES) {
    for (let at = 0; at < files[name].length; at++) {
      if (at % stride === 0 || at < HEAD_BYTES)
        indexes.push(2 * (first + at), 2 * (first + at) + 1);
    }
    first += files[name].length;
  }
  return indexes;
}

export function imageAt(files: Sample['files'], index: number): Image {
  let at = index >> 1;
  const file = FILES.find((name) => {
    if (at < files[name].length) return true;
    at -= files[name].length;
    return false;
  });
  if (file === undefined) throw new RangeError(`there is no image ${index}`);
  if (index % 2 === 0) {
    return { name: `${file} cut at ${at}`, file, bytes: files[file].subarray(0, at) };
  }
  // Any bit, but the same one in every run.
  const bit = (Math.imul(at, 0x9e3779b1) >>> 28) & 7;
  const bytes = Buffer.from(files[file]);
  bytes[at] = bytes[at]! ^ (1 << bit);
  return { name: `${file} bit ${bit} of byte ${at} flipped`, file, bytes };
}
