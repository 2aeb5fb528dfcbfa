/**
 * A process of its own on a shared SQLite file. It says what it is about to do and what it has done,
 * a line each, written at once, so that whoever kills it knows how far it can have come.
 *
 *   migrate  at 'go': migrates, says what the schema is then
 *   claim    at 'go': claims until nothing is left, completing every other task
 *   settle   claims and completes, a batch at a time, until it is killed
 *   fill     enqueues until it is refused, then once a line comes, again until the end
 *   open     opens the store and says how that went
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { hash, runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { migrateSqliteStore } from '../../src/store/sqlite/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { ClaimedTask, NewTask, Settlement } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';

export interface SqliteChildTask {
  readonly mode: 'migrate' | 'claim' | 'settle' | 'fill' | 'open';
  readonly file: string;
  readonly name: string;
  readonly batchCount?: number;
}

const task = JSON.parse(process.argv[2] ?? '{}') as SqliteChildTask;
const PORTS = { clock: systemClock, random: systemRandom };
const say = (said: object) => writeSync(1, `${JSON.stringify(said)}\n`);

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextLine = () => lines.next();

const newId = runIdMint(systemClock, systemRandom);

async function migrate(): Promise<void> {
  say({ event: 'up' });
  await nextLine();
  const { applied, pending } = await migrateSqliteStore(task.file, PORTS);
  say({ event: 'migrated', applied, pending: pending.length });
}

async function joined() {
  const store = await openSqliteStore(task.file, PORTS);
  const [pod, journal] = [`pod-${task.name}` as PodId, `journal-${task.name}`];
  const routes = ['sample/one@1'];
  const life = { pod, name: task.name, journal, boot: 1, lsn: 0, routes, report: {}, nonce: 'n' };
  await store.register(life);
  const countMax = task.batchCount ?? 7;
  const claim = () => store.claim({ pod, routes, countMax, token: 't', journal, head: 'ready' });
  const settle = (claims: readonly ClaimedTask[]) => store.settle(pod, claims.map(completed));
  return { store, claim, settle };
}

function completed({ task: id, generation, epoch }: ClaimedTask): Settlement {
  const [claim, last] = [
    { task: id, generation, epoch },
    { lastSeq: 2, lastHash: hash(id) },
  ];
  const events = JSON.stringify(['started', 'work', 'done']);
  const tail = { ...claim, ...last, firstSeq: 0, prevHash: '', state: 'completed', events };
  const counts = { retriesAdd: 0, hasCompletedStep: true };
  const ending = { to: 'completed', outcome: 'completed', result: '1', error: undefined } as const;
  return { ...claim, ...last, ...counts, ...ending, tail };
}

function heavyTask(): NewTask {
  return {
    id: newId(),
    machine: 'sample/one',
    version: 1,
    queue: 'default',
    priority: 0,
    due: undefined,
    payload: JSON.stringify('x'.repeat(20_000)),
    key: undefined,
    keyMs: 0,
    retriesMax: undefined,
    deadlineMs: undefined,
    traceParent: undefined,
  };
}

async function claimAll(): Promise<void> {
  const { store, claim, settle } = await joined();
  say({ event: 'up' });
  await nextLine();
  for (let claims = await claim(); claims.length > 0; claims = await claim()) {
    say({ event: 'claimed', tasks: claims.map((held) => [held.task, held.epoch]) });
    await settle(claims.filter((_, index) => index % 2 === 0));
  }
  say({ event: 'done' });
  await store.close();
}

async function settleForEver(): Promise<void> {
  const { store, claim, settle } = await joined();
  say({ event: 'up' });
  for (let claims = await claim(); claims.length > 0; claims = await claim()) {
    say({ event: 'settling', tasks: claims.map((held) => held.task) });
    const answers = await settle(claims);
    say({ event: 'settled', count: answers.filter(({ kind }) => kind === 'stood').length });
  }
  await store.close();
}

async function fill(): Promise<void> {
  const store = await openSqliteStore(task.file, { ...PORTS, migrates: true });
  say({ event: 'up' });
  for (const [until, countMax] of [
    ['refused', 100_000],
    ['freed', 20],
  ] as const) {
    for (let count = 0; count < countMax; count++) {
      const given = heavyTask();
      try {
        const [answer] = await store.enqueue([given]);
        say({ event: 'enqueued', task: answer?.id });
      } catch (error) {
        const { code, verdict, message } = error as Error & { code: string; verdict: string };
        say({ event: 'refused', task: given.id, code, verdict, message });
        break;
      }
    }
    const rows = await store.list({ countMax: 1_000 });
    say({ event: until, tasks: rows.map(({ id }) => id), violations: await store.violations() });
    if (until === 'refused') await nextLine();
  }
  await store.close();
}

async function open(): Promise<void> {
  try {
    await (await openSqliteStore(task.file, { ...PORTS, migrates: true })).close();
    say({ event: 'opened' });
  } catch (error) {
    const { code, message, hint } = error as Error & { code?: string; hint?: string };
    say({ event: 'refused', code, message, hint });
  }
}

const ACTS = { migrate, claim: claimAll, settle: settleForEver, fill, open };
await ACTS[task.mode]();
process.exit(0);
