/** Commands that only look at a fleet: errors in groups, pages, who led; on a copy, and without secrets. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openFleet } from '../../src/cli/host.ts';
import { readConfig } from '../../src/config/index.ts';
import { newCodecKey } from '../../src/ground/index.ts';
import { send } from '../admin/house.ts';
import { begin, type Ended, fleetq, type Place, usePlaces } from './in-process.ts';

const places = usePlaces();

const MACHINES = fileURLToPath(new URL('./error-machines', import.meta.url));

type Env = Readonly<Record<string, string>>;

/** A place whose commands have these variables as well. */
const placeWith = (env: Env): Promise<Place> =>
  places.makePlace({ FLEETQ_MACHINES: MACHINES, ...env });

const inputOf = (value: object) => ['--input', JSON.stringify(value)];

/** What a command has told people to go on with, done. */
async function goOn(place: Place, { stderr }: Ended, ...more: string[]): Promise<Ended> {
  const [, command] = /go on with: fleetq (.*)$/m.exec(stderr)!;
  const words = [...command!.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare!,
  );
  return place.run(...words, ...more);
}

const firstColumn = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0]);

interface Groups {
  readonly groups: readonly Readonly<Record<string, unknown>>[];
  readonly lookedBackTo?: number;
}

describe('a fleet in which much has failed', () => {
  let place: Place;
  let uploads: string[];
  let logins: string[];
  let copy: string;

  beforeAll(async () => {
    // Who leads is known after a silence.
    place = await placeWith({ FLEETQ_SILENCE: '1s' });
    const enqueue = async (machine: string, input: object) =>
      (await place.json('enqueue', machine, ...inputOf(input))).task;
    const pod = await place.pod();
    uploads = [];
    for (const size of [1, 22, 333]) {
      uploads.unshift(await enqueue('test/upload', { bucket: `b-${size}`, size }));
    }
    logins = [await enqueue('test/login', { password: 'hush' })];
    for (const id of [...uploads, ...logins]) expect((await place.run('wait', id)).code).toBe(4);
    const hasLed = async () => (await place.run('leader', '--history')).code === 0;
    await vi.waitUntil(hasLed, { timeout: 60_000, interval: 50 });
    await pod.drain();
    await place.json('dead-letters', 'discard', uploads[2]!);
    await place.json('dead-letters', 'discard', logins[0]!);
    copy = `sqlite:${join(place.cwd, 'copy.db')}`;
    const store = new Database(place.env['FLEETQ_STORE_URL']!.slice('sqlite:'.length));
    store.prepare('vacuum into ?').run(join(place.cwd, 'copy.db'));
    store.close();
  });

  test('has its errors in groups, the most frequent first, each with one to look at', async () => {
    const { groups, lookedBackTo } = await place.json<Groups>('errors');
    expect(lookedBackTo).toBeUndefined();
    expect(groups).toEqual([
      {
        ...{ fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/), machine: 'test/upload' },
        ...{ outcome: 'exhausted', name: 'Error', count: 3, example: uploads[0] },
        message: 'no bucket "b-333" for 333 bytes',
        ...{ firstAt: expect.any(Number), lastAt: expect.any(Number) },
      },
      expect.objectContaining({ machine: 'test/login', name: 'EAUTH', message: 'hush is wrong' }),
    ]);
    expect(groups[0]!['firstAt']).toBeLessThanOrEqual(Number(groups[0]!['lastAt']));
  });

  test('lists those of one group by what the command says', async () => {
    const shown = await place.run('errors', 'machine:test/up*', '-is:discarded');
    const [line, ...others] = shown.stdout
      .trim()
      .split('\n')
      .map((each) => each.split('\t'));
    expect(others).toEqual([]);
    expect(line).toEqual([
      ...[expect.any(String), '2', 'test/upload', 'Error'],
      ...[expect.stringMatching(/^20/), expect.stringMatching(/^20/), uploads[0]],
      'no bucket "b-333" for 333 bytes',
    ]);
    const [, hint] = /with: fleetq (.*)$/m.exec(shown.stderr)!;
    const listed = await place.run(...hint!.split(' '));
    expect(firstColumn(listed.stdout)).toEqual(uploads);
  });

  test('has no errors of other kinds, and says what cannot be asked', async () => {
    expect((await place.run('errors', 'machine:test/other')).code).toBe(3);
    expect((await place.run('errors', 'status:completed')).code).toBe(3);
    const never = await place.run('errors', 'status:active');
    expect([never.code, never.stderr]).toEqual([2, expect.stringContaining('never active')]);
    const stray = await place.run('errors', '--limt', '3');
    expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('--limit')]);
  });

  test('is listed page by page with the command that each page tells', async () => {
    const first = await place.run(
      'runs',
      '--machine',
      'test/upload',
      'created:<1d',
      '--limit',
      '2',
    );
    expect(firstColumn(first.stdout)).toEqual(uploads.slice(0, 2));
    const second = await goOn(place, first);
    expect(firstColumn(second.stdout)).toEqual(uploads.slice(2));
    expect(second.stderr).not.toContain('go on with');
    const before = await place.json<{ tasks: { id: string }[] }>('runs', '--before', uploads[1]!);
    expect(before.tasks.map(({ id }) => id)).toEqual([uploads[2]]);
    expect(Object.keys(before.tasks[0]!)).not.toContain('input');
    const page = await place.json<{ cursor: string }>('runs', '--limit', '1');
    const rest = ['--cursor', page.cursor, '--json'];
    expect(JSON.parse((await place.run('runs', ...rest)).stdout).tasks).toHaveLength(3);
    const other = await place.run('runs', 'status:failed', ...rest);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('FLEETQ_BAD_CURSOR')]);
    const unknown = await place.run('runs', '--before', '01JZZZZZZZZZZZZZZZZZZZZZZZ');
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('there is no task'),
    ]);
    const both = await place.run('runs', '--before', uploads[0]!, ...rest);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('give one of them')]);
  });

  test('has its dead letters and its audit log in pages, too', async () => {
    const letters = await place.run('dead-letters', 'list', '--limit', '1');
    expect(firstColumn(letters.stdout)).toEqual(uploads.slice(0, 1));
    expect(firstColumn((await goOn(place, letters)).stdout)).toEqual(uploads.slice(1, 2));
    const older = await place.run('dead-letters', 'list', '--before', uploads[0]!);
    expect(firstColumn(older.stdout)).toEqual(uploads.slice(1, 2));
    const noted = await place.run('audit', '--what', 'discard', '--limit', '1');
    expect(noted.stdout).toContain(logins[0]);
    const next = await goOn(place, noted, '--json');
    expect(JSON.parse(next.stdout).audit).toMatchObject([{ what: 'discard', task: uploads[2] }]);
    expect(JSON.parse(next.stdout).cursor).toBeUndefined();
  });

  test('tells who led, since when', async () => {
    await place.pod({ podName: 'birch' });
    const told = await vi.waitUntil(
      async () => {
        const said = await place.run('leader', '--history', '--json');
        const { leader, terms } = JSON.parse(said.stdout);
        return leader !== null && terms.length === 2 ? { leader, terms } : undefined;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(told.terms[0]).toEqual({
      pod: told.leader.pod,
      name: 'birch',
      since: expect.any(Number),
    });
    expect(told.terms[0].since).toBeGreaterThan(told.terms[1].since);
    const { stdout } = await place.run('leader', '--history', '--limit', '1');
    expect(stdout).toMatch(new RegExp(`^20\\S+\t${told.leader.pod}\tbirch\tleader\n$`));
  });

  test('is looked at in a copy, where one is named, by every command that only looks', async () => {
    const late = (await place.json('enqueue', 'test/upload', ...inputOf({ bucket: 'c', size: 1 })))
      .task;
    await place.json('cancel', late);
    const at = (...args: string[]) => place.run(...args, '--read-store', copy);
    expect((await place.run('runs', late)).code).toBe(0);
    expect((await at('runs', late)).code).toBe(3);
    expect((await place.run('run', late)).code).toBe(0);
    expect((await at('run', late)).code).toBe(3);
    expect((await at('run', uploads[0]!)).code).toBe(0);
    expect((await at('events', late)).code).toBe(3);
    expect((await at('events', uploads[0]!)).stdout).toContain('EXHAUSTED');
    expect((await at('events', uploads[0]!, '--trace')).code).toBe(0);
    expect((await place.run('audit', '--task', late)).code).toBe(0);
    expect((await at('audit', '--task', late)).code).toBe(3);
    expect(JSON.parse((await at('errors', '--json')).stdout).groups).toHaveLength(2);
    expect(JSON.parse((await at('leader', '--history', '--json')).stdout).terms).toHaveLength(1);
    expect(firstColumn((await at('dead-letters', 'list')).stdout)).toEqual(uploads.slice(0, 2));
    const wrong = await place.run('runs', '--read-store', 'postgres://nobody@localhost/x');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('sqlite:./file.db')]);
  });

  test('so it is by those who ask `fleetq admin`, or a worker', async () => {
    const later = (await place.json('enqueue', 'test/upload', ...inputOf({ bucket: 'd', size: 1 })))
      .task;
    const idsAt = async (address: string) => {
      const answer = await send(address, 'GET', '/api/v1/runs?source=store', {});
      return (answer.body.runs as { id: string }[]).map(({ id }) => id);
    };
    const env = { FLEETQ_READ_STORE_URL: copy, FLEETQ_LISTEN: '127.0.0.1:0' };
    const served = begin(place.cwd, ['admin', '--json'], { env: { ...place.env, ...env } });
    const [line] = await served.said(/^\{.*"kind":"ready".*\}$/m);
    const admin = await idsAt((JSON.parse(line!) as { listening: string }).listening);
    served.signal('SIGTERM');
    expect((await served.ended).code).toBe(0);

    const { cwd } = place;
    const config = await readConfig({ flags: {}, env: { ...place.env, ...env }, cwd });
    const none = { machines: [], throttles: [] };
    await using worker = await openFleet(config, none, { hasStore: true, listens: true });
    for (const ids of [admin, await idsAt(worker.listening!)]) {
      expect(ids).toEqual(expect.arrayContaining(uploads));
      expect(ids).not.toContain(later);
    }
  });
});

