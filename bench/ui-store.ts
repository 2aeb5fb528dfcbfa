/** A store as people look at it after years: a million runs, and one of them with very many records. */
import pg from 'pg';
import { segmentOf } from '../src/fleet/index.ts';
import { identityCodec, type RunId } from '../src/ground/index.ts';
import { CHAIN_START, encodeEntry } from '../src/journal/index.ts';
import { fill } from './admin.ts';
import type { BenchDatabase } from './fleet-pods.ts';

export const LONG_RUN = '01JCQ8ZZZZZZZZZZZZZZZZZZZZ' as RunId;
const SEGMENT_COUNT = 1_000;
const STEP_MS = 1_000;

export async function fillForPages(
  database: BenchDatabase,
  rows: number,
  events: number,
): Promise<void> {
  await fill(database.url, rows);
  const startedAt = Date.now() - events * STEP_MS;
  const hash = await archiveLong(database, events, startedAt);
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    const at = `to_timestamp(${(startedAt / 1_000).toFixed(3)})`;
    await client.query(
      `update step_tracker
          set last_seq = $2, last_hash = $3, created_at = ${at}, status = 'completed',
              outcome = 'completed', wait_for = null, finished_at = now()
        where task_id = $1`,
      [LONG_RUN, events - 1, hash],
    );
  } finally {
    await client.end();
  }
}

/** One phase that was tried again and again until it was done; answers the last hash. */
async function archiveLong(
  { store, url }: BenchDatabase,
  events: number,
  startedAt: number,
): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(
      `insert into step_tracker (task_id, machine, status, payload, created_at, last_update, run_at)
       values ($1, 'bench/long', 'pending', '{}', now(), now(), now() + interval '1 day')`,
      [LONG_RUN],
    );
  } finally {
    await client.end();
  }
  const claim = { task: LONG_RUN, generation: 1, epoch: 1 };
  let prevHash = CHAIN_START;
  for (let first = 0; first < events; first += SEGMENT_COUNT) {
    const before = prevHash;
    const records: object[] = [];
    for (let seq = first; seq < Math.min(events, first + SEGMENT_COUNT); seq++) {
      const at = startedAt + seq * STEP_MS;
      const event = eventOf(seq, events - 1, at);
      const state = seq === events - 1 ? 'completed' : 'main.work';
      const entry = { run: LONG_RUN, seq, at, epoch: 1, state, event, prevHash };
      const { data, hash } = encodeEntry(entry as never, identityCodec);
      records.push({ seq, at, epoch: 1, event: event.type, state, data, hash });
      prevHash = hash;
    }
    await store.archive([segmentOf(claim as never, before, records as never)!]);
  }
  return prevHash;
}

function eventOf(seq: number, last: number, at: number): { readonly type: string } {
  if (seq === 0) return { type: 'STARTED', pod: 'bench', input: { n: 1 } } as never;
  if (seq === last) return { type: 'DONE', output: { n: seq } } as never;
  const error = { name: 'Error', message: `the line was busy for the ${seq}th time` };
  return { type: 'FAILED', error, dueAt: at + STEP_MS / 2 } as never;
}
