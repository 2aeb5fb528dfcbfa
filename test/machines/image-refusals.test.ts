/** Archives that mean harm or are broken: each is refused for good, says why, and leaves nothing. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealHeader, tarArchive, tarEntry } from '../../machines/image/sample-image.ts';
import type { ArchiveLimits } from '../../machines/image/tar-source.ts';
import { archiveOf, type Host, namesUnder, openHost, startHost } from './image-host.ts';

const fine = { path: 'fine.txt', body: 'fine' };

/** A header with something done to it, and its checksum made right again. */
function bent(entry: Buffer, bend: (header: Buffer) => void): Buffer {
  const copy = Buffer.from(entry);
  bend(copy);
  sealHeader(copy.subarray(0, 512));
  return copy;
}

function pax(records: Record<string, string>, type = 'x'): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest);
    while (String(length).length + Buffer.byteLength(rest) !== length) {
      length = String(length).length + Buffer.byteLength(rest);
    }
    return `${length}${rest}`;
  });
  return tarEntry({ path: 'PaxHeader', type, body: lines.join('') });
}

const up = (levels: number) => Array.from({ length: levels }, () => '..').join('/');
const sound = archiveOf([fine, { path: 'more.txt', body: 'x'.repeat(2_000) }]);

const CASES: readonly (readonly [name: string, archive: Buffer, reason: RegExp])[] = [
  [
    "'..' at the front of a path",
    archiveOf([fine, { path: '../evil', body: 'x' }]),
    /goes up with '\.\.': '\.\.\/evil'/,
  ],
  [
    "'..' in the middle of a path, even one that stays inside",
    archiveOf([{ path: 'a/../b', body: 'x' }]),
    /goes up with '\.\.'/,
  ],
  ['an absolute path', archiveOf([{ path: '/tmp/evil', body: 'x' }]), /path is absolute/],
  [
    'an absolute path in a pax header',
    tarArchive([pax({ path: '/tmp/evil' }), tarEntry(fine)]),
    /path is absolute: '\/tmp\/evil'/,
  ],
  [
    'an absolute symbolic link',
    archiveOf([{ path: 'l', type: '2', linkPath: '/etc/passwd' }]),
    /'l' → '\/etc\/passwd' leads out of the root: it is absolute/,
  ],
  [
    "a symbolic link that climbs out with '..'",
    archiveOf([{ path: 'a/l', type: '2', linkPath: `${up(2)}/etc` }]),
    /leads out of the root/,
  ],
  [
    'a symbolic link that climbs out through an earlier one',
    archiveOf([
      { path: 'a/b/d', type: '2', linkPath: '..' },
      { path: 'a/l', type: '2', linkPath: `b/d/${up(2)}/x` },
    ]),
    /'a\/l' → .* leads out of the root/,
  ],
  [
    'a symbolic link that climbs out through a later one',
    archiveOf([
      { path: 'sub/l', type: '2', linkPath: `d/${up(2)}/x` },
      { path: 'sub/d', type: '2', linkPath: '..' },
    ]),
    /'sub\/l' → .* leads out of the root/,
  ],
  [
    'symbolic links that go round in circles',
    archiveOf([
      { path: 'a', type: '2', linkPath: 'b' },
      { path: 'b', type: '2', linkPath: 'a' },
    ]),
    /goes round in circles/,
  ],
  [
    'a symbolic link of more names than any path has',
    tarArchive([pax({ linkpath: 'd/'.repeat(300) }), tarEntry({ path: 'l', type: '2' })]),
    /the link 'l' is too long/,
  ],
  [
    'symbolic links that add up to a path longer than any in it',
    archiveOf(
      Array.from({ length: 12 }, (_, index) => ({
        path: `l${index}`,
        type: '2',
        linkPath: `l${index + 1}/${'d'.repeat(90)}`,
      })),
    ),
    /the link 'l0' → .* leads too deep/,
  ],
  [
    'a file written through a symbolic link',
    archiveOf([
      { path: 'd', type: '2', linkPath: 'elsewhere' },
      { path: 'd/evil', body: 'x' },
    ]),
    /'d\/evil' goes through 'd', which is a symlink/,
  ],
  [
    'a file below a file',
    archiveOf([fine, { path: 'fine.txt/evil', body: 'x' }]),
    /goes through 'fine.txt', which is a file/,
  ],
  [
    'a hard link out of the root',
    archiveOf([{ path: 'h', type: '1', linkPath: '../../etc/passwd' }]),
    /hard link 'h' goes up with/,
  ],
  [
    'an absolute hard link',
    archiveOf([{ path: 'h', type: '1', linkPath: '/etc/passwd' }]),
    /hard link 'h' is absolute/,
  ],
  [
    'a hard link to a symbolic link',
    archiveOf([
      { path: 's', type: '2', linkPath: 'fine.txt' },
      { path: 'h', type: '1', linkPath: 's' },
    ]),
    /'h' names 's', which is no earlier file/,
  ],
  [
    'a hard link to a file that is not in it',
    archiveOf([{ path: 'h', type: '1', linkPath: 'missing' }]),
    /which is no earlier file of it/,
  ],
  ['a character device', archiveOf([{ path: 'null', type: '3' }]), /is a character device/],
  ['a block device', archiveOf([{ path: 'sda', type: '4' }]), /is a block device/],
  ['a fifo', archiveOf([{ path: 'pipe', type: '6' }]), /is a fifo/],
  ['a type nobody knows', archiveOf([{ path: 'odd', type: 'Z' }]), /of the unknown type 'Z'/],
  ['one path twice', archiveOf([fine, fine]), /'fine.txt' is in it twice/],
  [
    'one path twice, spelled in two ways',
    archiveOf([fine, { path: './/fine.txt', body: 'other' }]),
    /'fine.txt' is in it twice/,
  ],
  [
    'one directory twice',
    archiveOf([
      { path: 'd/', type: '5' },
      { path: 'd', type: '5' },
    ]),
    /'d' is in it twice/,
  ],
  [
    'a path that is too long',
    tarArchive([pax({ path: 'deep/'.repeat(300) }), tarEntry(fine)]),
    /longer than 1024 bytes/,
  ],
  [
    'a name that is too long',
    tarArchive([pax({ path: 'n'.repeat(256) }), tarEntry(fine)]),
    /name of more than 255 bytes/,
  ],
  [
    'a header whose checksum is wrong',
    (() => {
      const bad = Buffer.from(sound);
      bad[0]! ^= 1;
      return bad;
    })(),
    /checksum of a header is \d+, its bytes add up to \d+/,
  ],
  ['an archive cut inside a body', sound.subarray(0, 512 * 4), /cut short at byte 2048/],
  ['an archive cut inside a header', sound.subarray(0, 1_200), /cut short at byte 1200/],
  ['an archive cut at an entry', sound.subarray(0, 1_024), /zeros that end an archive are missing/],
  ['an archive cut inside its end', sound.subarray(0, sound.length - 512), /only one of the two/],
  ['an empty file', Buffer.alloc(0), /zeros that end an archive are missing/],
  ['something that is no archive', Buffer.alloc(4_096, 'no tar '), /header/],
  [
    'a v7 archive',
    tarArchive([bent(tarEntry(fine), (header) => header.fill(0, 257, 265))]),
    /no ustar archive/,
  ],
  [
    'a size that is no number',
    tarArchive([bent(tarEntry(fine), (header) => header.write('9zz', 124))]),
    /size in a header is/,
  ],
  [
    'a size beyond all numbers',
    tarArchive([bent(tarEntry(fine), (header) => header.fill(0xff, 124, 136))]),
    /size in a header is out of range/,
  ],
  [
    'a symbolic link with a body',
    tarArchive([tarEntry({ path: 'l', type: '2', linkPath: 'x', body: 'body' })]),
    /is a symlink and has 4 bytes/,
  ],
  ['data after the end', Buffer.concat([sound, tarEntry(fine)]), /data follows its end/],
  [
    'a block of zeros between entries',
    Buffer.concat([tarEntry(fine), Buffer.alloc(512), tarEntry(fine), Buffer.alloc(1_024)]),
    /block of zeros stands among its entries/,
  ],
  [
    'a malformed pax header',
    tarArchive([tarEntry({ path: 'p', type: 'x', body: '99 path=x\n' }), tarEntry(fine)]),
    /pax header is malformed/,
  ],
  ['a global pax path', tarArchive([pax({ path: 'x' }, 'g'), tarEntry(fine)]), /global pax header/],
  [
    'a sparse file',
    tarArchive([pax({ 'GNU.sparse.major': '1' }), tarEntry(fine)]),
    /sparse file, which is not supported/,
  ],
  [
    'a name that is not UTF-8',
    tarArchive([bent(tarEntry(fine), (header) => header.writeUInt8(0xff, 0))]),
    /not UTF-8/,
  ],
  ['gzip data cut short', gzipSync(sound).subarray(0, 60), /gzip data is damaged/],
  [
    'a gzip bomb',
    gzipSync(archiveOf([{ path: 'zeros', body: Buffer.alloc(24 * 2 ** 20) }])),
    /is a bomb: it unzips to more than 200 times its size/,
  ],
];

