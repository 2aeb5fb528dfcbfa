/** What the probe finds out about an account, and what it makes of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { type Probe, probeSnowflake } from '../../src/store/snowflake/probe/probe.ts';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { runOn, type TestPostgres } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addressOf } from './snowflake-harness.ts';

const options = { clock: systemClock, random: systemRandom };
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await sharedPostgres();
});
afterAll(() => postgres?.remove());

async function probed(
  kind: 'hybrid' | 'standard',
  act: (account: EmulatedSnowflake) => void,
  only = /^/,
) {
  const account = await startSnowflake({ kind, postgres });
  try {
    act(account);
    const probe = await probeSnowflake(addressOf(account), { ...options, only });
    return { account, probe, left: await tablesIn(account) };
  } finally {
    await account.stop();
  }
}

async function tablesIn({ url }: EmulatedSnowflake): Promise<string[]> {
  const rows = await runOn<{ name: string }>(
    url,
    `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema', 'snow')`,
  );
  return rows.map(({ name }) => name);
}

const answerTo = ({ answers }: Probe, name: string) => answers.find((one) => one.name === name);

describe('an account as its documentation describes it', () => {
  test('without hybrid tables is fit for standard ones', async () => {
    const { probe, left } = await probed('standard', () => undefined, /request|lock wait/);
    expect(probe).toMatchObject({ isFit: true, tables: 'standard' });
    expect(answerTo(probe, 'hybrid tables')).toMatchObject({
      verdict: 'warn',
      figures: { works: false },
    });
    expect(probe.answers.some(({ name }) => name.endsWith(', hybrid'))).toBe(false);
    expect(left).toEqual([]);
  }, 120_000);
});

test('an account that loses writes is not fit, and the probe says why', async () => {
  const { probe, left } = await probed(
    'standard',
    ({ chaos }) => {
      chaos.lostUpdates = /update fleetq_probe/i;
      chaos.latencyMs = [5, 10];
    },
    /compare and set/,
  );
  expect(probe).toMatchObject({ isFit: false, tables: undefined });
  expect(answerTo(probe, 'compare and set, standard')).toMatchObject({
    verdict: 'fail',
    concludes: expect.stringContaining('do not run a fleet'),
  });
  expect(left).toEqual([]);
}, 120_000);

test('old reads are counted, and warned of', async () => {
  const { probe } = await probed(
    'standard',
    ({ chaos }) => {
      chaos.staleReadsMs = 2_000;
    },
    /old reads/,
  );
  expect(answerTo(probe, 'old reads, standard')).toMatchObject({
    verdict: 'warn',
    concludes: expect.stringContaining('READ_CONSISTENCY_MODE'),
  });
  expect(answerTo(probe, 'old reads, standard')?.figures?.['latest']).toBeGreaterThan(0);
  expect(answerTo(probe, 'old reads, standard')?.figures?.['touching']).toBe(0);
  expect(probe.isFit).toBe(true);
}, 120_000);

test('an account whose every statement could not be asked for is not called fit', async () => {
  const { probe, left } = await probed(
    'standard',
    ({ chaos }) => {
      chaos.forbidden = /create schema/;
    },
    /every statement/,
  );
  expect(probe).toMatchObject({ isFit: false, tables: undefined, left: [] });
  expect(answerTo(probe, 'every statement, standard')).toMatchObject({
    verdict: 'fail',
    answer: expect.stringContaining('the role may make no schema'),
  });
  expect(left).toEqual([]);
}, 120_000);

test('what fleetq sink sends is asked for as well, and is nothing that a store needs', async () => {
  const { account, probe, left } = await probed('standard', () => undefined, /^archive$/);
  expect(answerTo(probe, 'archive')).toMatchObject({ verdict: 'ok' });
  const texts = [...account.statements.byText.keys()];
  for (const name of ['archived_segment', 'archived_task', 'archive_events', 'archive_position']) {
    expect(texts.some((text) => text.includes(name))).toBe(true);
  }
  expect(left).toEqual([]);
  const other = await probed(
    'standard',
    ({ chaos }) => {
      chaos.forbidden = /merge into archived_task/;
    },
    /^archive$/,
  );
  expect(answerTo(other.probe, 'archive')).toMatchObject({
    verdict: 'warn',
    answer: expect.stringContaining('003001'),
  });
  expect(other.probe.isFit).toBe(true);
}, 120_000);

test('a fleet that lies down is asked for as well, and a schema that cannot be removed is told', async () => {
  const { account, probe } = await probed(
    'standard',
    ({ chaos }) => {
      chaos.forbidden = /drop schema/;
    },
    /every statement/,
  );
  expect(answerTo(probe, 'every statement, standard')).toMatchObject({ verdict: 'ok' });
  const texts = [...account.statements.byText.keys()];
  expect(texts.filter((text) => /last_change_commit_time\('doorbell'\)/.test(text))).toHaveLength(
    1,
  );
  expect(probe.left).toEqual([expect.stringMatching(/^fleetq_probe_\w+_standard_life$/)]);
}, 120_000);

test('one that is told to stop asks no more, and leaves nothing behind', async () => {
  const account = await startSnowflake({ kind: 'standard', postgres });
  const stop = new AbortController();
  try {
    const onAnswer = () => stop.abort();
    const { signal } = stop;
    const probe = await probeSnowflake(addressOf(account), { ...options, onAnswer, signal });
    expect(probe.answers).toHaveLength(1);
    expect(await tablesIn(account)).toEqual([]);
  } finally {
    await account.stop();
  }
}, 120_000);
