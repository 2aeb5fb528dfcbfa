/** fleetq sink as people call it: what it refuses, what it sends of a file, and what doctor says of it. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitOf } from '../../src/cli/exit.ts';
import { Output } from '../../src/cli/output.ts';
import { sink } from '../../src/cli/sink/sink.ts';
import { readConfig } from '../../src/config/index.ts';
import { FleetqError, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { blocksOf } from '../docs/markdown.ts';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { MACHINE, newTasks } from '../store/factories.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';
import { begin, fleetq, makeDirectory } from './support.ts';

let account: EmulatedSnowflake;
let to: string;
let store: Store;
const cwd = makeDirectory();
const env = { FLEETQ_STORE_URL: `sqlite:${join(cwd, 'fleet.db')}` };
const run = (...args: string[]) => fleetq(cwd, args, { env, timeoutMs: 120_000 });

beforeAll(async () => {
  account = await startSnowflake({ kind: 'standard' });
  to = addressOf(account);
  const ports = { clock: systemClock, random: systemRandom, migrates: true };
  store = await openSqliteStore(join(cwd, 'fleet.db'), ports);
}, 180_000);
afterAll(async () => {
  await store?.close();
  await account?.stop();
});

const PAGE = 'docs/how-to/archive-in-snowflake.md';

/** The lines of the block that shows how to start, with an account in them. */
function commandsOf(page: string): string[][] {
  const block = blocksOf(page).find(({ text }) => text.startsWith('fleetq sink'));
  const lines = block!.text.trim().split('\n');
  return lines.map((line) =>
    line
      .split(' ')
      .slice(1)
      .map((word) => (word === '"$ARCHIVE"' ? to : word)),
  );
}

async function failureOf(options: Record<string, string | boolean>): Promise<unknown> {
  const { store: address = env.FLEETQ_STORE_URL, ...rest } = options;
  const config = await readConfig({ flags: { store: String(address) }, env: {}, cwd });
  const context = { config, output: new Output(false) };
  const error = await sink(context, rest).catch((thrown: unknown) => thrown);
  if (!(error instanceof FleetqError)) return error;
  return `${exitOf(error.code)}: ${error.message}; ${error.hint ?? ''}`;
}

test('what cannot be is refused in words', async () => {
  const wrong: [options: Record<string, string | boolean>, words: RegExp][] = [
    [{}, /2: where the archive is, is missing/],
    [{ to: 'postgres://x/y' }, /2: an archive is in Snowflake/],
    [{ to, every: 'soon' }, /2: --every must be a duration/],
    [{ to, deadline: '10ms' }, /2: --deadline must be at least 1s/],
    [{ to, name: 'a b' }, /2: --name must be letters/],
    [{ to, once: true }, /6: the archive lacks 0001_create_archive.*--migrate/],
    [{ to, store: 'memory:' }, /2: a sink reads from a store in Postgres or SQLite/],
    [{ to, store: to }, /are in Snowflake already/],
  ];
  for (const [options, words] of wrong) expect(await failureOf(options)).toMatch(words);
  expect(await failureOf({ forget: true })).toBe(3);
}, 240_000);

test('what is there is sent once, doctor knows how far, and what comes follows until SIGTERM', async () => {
  await store.enqueue(newTasks(2));
  const [first, second] = commandsOf(PAGE);
  const sent = await run(...first!, '--json');
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

  const args = second!.map((word) => (word === '1m' ? '200ms' : word.replace(':9099', ':0')));
  const going = begin([...args, '--json'], { cwd, env, timeoutMs: 120_000 });
  let stderr = '';
  going.child.stderr!.on('data', (text) => {
    stderr += String(text);
  });
  await store.enqueue(newTasks(1));
  const count = async () => {
    const text = 'select count(*)::int as n from public.archived_task';
    return (await runOn<{ n: number }>(account.url, text))[0]!.n;
  };
  await expect.poll(count, { timeout: 90_000 }).toBe(3);
  const at = /http:\/\/\S+/.exec(stderr)![0];
  const scrape = async () => (await fetch(`${at}/metrics`)).text();
  await expect.poll(scrape, { timeout: 90_000 }).toMatch(/fleetq_sink_lag_seconds [\d.]+/);
  expect(await scrape()).toMatch(/fleetq_sink_rows_total\{table="step_tracker"\} [1-9]/);
  const query = blocksOf(PAGE).find(({ text }) => text.startsWith('select'))!.text;
  const session = await (await openerOf(readSnowflakeWay(to, { deadlineMs: 60_000 })))();
  const { rows } = await session.execute(query, []).finally(() => session.close());
  expect(rows).toEqual([{ machine: MACHINE, runs: 3, failed: 0 }]);
  going.child.kill('SIGTERM');
  expect((await going.ended).code).toBe(0);
  expect(await failureOf({ forget: true })).toBe(0);
}, 240_000);
