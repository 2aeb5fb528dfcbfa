/**
 * What a claim costs as more and more queues of one route have tasks: WAL, pages and time of one claim, and
 * how many trivial runs a pod does. And in which claim a row of a high priority in the last queue is taken.
 */
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { type PodId, remember } from '../../src/store/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';
import { CLAIM_STATEMENT, newTask } from './tasks.ts';

const isFull = process.argv.includes('--full');
const QUEUES = isFull ? [1, 10, 100, 1_000, 5_000] : [1, 100, 1_000];
const TASKS = 200_000;
const CLAIM = 64;
const CLAIMS = 50;
const RUN_MS = 10_000;
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfQueues(): Promise<object> {
  const rows: object[] = [];
  for (const queues of QUEUES) rows.push(await measured(queues));
  return { tasks: TASKS, rows };
}

async function measured(queues: number): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    await fill(database, queues);
    const claims = await claimsOf(database);
    const urgent = await claimsUntilUrgent(database, queues);
    const runsPerSecond = await throughput(database);
    const row = { queues, ...claims, claimsUntilUrgent: urgent, runsPerSecond };
    say(JSON.stringify(row));
    return row;
  } finally {
    await database.stop();
  }
}

async function fill(database: BenchDatabase, queues: number): Promise<void> {
  await database.ask(
    `insert into step_tracker (machine, payload, queue)
     select 'bench-trivial', '{"n":1}', 'queue-' || lpad((n % $1::int)::text, 5, '0')
       from generate_series(1, $2::int) as n`,
    [queues, TASKS],
  );
  await database.ask('analyze step_tracker');
}

/** By the store itself, as one pod that takes and takes. */
async function claimsOf(database: BenchDatabase) {
  const { store } = database;
  const pod = mint() as string as PodId;
  const of = {
    name: 'bench',
    journal: 'bench',
    boot: 1,
    lsn: 0,
    routes: [],
    report: {},
    nonce: 'n',
  };
  await store.register({ ...of, pod });
  const walAt = async () =>
    Number(
      (await database.ask("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as at"))[0]!['at'],
    );
  await database.statements();
  const [walBefore, times] = [await walAt(), [] as number[]];
  const behind = new Map<string, string>();
  for (let n = 0; n < CLAIMS; n++) {
    const from = wallMs();
    await claim(database, pod, behind);
    times.push(wallMs() - from);
  }
  const { pages } = await database.costOf(CLAIM_STATEMENT);
  times.sort((a, b) => a - b);
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    claimMs: { p50: round(times[CLAIMS / 2]!), p99: round(times[CLAIMS - 1]!) },
    walKiBPerClaim: round(((await walAt()) - walBefore) / CLAIMS / 1_024),
    pagesPerClaim: pages,
  };
}

const ROUTE = 'bench-trivial@1';

/** As a pod does: each claim goes on where the last one ended. */
async function claim({ store }: BenchDatabase, pod: PodId, behind: Map<string, string>) {
  const request = { pod, routes: [ROUTE], journal: 'bench', head: 'ready', behind } as const;
  const tasks = await store.claim({ ...request, countMax: CLAIM, token: mint() });
  for (const task of tasks) remember(behind, { ...task, route: ROUTE });
  return tasks;
}

async function claimsUntilUrgent(database: BenchDatabase, queues: number): Promise<number | null> {
  const { store } = database;
  const pod = mint() as string as PodId;
  const of = {
    name: 'bench',
    journal: 'urgent',
    boot: 1,
    lsn: 0,
    routes: [],
    report: {},
    nonce: 'n',
  };
  await store.register({ ...of, pod });
  const last = `queue-${String(queues - 1).padStart(5, '0')}`;
  const urgent = { ...newTask(mint(), 'bench-trivial', 1), queue: last, priority: 10 };
  await store.enqueue([urgent]);
  const behind = new Map<string, string>();
  for (let n = 1; n <= 30; n++) {
    const taken = await claim(database, pod, behind);
    if (taken.some(({ task }) => task === urgent.id)) return n;
  }
  return null;
}

async function throughput(database: BenchDatabase): Promise<number> {
  const pod = await startBenchPod({ store: database.url, slots: 512 });
  const ended = async () =>
    Number(
      (
        await database.ask(
          'select count(*) as count from step_tracker where finished_at is not null',
        )
      )[0]!['count'],
    );
  const from = wallMs();
  const before = await ended();
  await new Promise((resolve) => setTimeout(resolve, RUN_MS));
  const runs = (await ended()) - before;
  const rate = Math.round(runs / ((wallMs() - from) / 1_000));
  await pod.kill();
  return rate;
}
