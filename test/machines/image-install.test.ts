/** image/install from end to end, against a registry that behaves, and against ones that do not. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { listen, SchemaError } from 'fleetq';
import { expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../machines/image/sample-registry.ts';
import { archiveOf, type Host, namesUnder, startHost, textsUnder } from './image-host.ts';

const STATES = [
  'pull.check',
  'pull.work',
  'pull.validate',
  'pull.persist',
  'unpack.check',
  'unpack.work',
  'unpack.validate',
  'unpack.persist',
  'activate.check',
  'activate.work',
  'activate.validate',
  'completed',
];

/** The first requests go wrong in these ways; undefined stands for one that does not. */
function faults(...list: readonly (Fault | undefined)[]) {
  return { faultOf: (request: number) => list[request] };
}

function expectInstalled(host: Host, name: string): void {
  const { sha256 } = host.inputOf(name);
  const home = host.home(name);
  expect(readlinkSync(join(home, 'current'))).toBe(`versions/${sha256}/tree`);
  expect(textsUnder(join(home, 'current'))['app/etc/app.json']).toBe(`{"seed":"${name}"}\n`);
  expect(namesUnder(join(home, 'tmp'))).toEqual([]);
}

test('an image is pulled, unpacked and activated, each step in its four phases', async () => {
  const host = await startHost();
  const fractions: number[] = [];
  onTestFinished(listen('run.progressed', ({ fraction }) => fractions.push(fraction)));
  const summary = await host.install('tools');
  expect(summary).toMatchObject({ outcome: 'completed' });
  expect(summary.output).toEqual({
    current: join(host.home('tools'), 'current'),
    tree: join(host.home('tools'), 'versions', host.inputOf('tools').sha256, 'tree'),
  });
  expect(host.fleet.events(summary.id).map(({ state }) => state)).toEqual(STATES);
  expectInstalled(host, 'tools');
  expect(fractions.at(-1)).toBe(1);
  expect(host.registry.requests).toHaveLength(1);
});

test('the tree has the modes, links and contents that the archive gives it', async () => {
  const host = await startHost({ imageBytes: 4_096 });
  await host.install('tools');
  const app = join(host.home('tools'), 'current/app');
  expect(lstatSync(join(app, 'bin/run')).mode & 0o777).toBe(0o755);
  expect(lstatSync(join(app, 'etc/app.json')).mode & 0o777).toBe(0o644);
  expect(statSync(join(app, 'bin/start')).ino).toBe(statSync(join(app, 'bin/run')).ino);
  expect(readlinkSync(join(app, 'latest'))).toBe('bin/run');
  expect(namesUnder(join(app, 'data'))).toHaveLength(8);
});

test('a gzipped image is installed too, whatever the archive is called', async () => {
  const host = await startHost();
  expect((await host.install('site')).outcome).toBe('completed');
  expectInstalled(host, 'site');
});

test('a second run hands off every step and asks the registry for nothing', async () => {
  const host = await startHost();
  const first = await host.install('tools');
  const second = await host.install('tools');
  expect(second).toMatchObject({ outcome: 'handedOff', output: first.output });
  const kinds = host.fleet.events(second.id).map(({ event }) => event.type);
  expect(kinds).toEqual(['STARTED', 'HANDED_OFF', 'HANDED_OFF', 'HANDED_OFF']);
  expect(host.registry.requests).toHaveLength(1);
});

test('a new version replaces the old one under the same name, and back', async () => {
  const host = await startHost();
  const tools = host.inputOf('tools');
  const other = { ...host.inputOf('site'), name: 'tools' };
  await host.install(tools);
  await host.install(other);
  expect(readlinkSync(join(host.home('tools'), 'current'))).toContain(other.sha256);
  expect((await host.install(tools)).outcome).toBe('completed');
  expectInstalled(host, 'tools');
  expect(host.registry.requests).toHaveLength(2);
});

