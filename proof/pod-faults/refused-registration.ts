/** F6: a pod was declared dead, and the store refuses every registration for a minute and more. */
import { setTimeout as sleep } from 'node:timers/promises';
import { msUntil, type Pod } from './pods.ts';
import { atLeast, atMost, exactly, type Promised } from './promised.ts';
import type { Stage } from './stage.ts';

/** Disk full, by Postgres's own code. */
const REFUSE = `
  create function no_room() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
  create trigger no_room before insert on pod_health for each row execute function no_room();
  update pod_health set status = 'dead', dead_at = clock_timestamp(), dead_by = 'the proof'
   where status = 'up'`;
const ALLOW = 'drop trigger no_room on pod_health';

/** The heart that gets ready for the try that is under way. */
const THREADS_MORE = 1;
/** Its connection. */
const CONNECTIONS_MORE = 1;
/** What the outage proof grants a process: its caches and its compiled code, not what leaks. */
const GROWTH_MIB_MAX = 40;
/** Tries come every second or so; two are for one that is under way and the next. */
const JOIN_MS_MAX = 5_000;
const LOOK_MS = 500;

const TASKS = 20;

interface Sizes {
  readonly threads: number;
  readonly connections: number;
  readonly rssMiB: number;
}

export async function refusedRegistration(stage: Stage, refusedMs: number): Promise<Promised[]> {
  const pod = await stage.pod({ podName: 'alder' });
  await work(stage, pod);
  const before = await sizesOf(stage, pod);
  await stage.sql(REFUSE);
  const most: { -readonly [Key in keyof Sizes]: number } = { ...before };
  const untilMs = performance.now() + refusedMs;
  while (performance.now() < untilMs) {
    const now = await sizesOf(stage, pod);
    for (const key of Object.keys(most) as (keyof Sizes)[])
      most[key] = Math.max(most[key], now[key]);
    await sleep(LOOK_MS);
  }
  const tries = pod.said.filter(({ kind }) => kind === 'register').length;
  await stage.sql(ALLOW);
  const joinedMs = await msUntil(60_000, async () => (await pod.look()).isReady === true);
  const done = await work(stage, pod);
  const after = await sizesOf(stage, pod);
  return [
    atLeast('registrations refused', Math.floor(refusedMs / 3_000), tries),
    atMost(
      `threads at most (${before.threads} before)`,
      before.threads + THREADS_MORE,
      most.threads,
    ),
    atMost('threads after', before.threads, after.threads),
    atMost(
      `connections at most (${before.connections} before)`,
      before.connections + CONNECTIONS_MORE,
      most.connections,
    ),
    atMost('connections after', before.connections, after.connections),
    atMost(`MiB at most (${before.rssMiB} before)`, before.rssMiB + GROWTH_MIB_MAX, most.rssMiB),
    atMost('ms until it joined', JOIN_MS_MAX, joinedMs),
    exactly('tasks completed then', TASKS, done),
  ];
}

/** What a pod that works has open, it has open then. */
async function work(stage: Stage, pod: Pod): Promise<number> {
  const ids = await pod.ask<string[]>('enqueue', { count: TASKS, ms: 10 });
  await stage.msUntilDone(ids, 20_000);
  await sleep(2_000);
  return stage.countOf(ids, 'completed');
}

async function sizesOf(stage: Stage, pod: Pod): Promise<Sizes> {
  const others = `pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  return { ...pod.size, connections: await stage.count(others) };
}
