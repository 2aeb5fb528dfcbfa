/** The commands of the fleet, and pods of their own, on an account; emulated, through the real driver. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { lintAll } from '../emulator/snowflake/lint.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';
import { fleetq, usePlaces } from './in-process.ts';

let account: EmulatedSnowflake;
let env: Readonly<Record<string, string>>;
let cwd: string;
const { makeDirectory, pod } = usePlaces();

beforeAll(async () => {
  account = await startSnowflake({ kind: 'hybrid' });
  cwd = makeDirectory();
  env = {
    FLEETQ_STORE_URL: addressOf(account),
    FLEETQ_HEARTBEAT: '1s',
    FLEETQ_SILENCE: '20s',
    FLEETQ_ARCHIVE: '200ms',
  };
});
afterAll(() => account?.stop());

async function tasksIn({ url }: EmulatedSnowflake): Promise<number> {
  const [row] = await runOn<{ n: number }>(
    url,
    'select count(*)::int as n from public.step_tracker',
  );
  return row!.n;
}

const run = (...args: string[]) => fleetq(cwd, args, { env });

test('migrate makes the tables once, doctor looks at them, and a pod ends a task in them', async () => {
  const up = await run('migrate', 'up', '--json');
  expect(up.code, up.stderr).toBe(0);

  const { stdout } = await run('doctor', '--store', '--json');
  const { checks, config } = JSON.parse(stdout) as { checks: object[]; config: unknown };
  expect(checks).toContainEqual({
    name: 'server',
    verdict: 'ok',
    fact: 'Snowflake 9.99.0, account EMULATOR, role FLEETQ_ROLE',
  });
  expect(checks).toContainEqual({ name: 'warehouse', verdict: 'ok', fact: 'EMULATED' });
  expect(checks).toContainEqual(expect.objectContaining({ name: 'tables', verdict: 'ok' }));
  expect(checks).toContainEqual(expect.objectContaining({ name: 'rules', verdict: 'ok' }));
  expect(JSON.stringify(config)).not.toContain(account.options.password);

  // Before the pod is there, since one that is idle looks only every quarter of a minute.
  const waiting = run('enqueue', 'test/quick', '--input', '{"n":5}', '--wait');
  await expect.poll(() => tasksIn(account)).toBe(1);
  await pod(cwd, env);
  const done = await waiting;
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 10 }]);
});

test('probe asks an account everything, says what FleetQ makes of it, and leaves nothing behind', async () => {
  account.statements.reset();
  const { code, stdout, stderr } = await run('probe', 'snowflake', '--json');
  const probe = JSON.parse(stdout) as { answers: { name: string; verdict: string }[] };
  expect(probe.answers.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect([code, stderr]).toEqual([0, '']);
  expect(probe).toMatchObject({ isFit: true, tables: 'hybrid', left: [] });
  expect(probe.answers).toHaveLength(25);
  expect(probe.answers).toEqual(
    expect.arrayContaining(
      [
        { name: 'compare and set, hybrid', figures: { rounds: 5, wrong: 0 } },
        { name: 'lost updates, standard', figures: { told: 40, counted: 40 } },
        { name: 'waiters, standard', figures: { waiters: 22, refused: 2 } },
        { name: 'same request twice', figures: { carriedOut: 1 } },
        { name: 'last change, hybrid', figures: { works: false } },
        { name: 'last change, standard', figures: { works: true } },
        { name: 'every statement, hybrid', verdict: 'ok' },
        { name: 'every statement, standard', verdict: 'ok' },
      ].map((one) => expect.objectContaining(deep(one))),
    ),
  );
  const left = await runOn(
    account.url,
    `select table_name from information_schema.tables where table_name like '%probe%'
      union all select schema_name from information_schema.schemata where schema_name like '%probe%'`,
  );
  expect(left).toEqual([]);
  // Of these two it is asked whether they are taken.
  const texts = [...account.statements.byText.keys()];
  expect(await lintAll(texts.filter((text) => !/limit \?|inline/.test(text)))).toEqual([]);
});

function deep(one: object): object {
  const entries = Object.entries(one).map(([name, value]) => [
    name,
    typeof value === 'object' ? expect.objectContaining(value) : value,
  ]);
  return Object.fromEntries(entries);
}

test('probe wants the address of an account', async () => {
  const other = { ...env, FLEETQ_STORE_URL: 'sqlite:./fleet.db' };
  const { code, stderr } = await fleetq(cwd, ['probe', 'snowflake'], { env: other });
  expect([code, stderr]).toEqual([2, expect.stringContaining('snowflake://user@account')]);
});
