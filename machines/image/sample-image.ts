/** Writes tar archives, and makes one that is the same on every machine: the sample image. */
import { createHash } from 'node:crypto';

export interface TarFile {
  readonly path: string;
  /** As in the header: '0' file, '1' hard link, '2' symbolic link, '5' directory … */
  readonly type?: string;
  readonly mode?: number;
  readonly linkPath?: string;
  readonly body?: Buffer | string;
}

const BLOCK = 512;

/** One entry: its header, and its body padded to whole blocks. */
export function tarEntry({ path, type = '0', mode = 0o644, linkPath = '', body = '' }: TarFile) {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(bytes.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(type, 156);
  header.write(linkPath, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  return Buffer.concat([sealHeader(header), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))]);
}

/** Sets the header's checksum, which counts itself as spaces. */
export function sealHeader(header: Buffer): Buffer {
  header.fill(' ', 148, 156);
  const sum = header.subarray(0, BLOCK).reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return header;
}

export function tarArchive(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]);
}

/** An image of a small program, about `bytes` long. */
export function sampleImage(seed: string, bytes: number): Buffer {
  const dataCount = 8;
  const data = Array.from({ length: dataCount }, (_, index) =>
    tarEntry({
      path: `app/data/part-${index}.bin`,
      body: noise(`${seed}/${index}`, Math.ceil(bytes / dataCount)),
    }),
  );
  return tarArchive([
    tarEntry({ path: 'app/', type: '5', mode: 0o755 }),
    tarEntry({ path: 'app/bin/', type: '5', mode: 0o755 }),
    tarEntry({ path: 'app/bin/run', mode: 0o755, body: `#!/bin/sh\necho "${seed}"\n` }),
    tarEntry({ path: 'app/bin/start', type: '1', linkPath: 'app/bin/run' }),
    tarEntry({ path: 'app/latest', type: '2', linkPath: 'bin/run' }),
    tarEntry({ path: 'app/etc/app.json', body: `${JSON.stringify({ seed })}\n` }),
    ...data,
  ]);
}

/** Bytes that no zip can shrink, and that only the seed decides. */
function noise(seed: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let index = 0; index * 32 < length; index++) {
    blocks.push(createHash('sha256').update(`${seed}:${index}`).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
