/** The archive in an emulated account, through the real driver: what it keeps, and from whom. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openSink } from '../../src/store/sink/open-sink.ts';
import type { Cells, Look, Sink } from '../../src/store/sink/sink.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { lintAll } from '../emulator/snowflake/lint.ts';
import { addressOf } from '../store/snowflake-harness.ts';
import { runOn } from '../support/postgres.ts';

const PORTS = { clock: systemClock, random: systemRandom };
const LOOK: Look = {
  ...{ nowMs: 1, since: '1', writer: null, timeline: '' },
  upper: { run_events: '1', step_tracker: '1' },
};
const HERE = { last: LOOK, round: null };
let account: EmulatedSnowflake;
let address: string;
const opened: Sink[] = [];

beforeAll(async () => {
  account = await startSnowflake({ kind: 'standard' });
  address = addressOf(account);
  const sink = await open('first');
  await expect(sink.prepare(false)).rejects.toMatchObject({
    code: 'FLEETQ_STORE_SCHEMA',
    hint: expect.stringContaining('--migrate'),
  });
  await sink.prepare(true);
  await sink.prepare(true);
  await sink.prepare(false);
}, 120_000);
afterAll(async () => {
  for (const sink of opened) await sink.close();
  await account?.stop();
});

async function open(name: string, deadlineMs = 60_000): Promise<Sink> {
  const sink = await openSink(address, { ...PORTS, name, deadlineMs });
  opened.push(sink);
  return sink;
}

function segment(task: string, last: number, more: Cells = {}): Cells {
  const records = Array.from({ length: last + 1 }, (_, seq) => ({
    ...{ seq, at: 1_700_000_000_000 + seq, event: 'PHASE_ENDED', state: 'main.work' },
    data: { type: 'PHASE_ENDED', output: { name: `it's "${seq}" é` } },
  }));
  return {
    ...{ task_id: task, generation: 1, epoch: 1, first_seq: 0, last_seq: last, state: 'main.work' },
    ...{ prev_hash: '', last_hash: `h${last}`, begun_at: 1, events: JSON.stringify(records) },
    ...more,
  };
}

function task(id: string, status: string, more: Cells = {}): Cells {
  return {
    ...{ task_id: id, generation: 1, machine: 'sample/one', version: 1, queue: 'default' },
    ...{ priority: 0, run_at: 1, status, wait_for: null, claim_epoch: 1, claimed_by: null },
    ...{ retry_count: 0, crashes: 0, claims: 1, paused: false, task_key: null, serial_key: null },
    ...{ parent_id: null, follows: null, deadline_at: null, payload: '{"n":1}', outcome: null },
    ...{ result: null, error: null, last_seq: 3, last_hash: 'h', trace_parent: null },
    ...{ created_at: 1_700_000_000_000, last_update: 2, finished_at: null, discarded_at: null },
    ...more,
  };
}

const archived = (name: string) =>
  runOn<{ task_id: string; status: string }>(
    account.url,
    `select task_id, status from public.archived_task where source = $1 order by task_id`,
    [name],
  );
const segments = (name: string) =>
  runOn<{ last_seq: string }>(
    account.url,
    `select task_id, last_seq::int from public.archived_segment where source = $1 order by task_id`,
    [name],
  );

test('a batch that is sent twice is there once, and what came since is the newest', async () => {
  const sink = await open('twice');
  expect(await sink.takeOver('h1')).toEqual({ last: null, round: null });
  const batch = { events: [segment('A', 3), segment('B', 1)], rows: [task('A', 'claimed')] };
  await sink.put({ ...batch, position: HERE });
  await sink.put({ ...batch, position: HERE });
  await sink.put({
    events: [segment('B', 4)],
    rows: [task('A', 'completed'), task('B', 'pending')],
  });
  expect(await segments('twice')).toMatchObject([
    { task_id: 'A', last_seq: 3 },
    { task_id: 'B', last_seq: 4 },
  ]);
  expect(await archived('twice')).toEqual([
    { task_id: 'A', status: 'completed' },
    { task_id: 'B', status: 'pending' },
  ]);
  expect(await sink.position()).toEqual(HERE);
});

test('a holder that comes late changes nothing that the next one has sent', async () => {
  const [former, next] = [await open('late'), await open('late')];
  await former.takeOver('h1');
  await former.put({ events: [segment('A', 1)], rows: [task('A', 'claimed')], position: HERE });
  const later = { last: { ...LOOK, nowMs: 2 }, round: null };
  expect(await next.takeOver('h2')).toEqual(HERE);
  await next.put({ events: [segment('A', 3)], rows: [task('A', 'completed')], position: later });
  await expect(
    former.put({ events: [segment('A', 2)], rows: [task('A', 'waiting')], position: HERE }),
  ).rejects.toMatchObject({ code: 'FLEETQ_SINK_LOST' });
  expect(await segments('late')).toMatchObject([{ last_seq: 3 }]);
  expect(await archived('late')).toEqual([{ task_id: 'A', status: 'completed' }]);
  expect(await next.position()).toEqual(later);
});

test('an answer that is lost after the commit costs a second sending, and doubles nothing', async () => {
  const sink = await open('lost', 30_000);
  await sink.takeOver('h1');
  const batch = { events: [segment('A', 3)], rows: [task('A', 'completed')], position: HERE };
  account.chaos.dropAnswers = { share: 1, how: '400' };
  try {
    await expect(sink.put(batch)).rejects.toMatchObject({ code: 'FLEETQ_STORE_UNREACHABLE' });
  } finally {
    account.chaos.calm();
  }
  expect(await segments('lost')).toHaveLength(1);
  await sink.takeOver('h1');
  await sink.put(batch);
  expect(await segments('lost')).toHaveLength(1);
  expect(await archived('lost')).toHaveLength(1);
});

test('analysts find records as rows, JSON as what it says, and what is sealed as null', async () => {
  const sink = await open('views');
  await sink.takeOver('h1');
  await sink.put({
    events: [segment('A', 2)],
    rows: [
      task('A', 'completed', { result: '{"ok":[1]}' }),
      task('S', 'failed', { payload: 'fq1:k:x' }),
    ],
  });
  const session = await (await openerOf(readSnowflakeWay(address, { deadlineMs: 60_000 })))();
  try {
    const events = await session.execute(
      `select e.seq, e.event, e.data:output:name::varchar as name
         from archive_events e where e.source = ? order by e.seq`,
      ['views'],
    );
    expect(events.rows).toEqual(
      [0, 1, 2].map((seq) => ({ seq, event: 'PHASE_ENDED', name: `it's "${seq}" é` })),
    );
    const tasks = await session.execute(
      `select t.task_id, t.result:ok[0]::number(9,0) as first_ok, t.payload is null as is_sealed
         from archive_tasks t where t.source = ? order by t.task_id`,
      ['views'],
    );
    expect(tasks.rows).toEqual([
      { task_id: 'A', first_ok: 1, is_sealed: false },
      { task_id: 'S', first_ok: null, is_sealed: true },
    ]);
  } finally {
    await session.close();
  }
});

test('every text is one that an account takes, and there are few of them', async () => {
  const texts = [...account.statements.byText.keys()];
  expect(await lintAll(texts)).toEqual([]);
  expect(texts.filter((text) => /^\s*merge into archived_/.test(text))).toHaveLength(2);
});
