/**
 * What becomes of a dead pod's task. The pod is dead first, by the fence; here its rows move, a batch
 * at a time, each under a new epoch, so that nothing it still has under way can touch them.
 *
 *   asked to cancel          → cancelled      third crash             → failed, crashLoop
 *   a recovery, to the pool  → cancelled      to its successor        → claimed by it
 *   pinned, to the pool      → waiting/host   asked to pause          → pending, paused
 *   everything else          → pending, soon
 *
 * Unless its records tell its end: then whoever gets it next says how it ended.
 */
import type { Random, RunId } from '../../ground/index.ts';
import { COUNT_MAX, PAYLOAD_BYTES_MAX } from '../bounds.ts';
import { CRASH_LOOP, cancelledBecause, LEADER_DIED } from '../reasons.ts';
import type { TakenTask, Taking } from '../tasks.ts';
import { CRASHES_MAX, type Interruption, RECOVERY_PREFIX, SUSPECT_CRASHES } from '../words.ts';
import { hasRecords, hasToldItsEnd } from './archive.ts';
import * as sql from './claims.sql.ts';
import { CLAIM_COUNT_MAX } from './claims.ts';
import { letFollowersGo } from './followers.ts';
import { selectPod } from './pods.sql.ts';
import { isUp } from './pods.ts';
import { type RawPod, type RawTask, takenTask } from './rows.ts';
import { attempt, type Tx, type Values } from './session.ts';
import { passOnAfter } from './turns.ts';

/** How long a run waits for the host it is pinned to, where it has no deadline of its own. */
const HOST_MS_MAX = 24 * 3_600_000;

export function take(tx: Tx, taking: Taking, random: Random): TakenTask[] {
  const { from, by, to, payloadBytesMax = PAYLOAD_BYTES_MAX } = taking;
  const owner = tx.get<RawPod>(selectPod, { pod: from });
  if (owner?.status === 'up' || owner?.status === 'draining') return [];
  if (to === 'taker' && !isUp(tx, by)) return [];
  const count = Math.max(0, Math.min(taking.countMax, CLAIM_COUNT_MAX));
  const crashed = countsCrash(taking);
  const hasLeft = owner?.dead_by === from;
  const { only = null } = taking;
  const [which, claims] =
    typeof only === 'object' && only ? ['these', JSON.stringify(only)] : [only, null];
  return tx
    .all<RawTask>(sql.selectOfPod, { pod: from, count, only: which, claims })
    .flatMap((row) => {
      const wasInside = crashed(row.task_id);
      // A run that belongs to a host is that host's affair, however often it dies.
      const isCrash = !hasLeft && row.pinned_to === null && wasInside;
      const isTold = hasToldItsEnd(tx, row);
      const isPaused = row.control === 'pause' && !isTold;
      // Nobody goes on with it for now who could tell whether a phase was open: `check` is asked then.
      const isCut = wasInside || isPaused || taking.crashed === 'none';
      const dueAt = tx.now + Math.floor(random.fraction() * taking.spreadMs);
      const next = {
        ...becomes(row, taking, isCrash, { now: tx.now, dueAt, isTold, isPaused }),
        paused: isPaused ? 1 : row.paused,
        interrupted: hasLeft ? leftBy(tx, row) : isCut ? 'cut' : row.interrupted,
        cut_epoch: !hasLeft && isCut ? row.claim_epoch : row.cut_epoch,
      };
      const values = { task: row.task_id, from, epoch: row.claim_epoch, now: tx.now };
      const done = attempt(() => tx.get<RawTask>(sql.takeTask, { ...next, ...values }));
      const taken = 'answer' in done ? done.answer : undefined;
      if (!taken) return [];
      if (taken.serial_key !== null) passOnAfter(tx, taken.task_id);
      letFollowersGo(tx, taken.task_id);
      return [takenTask(taken, row, tx.now, to === 'pool' ? undefined : payloadBytesMax)];
    });
}

/** That an earlier owner was cut off is for the next one to say, unless the last one has. */
function leftBy(tx: Tx, row: RawTask): Interruption {
  return row.interrupted === 'cut' && !hasRecords(tx, row) ? 'cut' : 'left';
}

function countsCrash({ crashed }: Taking): (task: RunId) => boolean {
  if (crashed === 'all') return () => true;
  if (crashed === 'none') return () => false;
  const tasks = new Set(crashed);
  return (task) => tasks.has(task);
}

function becomes(
  row: RawTask,
  { by, to }: Taking,
  isCrash: boolean,
  {
    now,
    dueAt,
    isTold,
    isPaused,
  }: {
    readonly now: number;
    readonly dueAt: number;
    readonly isTold: boolean;
    readonly isPaused: boolean;
  },
): Values {
  const crashes = Math.min(row.crashes + (isCrash ? 1 : 0), COUNT_MAX);
  const open = {
    status: 'pending',
    wait_for: null,
    run_at: row.run_at,
    deadline_at: row.deadline_at,
    crashes,
    claimed_by: null,
    outcome: null,
    error: null,
    finished_at: null,
  };
  const ended = (status: string, outcome: string, error: string) => ({
    ...open,
    status,
    outcome,
    error,
    finished_at: now,
  });
  if (row.control === 'cancel' && !isTold) {
    return ended(
      'cancelled',
      'cancelled',
      cancelledBecause(row.control_reason ?? 'it was asked for'),
    );
  }
  if (to === 'pool' && row.machine.startsWith(RECOVERY_PREFIX)) {
    return ended('cancelled', 'cancelled', LEADER_DIED);
  }
  if (isCrash && crashes >= CRASHES_MAX && !isTold) return ended('failed', 'crashLoop', CRASH_LOOP);
  if (to === 'taker' && crashes < SUSPECT_CRASHES && !isPaused) {
    return { ...open, status: 'claimed', claimed_by: by };
  }
  if (to === 'pool' && row.pinned_to !== null) {
    const deadlineAt = row.deadline_at ?? now + HOST_MS_MAX;
    return {
      ...open,
      status: 'waiting',
      wait_for: 'host',
      run_at: now,
      deadline_at: deadlineAt,
    };
  }
  return { ...open, run_at: dueAt };
}
