/**
 * What people wait for when they look through a million tasks: pages, filters, searches, counts,
 * histograms, errors, one run in detail. The raw limit beside them is a single look-up by primary key
 * over the same driver: what no page can be faster than.
 */
import pg from 'pg';
import type { RunId } from '../src/ground/index.ts';
import { EVERYTHING, parseFilter } from '../src/query/index.ts';
import type { StoreReader } from '../src/store/index.ts';
import { say } from './child.ts';
import { quantile } from './fleet.ts';
import { BenchDatabase } from './fleet-pods.ts';

export interface AdminOptions {
  readonly rows: number;
  /** How often each question is asked. */
  readonly rounds: number;
}

const COUNT_MAX = 50;
const ROWS = 1_000_000;
const ROUNDS = 30;
/** No question of the bench is worth more. */
const WHOLE_MS_MAX = 300_000;

function optionsOf(argv: readonly string[]): AdminOptions {
  const given = argv.find((argument) => argument.startsWith('--rows='))?.slice('--rows='.length);
  const rows = given === undefined ? ROWS : Number(given);
  if (!Number.isSafeInteger(rows) || rows < 1_000) {
    throw new Error(`--rows wants a whole number of 1000 or more, got ${given}`);
  }
  return { rows, rounds: ROUNDS };
}

export async function benchAdmin(given?: AdminOptions): Promise<object> {
  const options = given ?? optionsOf(process.argv);
  const database = await BenchDatabase.start();
  try {
    const filledMs = await timed(() => fill(database.url, options.rows));
    say(`${options.rows} tasks in ${(filledMs / 1_000).toFixed(1)} s`);
    const reader = await database.store.openReader({ statementMs: 30_000 });
    try {
      return { rows: options.rows, ...(await measure(reader, database, options)) };
    } finally {
      await reader.close();
    }
  } finally {
    await database.stop();
  }
}

/**
 * A second apart: nine of ten completed, by ten machines; one of twenty failed, in some fifty ways; one of a
 * thousand has a key, and each of the rest is pending or waiting.
 */
export async function fill(url: string, rows: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(
      `insert into step_tracker
         (task_id, machine, status, wait_for, outcome, error, key, payload, created_at, last_update,
          run_at, finished_at)
       select '01' || lpad(n::text, 24, '0'), 'bench/machine-' || n % 10,
              case when n % 20 = 0 then 'failed' when n % 40 = 1 then 'pending'
                   when n % 40 = 21 then 'waiting' else 'completed' end,
              case when n % 40 = 21 then 'sleep' end,
              case when n % 20 = 0 then 'aborted' when n % 20 <> 1 then 'completed' end,
              case when n % 20 = 0 then json_build_object('name', 'Error', 'code', 'E' || n % 7,
                'message', 'no such bucket ' || n || ' in region ' || n % 13)::text end,
              case when n % 1000 = 7 then 'order-' || n end,
              '{"n":' || n || '}', at, at, at, case when n % 20 <> 1 then at end
         from generate_series(1, $1::int) as n,
              lateral (select now() - (($1::int - n) * interval '1 s') as at) made`,
      [rows],
    );
    await client.query('vacuum analyze step_tracker');
  } finally {
    await client.end();
  }
}

async function measure(reader: StoreReader, database: BenchDatabase, options: AdminOptions) {
  const { rows, rounds } = options;
  const nowMs = await reader.now();
  const middle = `01${String(Math.floor(rows / 2)).padStart(24, '0')}` as RunId;
  const key = `order-${Math.floor(rows / 2_000) * 1_000 + 7}`;
  const page = (text: string, more = {}) =>
    reader.page({ filter: parseFilter(text), countMax: COUNT_MAX, ...more });
  const span = { fromMs: nowMs - rows * 1_000, untilMs: nowMs + 1, buckets: 60 };
  const questions: Record<string, () => Promise<unknown>> = {
    lookUp: () => database.store.find([middle]),
    firstPage: () => page(''),
    deepPage: deepPage(reader, nowMs - (rows / 2) * 1_000),
    machineAndStatus: () => page('machine:bench/machine-0 status:failed'),
    byKey: () => page(`key:${key}`),
    byIdPrefix: () => page(`id:${middle.slice(0, 24)}*`),
    errorCode: () => page('error:E3'),
    searchWithinBudget: () => page('"there is no such text"'),
    countAll: () => reader.count({ filter: EVERYTHING, countMax: 1 }),
    countFailedOfMachine: () =>
      reader.count({ filter: parseFilter('status:failed machine:bench/machine-0'), countMax: 1 }),
    histogram: () => reader.histogram({ filter: EVERYTHING, ...span }),
    errors: () => reader.errors({ filter: EVERYTHING, countMax: 100 }),
    runDetail: async () => {
      await reader.find([middle]);
      await reader.histories([{ task: middle, generation: 1 }]);
    },
  };
  const ms: Record<string, { p50: number; p95: number }> = {};
  for (const [name, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timed(ask));
    ms[name] = { p50: rounded(quantile(times, 0.5)), p95: rounded(quantile(times, 0.95)) };
    say(`${name}: p50 ${ms[name].p50} ms, p95 ${ms[name].p95} ms`);
  }
  return { ms, ...(await whole(reader, rows)) };
}

/** Where somebody has come to by the histogram, in the middle of everything. */
function deepPage(reader: StoreReader, untilMs: number): () => Promise<unknown> {
  const until = { at: Math.floor(untilMs) };
  const filter = {
    terms: [{ kind: 'time', field: 'created', isNot: false, from: undefined, until } as const],
  };
  return () => reader.page({ filter, countMax: COUNT_MAX });
}

/** A text that is in the oldest task alone, and one that is nowhere: looked for to the end. */
async function whole(reader: StoreReader, rows: number) {
  const search = async (text: string) => {
    let found = 0;
    const elapsedMs = await timed(async () => {
      const filter = parseFilter(text);
      const { tasks } = await reader.page({ filter, countMax: 1, budgetMs: WHOLE_MS_MAX });
      found = tasks.length;
    });
    return {
      found,
      seconds: rounded(elapsedMs / 1_000),
      rowsPerSecond: Math.round((rows / elapsedMs) * 1_000),
    };
  };
  const oldest = await search('"bucket 20 in"');
  const nowhere = await search('"there is no such text"');
  say(`searched whole: ${oldest.seconds} s and ${nowhere.seconds} s`);
  return { searchWhole: { oldest, nowhere } };
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
