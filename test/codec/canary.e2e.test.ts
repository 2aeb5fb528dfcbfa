/**
 * A secret in every place that users' code and people can put one, in a real fleet with a codec: nothing
 * that is written down or sent has it. Without the codec the same search finds it, place by place.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newCodecKey } from '../../src/ground/index.ts';
import { makePlace, type Place } from '../cli/fleet-support.ts';
import { begin, type Ended, fleetq, makeDirectory } from '../cli/support.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';

const CANARY = 'canary-c0dec-9f31';
const MACHINES = fileURLToPath(new URL('./machines/secrets.mjs', import.meta.url));
const INPUT = JSON.stringify({ secret: CANARY });
const PATIENCE_MS = 90_000;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

type Env = Readonly<Record<string, string>>;

function keysFile(): string {
  const file = join(makeDirectory(), 'keys');
  writeFileSync(file, `${newCodecKey('k1')}\n`, { mode: 0o600 });
  return file;
}

async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined) {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (performance.now() < giveUpAt) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} has not come`);
}

/** What is asked, and what is answered, on the socket of the process. */
function ask(socketPath: string, method: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request({ socketPath, method, path, headers }, (answer) => {
      let text = `${answer.statusCode} `;
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text));
    });
    asked.on('error', reject).end(body);
  });
}

/** Every file below, whatever it is called, as text of single bytes. */
function filesIn(directory: string, matches: RegExp): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && matches.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

async function dumpOf(address: string): Promise<string> {
  if (address.startsWith('sqlite:')) {
    const database = new Database(address.slice('sqlite:'.length), { readonly: true });
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const rows = (tables as { name: string }[]).flatMap(({ name }) =>
      database.prepare(`select * from "${name}"`).all(),
    );
    database.close();
    return JSON.stringify(rows);
  }
  const tables = await runOn<{ name: string }>(
    address,
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
  );
  const dumps = tables.map(({ name }) =>
    runOn<{ row: string }>(address, `select t::text as row from ${name} t`),
  );
  return JSON.stringify(await Promise.all(dumps));
}

interface Scene extends Pick<Place, 'cwd'> {
  readonly env: Env;
  readonly run: (...args: string[]) => Promise<Ended>;
  readonly json: <T>(...args: string[]) => Promise<T>;
}

interface Shown {
  readonly task?: string;
  readonly id?: string;
  readonly status: string;
}

async function statusOf({ json }: Scene, id: string): Promise<string> {
  return (await json<Shown>('run', id)).status;
}

/** Puts the secret everywhere; answers one task of each kind. */
async function leakEverywhere(scene: Scene) {
  const { json, run } = scene;
  const enqueue = async (name: string, ...more: string[]) =>
    (await json<{ task: string }>('enqueue', `test/${name}`, '--input', INPUT, ...more)).task;
  const [leaking, aborting, returning, holding, sleeping, later] = await Promise.all([
    enqueue('leaking'),
    enqueue('aborting'),
    enqueue('returning'),
    enqueue('holding'),
    enqueue('sleeping'),
    enqueue('returning', '--run-at', '1h'),
  ]);
  const reason = ['--reason', `for ${CANARY}`];
  for (const [id, wanted] of [
    [leaking, 'failed'],
    [aborting, 'failed'],
    [returning, 'completed'],
    [holding, 'claimed'],
    [sleeping, 'waiting'],
  ] as const) {
    await until(`${wanted} of ${id}`, async () =>
      (await statusOf(scene, id)) === wanted ? true : undefined,
    );
  }
  await Promise.all([run('cancel', holding, ...reason), run('cancel', later, ...reason)]);
  await until('the cancel', async () =>
    (await statusOf(scene, holding)) === 'cancelled' ? true : undefined,
  );
  const local = await run('start', 'test/returning', '--input', INPUT, '--wait', '--json');
  await run('start', 'test/leaking', '--input', INPUT, '--wait', '--json');
  expect(local.stdout, local.stderr).toContain(CANARY);
  return { leaking, returning, sleeping };
}

