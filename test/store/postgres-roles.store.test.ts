/** The roles of deploy/postgres/roles.sql: each can do its work on a real Postgres, and nothing else. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/index.ts';
import { send } from '../admin/house.ts';
import { TIMES } from '../cli/fleet-support.ts';
import { begin, fleetq, MACHINES, makeDirectory } from '../cli/support.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';

const ROLES = readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8');
const NAMES = ['migrate', 'worker', 'enqueue', 'admin_read'] as const;
type Name = (typeof NAMES)[number];

let postgres: TestPostgres;
let owner: string;
const urls = {} as Record<Name, string>;

beforeAll(async () => {
  postgres = await startPostgres();
  owner = await postgres.createDatabase();
  await runOn(owner, ROLES);
  const database = new URL(owner).pathname.slice(1);
  for (const name of NAMES) {
    const user = `${name}_of_${database}`;
    await runOn(owner, `create role ${user} login in role fleetq_${name}`);
    const url = new URL(owner);
    url.username = user;
    url.password = '';
    urls[name] = url.href;
  }
  const migrated = await fleetq(makeDirectory(), ['migrate', 'up'], {
    env: { FLEETQ_STORE_URL: urls.migrate },
  });
  expect(migrated.code, migrated.stderr).toBe(0);
  await runOn(owner, ROLES);
  // As often as one likes.
  await runOn(owner, ROLES);
}, 120_000);
afterAll(() => postgres?.remove());

/** The state that the server answers with; undefined where it lets the statement pass. */
async function refusalOf(name: Name, text: string): Promise<string | undefined> {
  return runOn(urls[name], `begin; ${text}; rollback`).then(
    () => undefined,
    (error: { code?: string }) => error.code ?? 'unknown',
  );
}

const DENIED = '42501';

test('a pod runs with the role for workers what was put in with the role for producers', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_STORE_URL: urls.worker, FLEETQ_MACHINES: MACHINES, ...TIMES };
  const worker = begin(['worker', '--json'], { cwd, env, timeoutMs: 120_000 });
  await worker.said(/^\{.*"kind":"ready".*\}$/m);
  const [row] = await runOn<{ task_id: string }>(
    urls.enqueue,
    `insert into step_tracker (machine, payload, key, priority, run_at)
     values ('test/quick', '{"n":1}', 'one', 3, now()) returning task_id`,
  );
  const look = (url: string, ...args: string[]) =>
    fleetq(cwd, [...args, '--json'], { env: { ...env, FLEETQ_STORE_URL: url } });
  const waited = await look(urls.worker, 'wait', row!.task_id, '--timeout', '60s');
  expect(waited.code, waited.stderr).toBe(0);
  // Whoever may only look sees the task, its records, the pods and what is wrong.
  const shown = await look(urls.admin_read, 'run', row!.task_id);
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'completed' });
  const events = await look(urls.admin_read, 'events', row!.task_id);
  expect(events.stdout).toContain('"STARTED"');
  expect((await look(urls.admin_read, 'pods')).code).toBe(0);
  expect((await look(urls.admin_read, 'runs')).code).toBe(0);
  const refused = await look(urls.admin_read, 'cancel', row!.task_id);
  expect(refused.code, refused.stdout).not.toBe(0);
  worker.child.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('what people do through the tables works with the role for workers', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_STORE_URL: urls.worker, FLEETQ_MACHINES: MACHINES, ...TIMES };
  const json = async <T>(...args: string[]) => {
    const ended = await fleetq(cwd, [...args, '--json'], { env });
    expect(ended.code, `${args}: ${ended.stderr}${ended.stdout}`).toBe(0);
    return JSON.parse(ended.stdout) as T;
  };
  const enqueued = ['enqueue', 'test/quick', '--input', '{"n":1}', '--run-at', '1h'];
  const { task } = await json<{ task: string }>(...enqueued);
  await json('reschedule', task, '--run-at', '2h');
  await json('cancel', task, '--reason', 'no more');
  await json('sweep');
  const { checks } = await json<{ checks: { name: string; verdict: string }[] }>(
    'doctor',
    '--store',
  );
  expect(checks.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
});

