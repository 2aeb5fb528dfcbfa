/** How much there is of everything in the file; see the interface. */
import {
  CENSUS_QUEUES_MAX,
  type Census,
  type MachineCount,
  type QueueCensus,
  type RouteCensus,
} from '../census.ts';
import * as sql from './census.sql.ts';
import { selectFirstExpiry, selectPrunable } from './housekeeping.sql.ts';
import type { Tx } from './session.ts';

interface RawRoute {
  readonly route: string;
  readonly machine: string;
  readonly is_live: number;
}
interface RawWait {
  readonly reason: string;
  readonly count: number;
}
interface RawCensus {
  readonly pending: number;
  readonly suspect: number;
  readonly ready_at: number | null;
  readonly due_at: number | null;
  readonly suspect_at: number | null;
}

export function census(tx: Tx, countMax: number, silentMs: number): Census {
  const count = Math.max(0, countMax);
  const orphaned = tx.all<{ readonly count: number; readonly since: number }>(sql.selectOrphans, {
    now: tx.now,
    silent_ms: silentMs,
    count,
  });
  return {
    routes: tx.all<RawRoute>(sql.selectCensusRoutes).map((known) => routeOf(tx, known, count)),
    claimed: tx.all<MachineCount>(sql.countClaimed, { count }),
    deadLetters: tx.all<MachineCount>(sql.countDeadLetters, { count }),
    orphans: orphaned.reduce((sum, owner) => sum + owner.count, 0),
    orphansOldestMs: agoOf(
      tx.now,
      orphaned.map(({ since }) => since),
    ),
    queues: tx.all<RawQueue>(sql.selectRuledQueues, { count: CENSUS_QUEUES_MAX }).map(queueOf),
    scheduleLateMs: agoOf(tx.now, [
      tx.get<{ readonly at: number | null }>(sql.selectNextTick)?.at ?? null,
    ]),
    endedOldestMs: agoOf(
      tx.now,
      tx
        .all<{ finished_at: number }>(selectPrunable, { before: tx.now, count: 1 })
        .map(({ finished_at }) => finished_at),
    ),
    keysLateMs: agoOf(tx.now, [tx.get<{ at: number | null }>(selectFirstExpiry)?.at ?? null]),
    oldestTransactionMs: undefined,
  };
}

interface RawQueue {
  readonly queue: string;
  readonly max_claimed: number | null;
  readonly paused: number;
  readonly claimed: number;
}

function queueOf({ queue, max_claimed, paused, claimed }: RawQueue): QueueCensus {
  return { queue, limit: max_claimed ?? undefined, isPaused: paused === 1, claimed };
}

function routeOf(tx: Tx, known: RawRoute, count: number): RouteCensus {
  const { route, machine } = known;
  const isLive = known.is_live === 1;
  const found = tx.get<RawCensus>(sql.selectRouteCensus, { route, count })!;
  const { pending, suspect, ready_at, due_at, suspect_at } = found;
  const waits = Object.fromEntries(
    tx.all<RawWait>(sql.countWaits, { route, count }).map((wait) => [wait.reason, wait.count]),
  );
  const oldestMs = agoOf(tx.now, [ready_at, due_at, suspect_at]);
  return { route, machine, isLive, pending, waits, suspect, oldestMs };
}

/** How long ago the first of these was; undefined where it is still to come, or there is none. */
function agoOf(now: number, times: readonly (number | null)[]): number | undefined {
  const agoMs = now - Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return agoMs > 0 ? agoMs : undefined;
}