describe('what is named as secret', () => {
  test('is not printed by those who wait, in their output, their JSON and the reasons they tell', async () => {
    const place = await placeWith({ FLEETQ_REDACT: 'token,password,message,stack' });
    const said = async (...args: string[]) => {
      const { stdout, stderr } = await place.run(...args);
      expect(stdout + stderr).not.toMatch(/let-me-in|right|hush/);
      return stdout + stderr;
    };
    const pod = await place.pod();
    const right = ['test/login', ...inputOf({ password: 'right' })];
    const wrong = ['test/login', ...inputOf({ password: 'hush' })];
    expect(await said('enqueue', ...right, '--wait')).toContain('"user": "ada"');
    expect(await said('enqueue', ...right, '--wait', '--json')).toContain('[redacted]');
    expect(await said('enqueue', ...wrong, '--wait')).toContain('exhausted: [redacted]');
    const { task } = await place.json('enqueue', ...right);
    expect(await said('wait', task)).toContain('[redacted]');
    expect(await said('errors', '--json')).toContain('"message":"[redacted]"');
    await pod.drain();
    const alone = (...args: string[]) => said('start', ...args, '--data-dir', 'alone');
    expect(await alone(...right, '--wait')).toContain('"user": "ada"');
    expect(await alone(...right, '--json')).toContain('"input":{"password":"[redacted]"}');
    expect(await alone(...wrong, '--wait', '--json')).toContain('[redacted]');
    // A copy of what is stored is whole.
    const exported = await place.run('journal', 'export', '--data-dir', 'alone');
    expect(exported.stdout).toContain('let-me-in');
  });
});

test('sealed errors are put together by machine and code, and open where the key is', async () => {
  const place = await placeWith({ FLEETQ_CODEC_KEYS: newCodecKey('k1') });
  const pod = await place.pod();
  for (const password of ['hush', 'other']) {
    const failed = await place.run('enqueue', 'test/login', ...inputOf({ password }), '--wait');
    expect(failed.stderr).toContain(`${password} is wrong`);
  }
  await pod.drain();
  const { groups } = await place.json<Groups>('errors');
  expect(groups).toMatchObject([{ name: 'EAUTH', count: 2, message: 'sealed' }]);
  const listed = await place.json<{ tasks: { error: object }[] }>(
    ...['runs', `error:${groups[0]!['fingerprint']}`],
  );
  expect(listed.tasks.map(({ error }) => error)).toMatchObject([
    { message: 'other is wrong' },
    { message: 'hush is wrong' },
  ]);
  const { FLEETQ_CODEC_KEYS: _, ...without } = place.env;
  const blind = await fleetq(place.cwd, ['runs', 'status:failed', '--json'], { env: without });
  expect(blind.stdout).not.toMatch(/hush|other is/);
});
