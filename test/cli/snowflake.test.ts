/** The commands of the fleet, and pods of their own, on an account; emulated, through the real driver. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';
import { begin, fleetq, MACHINES, makeDirectory } from './support.ts';

let account: EmulatedSnowflake;
let env: Readonly<Record<string, string>>;
const cwd = makeDirectory();

beforeAll(async () => {
  account = await startSnowflake({ kind: 'hybrid' });
  env = {
    FLEETQ_STORE_URL: addressOf(account),
    FLEETQ_MACHINES: MACHINES,
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

const run = (...args: string[]) => fleetq(cwd, args, { env, timeoutMs: 60_000 });

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

  const quiet = { ...env, FLEETQ_LOG_LEVEL: 'silent' };
  // Before the pod is there, since one that is idle looks only every quarter of a minute.
  const waiting = run('enqueue', 'test/quick', '--input', '{"n":5}', '--wait');
  await expect.poll(() => tasksIn(account), { timeout: 60_000 }).toBe(1);
  const worker = begin(['worker', '--json'], { cwd, env: quiet, timeoutMs: 120_000 });
  const done = await waiting;
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 10 }]);
  worker.child.kill('SIGTERM');
  const ended = await worker.ended;
  expect(ended.code, ended.stderr).toBe(0);
}, 180_000);