test('while versions are swapped, readers find one of them at every instant', async () => {
  const host = await startHost({ imageBytes: 64 });
  const versions = [host.inputOf('tools'), { ...host.inputOf('site'), name: 'tools' }] as const;
  await host.install(versions[0]);
  let isOver = false;
  let missed = 0;
  const look = () => {
    if (!existsSync(join(host.home('tools'), 'current/app'))) missed++;
    if (!isOver) setImmediate(look);
  };
  look();
  for (let swap = 1; swap <= 8; swap++) await host.install(versions[swap % 2]!);
  isOver = true;
  expect(missed).toBe(0);
});

test('a damaged tree is not handed off: it is unpacked anew', async () => {
  const host = await startHost();
  await host.install('tools');
  const version = join(host.home('tools'), 'versions', host.inputOf('tools').sha256);
  const config = join(version, 'tree/app/etc/app.json');
  for (const damage of [
    () => writeFileSync(config, '{"seed":"tOols"}\n'),
    () => rmSync(config),
    () => writeFileSync(`${config}.more`, 'x'),
    () => rmSync(join(version, 'manifest.json')),
  ]) {
    damage();
    const summary = await host.install('tools');
    const states = host.fleet.events(summary.id).map(({ state }) => state);
    expect(states).toContain('unpack.persist');
    expectInstalled(host, 'tools');
    expect(namesUnder(join(host.home('tools'), 'current/app/etc'))).toEqual(['app.json']);
  }
});

test('a damaged archive is not handed off: it is pulled anew', async () => {
  const host = await startHost();
  await host.install('tools');
  const { sha256 } = host.inputOf('tools');
  writeFileSync(join(host.home('tools'), 'archives', sha256), 'damaged');
  const summary = await host.install('tools');
  expect(host.fleet.events(summary.id).map(({ state }) => state)).toContain('pull.persist');
  expect(host.registry.requests).toHaveLength(2);
});

test('a download that is cut off goes on where it broke off', async () => {
  const host = await startHost(faults({ kind: 'cut', afterBytes: 100_000 }));
  const summary = await host.install('tools');
  expect(summary.outcome).toBe('completed');
  expectInstalled(host, 'tools');
  const [first, second] = host.registry.requests;
  expect(first).toMatchObject({ status: 200, range: undefined });
  expect(second?.status).toBe(206);
  expect(Number(/^bytes=(\d+)-$/.exec(second?.range ?? '')?.[1])).toBeGreaterThan(0);
  expect(summary.error?.message).toMatch(/broke off at byte \d+ of \d+/);
});

test.each<[string, Fault]>([
  ['the file has changed since', { kind: 'newEtag' }],
  ['the server does not do ranges', { kind: 'noRange' }],
])('a download starts over where %s', async (_name, fault) => {
  const host = await startHost(faults({ kind: 'cut', afterBytes: 100_000 }, fault));
  expect((await host.install('tools')).outcome).toBe('completed');
  expectInstalled(host, 'tools');
  expect(host.registry.requests.map(({ status }) => status)).toEqual([200, 200]);
  expect(host.registry.requests[1]?.range).toMatch(/^bytes=/);
});

test('a range that nobody asked for is taken for the whole, or for its beginning', async () => {
  const host = await startHost(faults({ kind: 'alwaysRange' }));
  expect(await host.install('tools')).toMatchObject({ outcome: 'completed' });
  expectInstalled(host, 'tools');
  expect(host.registry.requests.map(({ status }) => status)).toEqual([206]);
});

test('a weak ETag is not trusted with a range', async () => {
  const host = await startHost(faults({ kind: 'cut', afterBytes: 100_000, isWeak: true }));
  expect((await host.install('tools')).outcome).toBe('completed');
  expectInstalled(host, 'tools');
  expect(host.registry.requests.map(({ range }) => range)).toEqual([undefined, undefined]);
});

test('a wrong checksum sends the run back to work, and right bytes end it well', async () => {
  const host = await startHost(faults({ kind: 'corrupt' }));
  const summary = await host.install('tools');
  expect(summary.outcome).toBe('completed');
  expectInstalled(host, 'tools');
  expect(host.registry.requests.map(({ range }) => range)).toEqual([undefined, undefined]);
});

