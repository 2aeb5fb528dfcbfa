/** A picture in fewer bytes: 256 colours are more than a page has, but for the edges of its letters. */
import { crc32 as crcOf, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

export function smaller(png: Buffer): Buffer {
  const pixels = decode(png);
  const { palette, indices } = quantize(pixels);
  const { width, height } = pixels;
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((rgb) => [rgb >> 16, (rgb >> 8) & 255, rgb & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
}

/** Eight bits a channel and no interlace: what browsers write. */
function decode(png: Buffer): Pixels {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + length));
    }
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const from = y * (stride + 1);
    unfilter(
      raw[from]!,
      raw.subarray(from + 1, from + 1 + stride),
      data,
      y * stride,
      stride,
      channels,
    );
  }
  return { width, height, channels, data };
}

function unfilter(
  kind: number,
  line: Uint8Array,
  data: Uint8Array,
  start: number,
  stride: number,
  step: number,
): void {
  for (let x = 0; x < stride; x++) {
    const left = x >= step ? data[start + x - step]! : 0;
    const up = start > 0 ? data[start + x - stride]! : 0;
    const corner = start > 0 && x >= step ? data[start + x - stride - step]! : 0;
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind]!;
    data[start + x] = line[x]! + guess;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** The most frequent colours stay; each of the rest becomes the one nearest to it. */
function quantize({ width, height, channels, data }: Pixels) {
  const counts = new Map<number, number>();
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at++) {
    const from = at * channels;
    const rgb = (data[from]! << 16) | (data[from + 1]! << 8) | data[from + 2]!;
    colours[at] = rgb;
    counts.set(rgb, (counts.get(rgb) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLOURS_MAX)
    .map(([rgb]) => rgb);
  const index = new Map(palette.map((rgb, at) => [rgb, at]));
  const indices = Uint8Array.from(colours, (rgb) => {
    const known = index.get(rgb) ?? nearestOf(palette, rgb);
    index.set(rgb, known);
    return known;
  });
  return { palette, indices };
}

function nearestOf(palette: readonly number[], rgb: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  palette.forEach((other, at) => {
    const far = [16, 8, 0].reduce(
      (sum, by) => sum + (((rgb >> by) & 255) - ((other >> by) & 255)) ** 2,
      0,
    );
    if (far < least) [best, least] = [at, far];
  });
  return best;
}
