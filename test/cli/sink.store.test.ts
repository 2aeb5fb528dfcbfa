/** fleetq sink as people call it: what it refuses, what it sends of a file, and what doctor says of it. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { blocksOf } from '../docs/markdown.ts';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { MACHINE, newTasks } from '../store/factories.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';
import { begin, fleetq, usePlaces } from './in-process.ts';

let account: EmulatedSnowflake;
let to: string;
let store: Store;
let cwd: string;
const { makeDirectory } = usePlaces();
const env = { FLEETQ_STORE_URL: 'sqlite:fleet.db' };
const run = (...args: string[]) => fleetq(cwd, args, { env });

beforeAll(async () => {
  account = await startSnowflake({ kind: 'standard' });
  to = addressOf(account);
  cwd = makeDirectory();
  const ports = { clock: systemClock, random: systemRandom, migrates: true };
  store = await openSqliteStore(join(cwd, 'fleet.db'), ports);
});
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

test('what cannot be is refused in words', async () => {
  const wrong: [args: string[], code: number, words: RegExp][] = [
    [[], 2, /where the archive is, is missing/],
    [['--to', 'postgres://x/y'], 2, /an archive is in Snowflake/],
    [['--to', to, '--every', 'soon'], 2, /--every must be a duration/],
    [['--to', to, '--deadline', '10ms'], 2, /--deadline must be at least 1s/],
    [['--to', to, '--name', 'a b'], 2, /--name must be letters/],
    [['--to', to, '--once'], 6, /the archive lacks 0001_create_archive[\s\S]*--migrate/],
    [['--to', to, '--store', 'memory:'], 2, /a sink reads from a store in Postgres or SQLite/],
    [['--to', to, '--store', to], 2, /are in Snowflake already/],
  ];
  for (const [args, code, words] of wrong) {
    const ended = await run('sink', ...args);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([
      code,
      '',
      expect.stringMatching(words),
    ]);
  }
  expect((await run('sink', '--forget')).code).toBe(3);
});

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
  const going = begin(cwd, [...args, '--json'], { env });
  await store.enqueue(newTasks(1));
  const count = async () => {
    const text = 'select count(*)::int as n from public.archived_task';
    return (await runOn<{ n: number }>(account.url, text))[0]!.n;
  };
  await expect.poll(count, { timeout: 90_000 }).toBe(3);
  const [at] = await going.said(/http:\/\/\S+/);
  const scrape = async () => (await fetch(`${at}/metrics`)).text();
  await expect.poll(scrape, { timeout: 90_000 }).toMatch(/fleetq_sink_lag_seconds [\d.]+/);
  expect(await scrape()).toMatch(/fleetq_sink_rows_total\{table="step_tracker"\} [1-9]/);
  const query = blocksOf(PAGE).find(({ text }) => text.startsWith('select'))!.text;
  const session = await (await openerOf(readSnowflakeWay(to, { deadlineMs: 60_000 })))();
  const { rows } = await session.execute(query, []).finally(() => session.close());
  expect(rows).toEqual([{ machine: MACHINE, runs: 3, failed: 0 }]);
  going.signal('SIGTERM');
  expect((await going.ended).code).toBe(0);
  expect((await run('sink', '--forget')).code).toBe(0);
});