test('a checksum that stays wrong fails the run, says both sums and publishes nothing', async () => {
  const host = await startHost({}, { attemptMax: 2 });
  const input = { ...host.inputOf('tools'), sha256: 'ab'.repeat(32) };
  const summary = await host.install(input);
  expect(summary).toMatchObject({ outcome: 'exhausted', state: 'pull.validate' });
  expect(summary.error?.message).toBe(
    `the download has the checksum ${host.inputOf('tools').sha256}, wanted ${input.sha256}`,
  );
  expect(namesUnder(join(host.home('tools'), 'archives'))).toEqual([]);
});

test('a busy registry is waited for without blame', async () => {
  const busy = { kind: 'status', status: 429, retryAfterSeconds: 0.05 } as const;
  const host = await startHost(faults(busy, { ...busy, status: 503 }));
  const summary = await host.install('tools');
  expect(summary.outcome).toBe('completed');
  const kinds = host.fleet.events(summary.id).map(({ event }) => event.type);
  expect(kinds.filter((kind) => kind === 'POSTPONED')).toHaveLength(2);
  expect(kinds).not.toContain('FAILED');
});

test('a server error is retried; a missing image is the fault of the request', async () => {
  const host = await startHost(faults({ kind: 'status', status: 500 }));
  expect((await host.install('tools')).outcome).toBe('completed');
  const { url, ...rest } = host.inputOf('site');
  const summary = await host.install({ ...rest, url: `${url}.missing?token=secret` });
  expect(summary).toMatchObject({ outcome: 'aborted', state: 'pull.work' });
  expect(summary.reason).toMatch(/site\.tar\.gz\.missing answered 404/);
  expect(summary.reason).not.toMatch(/secret/);
});

test('a server that falls silent is given up, and the next attempt succeeds', async () => {
  const host = await startHost(faults({ kind: 'silent' }), { download: { silentMsMax: 100 } });
  const summary = await host.install('tools');
  expect(summary.outcome).toBe('completed');
  expect(summary.error?.message).toBe('the server was silent for 100 ms');
});

test('an archive larger than allowed is refused by what its head says', async () => {
  const host = await startHost({}, { download: { bytesMax: 10_000 } });
  const summary = await host.install('tools');
  expect(summary.outcome).toBe('aborted');
  expect(summary.reason).toMatch(/larger than the 10000 bytes an archive may have/);
});

test('something that is no link in the place of current is left alone', async () => {
  const host = await startHost();
  mkdirSync(join(host.home('tools'), 'current'), { recursive: true });
  const summary = await host.install('tools');
  expect(summary).toMatchObject({ outcome: 'aborted', state: 'activate.work' });
  expect(summary.reason).toMatch(/current is no symbolic link/);
});

test('a root that is a file is the fault of the request', async () => {
  const host = await startHost();
  writeFileSync(host.root, 'a file');
  const summary = await host.install('tools');
  expect(summary).toMatchObject({ outcome: 'aborted', state: 'pull.check' });
  expect(summary.reason).toMatch(/which is no directory/);
});

test('an input that does not fit is refused before there is a run, with what was wanted', async () => {
  const host = await startHost({ imageBytes: 64 });
  for (const [field, value, message] of [
    ['url', 'ftp://127.0.0.1/x.tar', /url: wanted an http or https address/],
    ['url', 'http://user:secret@127.0.0.1/x.tar', /url: wanted an address without user/],
    ['sha256', 'AB'.repeat(32), /sha256: wanted 64 hexadecimal digits/],
    ['name', '../evil', /name: wanted 1 to 64/],
    ['name', '..', /name: wanted 1 to 64/],
    ['root', 'relative/root', /root: wanted an absolute directory/],
    ['root', '/tmp/../etc', /root: wanted an absolute directory/],
  ] as const) {
    const started = host.start({ ...host.inputOf('tools'), [field]: value });
    await expect(started, `${field} ${value}`).rejects.toThrow(SchemaError);
    await expect(started, `${field} ${value}`).rejects.toThrow(message);
  }
  expect(host.fleet.runs({ countMax: 10 })).toEqual([]);
});

test('an empty archive makes an empty tree', async () => {
  const host = await startHost({ extra: [{ name: 'empty.tar', content: archiveOf([]) }] });
  expect((await host.install('empty')).outcome).toBe('completed');
  expect(namesUnder(join(host.home('empty'), 'current/'))).toEqual([]);
});