/** All of it in a real worker; answers every place where something may have been left. */
async function witness(address: string | undefined, codec: Env) {
  const place = await makePlace(address);
  const { cwd } = place;
  const env = { ...place.env, ...codec, FLEETQ_MACHINES: MACHINES };
  const run = (...args: string[]) => fleetq(cwd, args, { env, timeoutMs: 60_000 });
  const json = async <T>(...args: string[]) => {
    const ended = await run(...args, '--json');
    expect(ended.code, `${args} ${ended.stderr}`).toBe(0);
    return JSON.parse(ended.stdout) as T;
  };
  const scene = { cwd, env, run, json };
  const logged = { ...env, FLEETQ_LOG_LEVEL: 'debug', FLEETQ_LOG_FORMAT: 'json' };
  const worker = begin(['worker', '--json'], { cwd, env: logged, timeoutMs: 300_000 });
  await worker.said(/^\{.*"kind":"ready".*\}$/m);
  const tasks = await leakEverywhere(scene);
  const copy = join(cwd, '.fleetq');
  await until('the copy of the dead letters', () =>
    filesIn(copy, /^dead-letters/).includes(tasks.leaking) ? true : undefined,
  );
  await run('dead-letters', 'redrive', tasks.leaking);
  await until('the redriven one', async () => {
    const { status, generation } = await json<Shown & { generation: number }>('run', tasks.leaking);
    return status === 'failed' && generation === 2 ? true : undefined;
  });
  const socket = join(cwd, '.fleetq', 'fleetq.sock');
  const answers = await Promise.all([
    ask(socket, 'GET', '/api/v1/runs/none', ''),
    ask(socket, 'POST', '/api/v1/runs', `{"machine":"test/nowhere","input":${INPUT}}`),
    ask(socket, 'POST', '/api/v1/runs', `{"machine":"test/returning","input":{"x":${INPUT}}}`),
    ask(socket, 'POST', '/api/v1/runs', `{"machine":${INPUT}`),
  ]);
  const dump = await dumpOf(place.env['FLEETQ_STORE_URL']!);
  worker.child.kill('SIGKILL');
  const { stderr, stdout } = await worker.ended;
  return {
    scene,
    tasks,
    places: {
      journal: filesIn(copy, /^journal\.db$/),
      'journal wal': filesIn(copy, /^journal\.db-(wal|shm)$/),
      'dead letters': filesIn(copy, /^dead-letters/),
      'all files': filesIn(cwd, /./),
      store: dump,
      logs: stderr,
      stdout,
      answers: answers.join('\n'),
    },
  };
}

type Witness = Awaited<ReturnType<typeof witness>>;

const countIn = (text: string) => text.split(CANARY).length - 1;

describe.each([
  ['SQLite', async () => undefined],
  ['Postgres', () => postgres.createDatabase()],
] as readonly (readonly [string, () => Promise<string | undefined>])[])('on %s', (_, address) => {
  let sealed: Witness;
  let open: Witness;
  // Most of it is waiting for the copies, which are made twice a minute: both wait at the same time.
  beforeAll(async () => {
    const witnessed = [{ FLEETQ_CODEC_KEYS_FILE: keysFile() }, {}].map(async (codec: Env) =>
      witness(await address(), codec),
    );
    [sealed, open] = (await Promise.all(witnessed)) as [Witness, Witness];
  }, 240_000);

  test('with a codec the secret is nowhere, and who has the key reads all of it', async () => {
    const { scene, tasks, places } = sealed;
    const counts = Object.entries(places).map(([name, text]) => [name, countIn(text)]);
    expect(counts).toEqual(counts.map(([name]) => [name, 0]));
    // It was written, and it was sealed.
    expect(places.store).toContain('fqs1.k1.');
    expect(places['all files']).toContain('fqs1.k1.');
    expect(places['dead letters']).toContain('fqs1.k1.');
    expect(places.answers.match(/^\d{3}/gm)).toHaveLength(4);
    const opened = await scene.json<{ input: unknown; output: unknown }>('run', tasks.returning);
    expect(opened).toMatchObject({ input: { secret: CANARY }, output: { secret: CANARY } });
    const events = await scene.run('events', tasks.leaking, '--json');
    expect(countIn(events.stdout)).toBeGreaterThan(1);
    await sayWhatIsSealed(scene, tasks);
  }, 240_000);

  test('without a codec the same search finds it', () => {
    const { places } = open;
    const found = ['journal wal', 'dead letters', 'all files', 'store'] as const;
    expect(found.map((name) => countIn(places[name]) > 0)).toEqual(found.map(() => true));
    expect(countIn(places.logs)).toBe(0);
  });
});

/** Commands without the key: they say what is there, and do not fail. */
async function sayWhatIsSealed({ cwd, env }: Scene, tasks: { leaking: string; returning: string }) {
  const keyless = Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== 'FLEETQ_CODEC_KEYS_FILE'),
  );
  const run = async (...args: string[]) => {
    const ended = await fleetq(cwd, args, { env: keyless, timeoutMs: 60_000 });
    expect(countIn(`${ended.stdout}${ended.stderr}`), `${args}`).toBe(0);
    return ended;
  };
  const shown = await run('run', tasks.returning);
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toMatch(/input .*sealed with key k1, \d+ bytes/);
  const letters = await run('dead-letters', 'list', '--json');
  expect(letters.stdout).toMatch(/"name":"TypeError".*sealed with key k1/);
  const events = await run('events', tasks.leaking, '--json');
  expect(events).toMatchObject({ code: 0 });
  expect(events.stdout).toContain('sealed with key k1');
  expect((await run('runs', '--local')).code).toBe(0);
  const verified = await run('journal', 'verify', '--json');
  expect(verified.code, verified.stdout).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({ problems: [] });
  expect(JSON.parse(verified.stdout).sealed).toBeGreaterThan(3);
  expect((await run('journal', 'inspect')).code).toBe(0);
  const exported = await run('journal', 'export');
  expect(exported.stdout).toContain('sealed with key k1');
  // What is in flight and cannot be opened is told as such, and guessed at by nobody.
  const planned = await run('plan', '--json');
  expect(planned.code, planned.stderr).toBe(9);
  expect(planned.stdout).toContain('sealed with');
  const doctor = await run('doctor', '--store', '--json');
  expect(doctor.stdout).toMatch(/met in the store: k1 \(\d+\); not here: k1/);
}
