/** fleetq sink as people call it: what it refuses, what it sends of a file, and what doctor says of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';
import { begin, fleetq, MACHINES, makeDirectory } from './support.ts';

let account: EmulatedSnowflake;
let to: string;
const cwd = makeDirectory();
const env = { FLEETQ_STORE_URL: 'sqlite:./fleet.db', FLEETQ_MACHINES: MACHINES };
const run = (...args: string[]) => fleetq(cwd, args, { env, timeoutMs: 120_000 });

beforeAll(async () => {
  account = await startSnowflake({ kind: 'standard' });
  to = addressOf(account);
  expect((await run('migrate', 'up')).code).toBe(0);
}, 180_000);
afterAll(() => account?.stop());

test('what cannot be is refused in words', async () => {
  const wrong: [args: string[], code: number, words: RegExp][] = [
    [['sink'], 2, /where the archive is, is missing/],
    [['sink', '--to', 'postgres://x/y'], 2, /an archive is in Snowflake/],
    [['sink', '--to', to, '--every', 'soon'], 2, /--every must be a duration/],
    [['sink', '--to', to, '--name', 'a b'], 2, /--name must be letters/],
    [['sink', '--to', to, '--once'], 6, /the archive lacks 0001_create_archive[\s\S]*--migrate/],
    [['sink', '--to', to, '--store', 'memory:'], 2, /reads from a store in Postgres or SQLite/],
    [['sink', '--to', to, '--store', to], 2, /are in Snowflake already/],
    [['sink', '--forget'], 3, /nobody knows default/],
  ];
  for (const [args, code, words] of wrong) {
    const ended = await run(...args);
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(words)]);
  }
}, 240_000);

test('what is there is sent once, doctor knows how far, and what comes follows until SIGTERM', async () => {
  for (const n of ['1', '2']) await run('enqueue', 'test/quick', '--input', `{"n":${n}}`);
  const sent = await run('sink', '--to', to, '--migrate', '--once', '--json');
  expect([sent.code, sent.stderr]).toEqual([0, '']);
  expect(JSON.parse(sent.stdout)).toMatchObject({ kind: 'sent', events: 0, tasks: 2 });
  const { stdout } = await run('doctor', '--store', '--json');
  const { checks } = JSON.parse(stdout) as { checks: object[] };
  expect(checks).toContainEqual({
    name: 'sink default',
    verdict: 'warn',
    fact: expect.stringMatching(/snowflake:\/\/emulator\/FLEETQ\/PUBLIC, .* behind, nobody sends/),
    fix: expect.stringContaining('fleetq sink'),
  });

  const args = ['sink', '--to', to, '--every', '200ms', '--json', '--health-listen', '127.0.0.1:0'];
  const going = begin(args, { cwd, env, timeoutMs: 120_000 });
  let stderr = '';
  going.child.stderr!.on('data', (text) => {
    stderr += String(text);
  });
  await run('enqueue', 'test/quick', '--input', '{"n":3}');
  const count = async () => {
    const text = 'select count(*)::int as n from public.archived_task';
    return (await runOn<{ n: number }>(account.url, text))[0]!.n;
  };
  await expect.poll(count, { timeout: 90_000 }).toBe(3);
  const at = /http:\/\/\S+/.exec(stderr)![0];
  const scrape = async () => (await fetch(`${at}/metrics`)).text();
  await expect.poll(scrape, { timeout: 30_000 }).toMatch(/fleetq_sink_lag_seconds [\d.]+/);
  expect(await scrape()).toMatch(/fleetq_sink_rows_total\{table="step_tracker"\} [1-9]/);
  going.child.kill('SIGTERM');
  expect((await going.ended).code).toBe(0);
  expect((await run('sink', '--forget')).code).toBe(0);
}, 240_000);