let host: Host;
beforeAll(async () => {
  const extra = CASES.map(([, content], index) => ({ name: `evil-${index}.tar`, content }));
  host = await openHost({ imageBytes: 64, extra });
});
afterAll(() => host.close());

test.each(CASES.map(([name, , reason], index) => [name, `evil-${index}`, reason] as const))(
  '%s is refused as the fault of the request',
  async (_name, image, reason) => {
    const summary = await host.install(image);
    expect(summary).toMatchObject({ outcome: 'aborted', state: 'unpack.work', attempt: 1 });
    expect(summary.reason).toMatch(`the archive of ${image} is refused: `);
    expect(summary.reason).toMatch(reason);
    const last = host.fleet.events(summary.id).at(-1)?.event;
    expect(last).toMatchObject({ type: 'ABORTED', kind: 'user' });
    expect(namesUnder(host.home(image)).map((name) => name.split('/')[0])).toEqual(
      // The archive itself has the right checksum, so it need not be pulled again to be refused again.
      ['archives', 'archives', 'tmp'],
    );
  },
);

async function reasonFor(content: Buffer, archive: Partial<ArchiveLimits>) {
  const strict = await startHost(
    { imageBytes: 64, extra: [{ name: 'evil', content }] },
    { archive },
  );
  return (await strict.install('evil')).reason;
}

test('too many bytes, by what the headers say, are refused before they are written', async () => {
  const archive = archiveOf([fine, { path: 'large', body: 'x'.repeat(5_000) }]);
  expect(await reasonFor(archive, { bytesMax: 5_000 })).toMatch(
    /is a bomb: its files have more than 5000 bytes/,
  );
});

test('too many entries are refused, and directories that are only implied count', async () => {
  const many = archiveOf([1, 2, 3, 4].map((index) => ({ path: `f${index}`, body: '' })));
  expect(await reasonFor(many, { entryCountMax: 3 })).toMatch(/more than 3 entries/);
  const deep = archiveOf([{ path: 'a/b/c/d', body: '' }]);
  expect(await reasonFor(deep, { entryCountMax: 3 })).toMatch(/more than 3 entries/);
});

test('links with too many names to follow are refused as a bomb', async () => {
  const links = Array.from({ length: 5 }, (_, index) => ({
    path: `l${index}`,
    type: '2',
    linkPath: 'd/'.repeat(40),
  }));
  expect(await reasonFor(archiveOf(links), { entryCountMax: 10 })).toMatch(
    /is a bomb: its links have more than 160 names to follow/,
  );
});
