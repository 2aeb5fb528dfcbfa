/** What a run that comes from elsewhere brings along when it is offered to this engine. */
import type { Clock, RunId } from '../ground/index.ts';
import type { EventRow, HeldRow } from '../journal/index.ts';
import { type Interruption, isFinal, type Plan, type RunEvent } from '../machine/index.ts';
import { isAsleep, type LiveRun, limitTime } from './live-run.ts';
import type { Resumption } from './resume.ts';
import type { Carried, Tie } from './tie.ts';

/** Without a limit of its own, a run that only ever postpones itself ends after this. */
export const RUN_MS_MAX = 24 * 3_600_000;

/** A run as another owner left it, or one that nobody has begun. */
export interface Offer extends Carried {
  readonly id: RunId;
  readonly machine: string;
  /** Which version is asked for where nobody has begun; else its records say which it stands under. */
  readonly version: number;
  readonly tie: Tie;
  /** Who takes it, for people. */
  readonly pod: string;
  /** What earlier owners have recorded; empty where nobody has begun. */
  readonly rows: readonly EventRow[];
  readonly interruption: Interruption | undefined;
  /** Whatever its last record waits for is over. */
  readonly isDue: boolean;
  /** Pods that have died lately, and when each was last heard of; only where somebody wants to know. */
  readonly lastBeats?: ReadonlyMap<string, number> | undefined;
  /** The trace context of whoever wanted it. */
  readonly trace: string | undefined;
  /** How old it is where nobody has given it a deadline. */
  readonly ageMs?: number | undefined;
  /** The records of an earlier generation whose finished steps count; none where nobody had begun it. */
  readonly carried: readonly EventRow[] | undefined;
}

/** A held run of an earlier process of this journal, as it is on this disk. */
export interface LocalHold extends HeldRow {
  /** A phase of it was being executed when that process ended. */
  readonly isOpen: boolean;
  /** Its records as they were written; none where they cannot be read. */
  readonly rows: readonly EventRow[];
  /** What they add up to; undefined where the run has ended. */
  readonly found: Resumption | undefined;
}

/** A row that came by a plain INSERT has no deadline: then its machine's limit counts. */
export function limitBy(
  run: LiveRun,
  { deadlineMs, ageMs }: Pick<Offer, 'deadlineMs' | 'ageMs'>,
  clock: Clock,
): void {
  limitTime(run, deadlineMs ?? limitOf(run.plan) - (ageMs ?? 0), clock);
}

function limitOf({ runTimeoutMs }: Plan): number {
  return runTimeoutMs ?? RUN_MS_MAX;
}

/** Whoever recorded this last was in no phase: the run waits, or is asleep, or was let go. */
export function isBetween(run: LiveRun, last: RunEvent): boolean {
  const { at, dueAt } = run.state;
  return isFinal(at) || isAsleep(run) || dueAt !== undefined || last.type === 'INTERRUPTED';
}

/** Says so in the record itself: should this process die before it counts the interruption. */
export function takenBy(
  pod: string,
  interruption: Interruption | undefined,
  isDue = false,
): RunEvent {
  return {
    type: 'TAKEN',
    pod,
    ...(interruption ? { interruption } : {}),
    ...(isDue ? { isDue } : {}),
  };
}
