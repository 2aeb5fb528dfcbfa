/** Compares a store with its archive, past everything that was under test. */
import { createHash } from 'node:crypto';
import pg from 'pg';

export interface Verdict {
  readonly events: number;
  readonly segments: number;
  readonly tasks: number;
  readonly missing: number;
  readonly doubled: number;
  /** Rows of the archive that are not as they are in the store, or not there at all. */
  readonly wrong: number;
  /** Segments whose records are not one after the other, or do not follow what is before them. */
  readonly disordered: number;
}

const PAGE = 20_000;

const SEGMENTS = `select task_id || '/' || generation || '/' || epoch || '/' || first_seq as key,
  task_id, first_seq::int, last_seq::int, prev_hash, last_hash, events,
  md5(concat_ws('|', last_seq, prev_hash, last_hash, state, events)) as sum`;
const TASKS = `select task_id as key,
  md5(concat_ws('|', generation, machine, version, queue, status, claim_epoch, claims, payload, outcome,
    result, last_seq, last_hash)) as sum`;

export async function judge(sourceUrl: string, archiveUrl: string): Promise<Verdict> {
  const [source, archive] = [new pg.Client(sourceUrl), new pg.Client(archiveUrl)];
  await source.connect();
  await archive.connect();
  try {
    const segments = await compare(
      sums(source, `${SEGMENTS} from run_events`),
      sums(archive, `${SEGMENTS} from public.archived_segment`),
    );
    const tasks = await compare(
      sums(source, `${TASKS} from step_tracker`),
      sums(archive, `${TASKS} from public.archived_task`),
    );
    return {
      events: segments.events,
      segments: segments.count,
      tasks: tasks.count,
      missing: segments.missing + tasks.missing,
      doubled: segments.doubled + tasks.doubled,
      wrong: segments.wrong + tasks.wrong,
      disordered: segments.disordered,
    };
  } finally {
    await source.end();
    await archive.end();
  }
}

interface Row {
  readonly key: string;
  readonly sum: string;
  readonly task_id?: string;
  readonly first_seq?: number;
  readonly last_seq?: number;
  readonly prev_hash?: string;
  readonly last_hash?: string;
  readonly events?: string;
}

async function* sums(client: pg.Client, text: string): AsyncGenerator<Row> {
  await client.query('begin');
  await client.query(`declare page cursor for ${text}`);
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${PAGE} from page`);
    yield* rows;
    if (rows.length < PAGE) break;
  }
  await client.query('commit');
}

async function compare(wanted: AsyncIterable<Row>, found: AsyncIterable<Row>) {
  const expected = new Map<string, string>();
  for await (const { key, sum } of wanted) expected.set(key, sum);
  const seen = new Set<string>();
  const ends = new Set<string>();
  const begins: [task: string, seq: number, hash: string][] = [];
  const tally = { count: 0, events: 0, doubled: 0, wrong: 0, disordered: 0 };
  for await (const row of found) {
    tally.count += 1;
    if (seen.has(row.key)) tally.doubled += 1;
    seen.add(row.key);
    if (expected.get(row.key) !== row.sum) tally.wrong += 1;
    if (row.events === undefined) continue;
    const seqs = (JSON.parse(row.events) as { seq: number }[]).map(({ seq }) => seq);
    tally.events += seqs.length;
    const isInOrder = seqs.every((seq, index) => seq === row.first_seq! + index);
    if (!isInOrder || seqs.at(-1) !== row.last_seq) tally.disordered += 1;
    ends.add(fingerprint(row.task_id!, row.last_seq!, row.last_hash!));
    if (row.first_seq! > 0) begins.push([row.task_id!, row.first_seq! - 1, row.prev_hash!]);
  }
  for (const [task, seq, hash] of begins) {
    if (!ends.has(fingerprint(task, seq, hash))) tally.disordered += 1;
  }
  const missing = [...expected.keys()].filter((key) => !seen.has(key)).length;
  return { ...tally, missing };
}

function fingerprint(task: string, seq: number, hash: string): string {
  return createHash('md5').update(`${task}/${seq}/${hash}`).digest('base64');
}