test.each<readonly [Name, readonly string[]]>([
  [
    'enqueue',
    [
      'select payload from step_tracker',
      'select * from run_events',
      'select * from pod_health',
      'select * from dead_letters',
      "update step_tracker set payload = '1'",
      'delete from step_tracker',
      "insert into step_tracker (machine, status) values ('a', 'completed')",
      "insert into step_tracker (machine, claimed_by) values ('a', 'me')",
      "insert into step_tracker (machine, pinned_to) values ('a', 'me')",
      "insert into run_events (task_id) values ('a')",
      "insert into pod_health (pod_id) values ('a')",
      'create table mine (a int)',
      'drop table step_tracker',
    ],
  ],
  [
    'admin_read',
    [
      "insert into step_tracker (machine) values ('a')",
      'update step_tracker set priority = 1',
      'delete from run_events',
      "update pod_health set status = 'dead'",
      'delete from audit_log',
      'truncate step_tracker',
      'create table mine (a int)',
      'drop view dead_letters',
    ],
  ],
  [
    'worker',
    [
      'create table mine (a int)',
      'create or replace view dead_letters as select 1 as a',
      'alter table step_tracker add column mine int',
      'alter table step_tracker disable trigger all',
      'drop table step_tracker',
      'truncate run_events',
      'update schema_version set version = 1',
      'delete from schema_version',
      "update audit_log set who = 'nobody'",
      'delete from audit_log',
      'create index mine on step_tracker (machine)',
      'create role mine superuser',
    ],
  ],
])('the role %s is refused all the rest', async (name, statements) => {
  const answers = await Promise.all(
    statements.map(async (text) => [text, await refusalOf(name, text)]),
  );
  expect(answers).toEqual(statements.map((text) => [text, DENIED]));
});

test('the role for migrations owns every table, and no other role owns anything', async () => {
  const owners = await runOn<{ owner: string }>(
    owner,
    `select distinct pg_get_userbyid(relowner) as owner from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'p')`,
  );
  expect(owners).toEqual([{ owner: 'fleetq_migrate' }]);
  expect(await refusalOf('migrate', 'alter table step_tracker add column mine int')).toBe(
    undefined,
  );
});

test('the HTTP API with the role for looking says so, and refuses changes in words of its own', async () => {
  const env = { FLEETQ_STORE_URL: urls.admin_read, FLEETQ_MACHINES: MACHINES };
  const cwd = makeDirectory();
  const served = begin(['admin', '--json', '--listen', '127.0.0.1:0'], { cwd, env });
  const [line] = await served.said(/\{.*"kind":"ready".*\}/);
  const { listening, warning } = JSON.parse(line!) as { listening: string; warning: string };
  expect(warning).toMatch(/^it can only look/);
  expect((await send(listening, 'GET', '/api/v1/runs', {})).status).toBe(200);
  const body = { machine: 'test/quick', input: { n: 1 } };
  const refused = await send(listening, 'POST', '/api/v1/runs', { body });
  expect([refused.status, refused.body.code]).toEqual([503, 'FLEETQ_STORE_OPTIONS']);
  expect(refused.text).not.toMatch(/permission|audit_log|step_tracker|42501/);
  served.child.kill('SIGTERM');
  const ended = await served.ended;
  expect(ended.code).toBe(0);
  expect(ended.stderr, 'whoever runs it finds the reason in the log').toMatch(/permission denied/);
}, 120_000);

test('the role for workers may change what people ask for', async () => {
  const store = await openStore(urls.worker, { clock: systemClock, random: systemRandom });
  expect(await store.mayChange()).toBe(true);
  await store.close();
});
