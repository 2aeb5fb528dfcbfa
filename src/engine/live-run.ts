/** A run in memory: what its records add up to, and what is being done about it right now. */
import type { Clock, ErrorInfo, RunId } from '../ground/index.ts';
import type { Entry, StoredRecord } from '../journal/index.ts';
import { CHAIN_START } from '../journal/index.ts';
import { foldRecords, isFinal, type Plan, type RunEvent, type RunState } from '../machine/index.ts';
import type { Shadow, Tie } from './tie.ts';

/** A wall clock that has come to differ by more than this was set. */
const CLOCK_OFF_MS_MAX = 1_000;

/** Why a phase is given up before its handler has answered. */
export type GiveUp = {
  readonly why: 'timeout' | 'deadline' | 'cancelled' | 'drained' | 'lost';
  readonly reason: Error;
};

/** A class, and not a literal, so that all runs have one shape: they are what the hot path touches. */
export class LiveRun {
  readonly id: RunId;
  readonly plan: Plan;
  readonly key: string | undefined;
  epoch: number;
  /** What binds it to whoever gave it; a run that was started here has none. */
  tie: Tie | undefined;
  /** Whoever shows it to others; only where it was started here. */
  shadow: Shadow | undefined = undefined;
  /** It is another's by now: nothing it comes to counts. */
  isLost = false;
  /** Whoever gave it wants it back: no phase of it begins here any more. */
  isLeaving = false;
  state: RunState;
  /** When its time is up by the monotonic clock, where a store has said so. */
  deadlineMs: number | undefined = undefined;
  seq = -1;
  hash = CHAIN_START;
  /** A row in the journal's timers stands for it. */
  hasTimer = false;
  slot: number | undefined = undefined;
  /** How long its last record is to be waited for, whatever becomes of the wall clock meanwhile. */
  waitMs: number | undefined = undefined;
  /** The wait that the record with this seq asked for is over, whatever the wall clock says since. */
  waitedSeq = -1;
  /** A record of it is on its way to the disk; no other may be. */
  isAppending = false;
  /** That record, where somebody else may have to wait for it. */
  appending: Promise<unknown> | undefined = undefined;
  /** A record that is final elsewhere: nothing else may become the next one here. */
  prepared: PreparedRecord | undefined = undefined;
  /** The last failure, for people. */
  lastError: ErrorInfo | undefined = undefined;
  cancelReason: string | undefined = undefined;
  progress: { readonly fraction: number; readonly note: string | undefined } | undefined =
    undefined;
  /** The phase that is being executed, if any. */
  call: { giveUp(why: GiveUp): void } | undefined = undefined;
  /** Parsed input and outputs, where phases may share them. */
  view: RunView | undefined = undefined;

  constructor(
    id: RunId,
    plan: Plan,
    key: string | undefined,
    epoch: number,
    state: RunState,
    tie?: Tie | undefined,
  ) {
    this.id = id;
    this.plan = plan;
    this.key = key;
    this.epoch = epoch;
    this.state = state;
    this.tie = tie;
  }
}

/** The next record of a run, made before it is written. */
export interface PreparedRecord {
  readonly event: RunEvent;
  readonly entry: Entry;
  readonly next: RunState;
  readonly written: { readonly hash: string; readonly data: string };
}

export interface RunView {
  readonly input: unknown;
  readonly state: Readonly<Record<string, unknown>>;
}

/** Folds records into a run; answers in words why it cannot where the definition does not fit them. */
export function foldRun(
  plan: Plan,
  id: RunId,
  epoch: number,
  records: readonly StoredRecord[],
): LiveRun | string {
  const folded = foldRecords(plan, records);
  if (typeof folded === 'string') return folded;
  return liveRunOf(plan, id, epoch, folded.state, records, folded.lastError);
}

/** A run that its records have brought to this state. */
export function liveRunOf(
  plan: Plan,
  id: RunId,
  epoch: number,
  state: RunState,
  records: readonly StoredRecord[],
  lastError?: ErrorInfo | undefined,
): LiveRun {
  const first = records[0]!.event;
  const run = new LiveRun(id, plan, first.type === 'STARTED' ? first.key : undefined, epoch, state);
  const last = records.at(-1)!;
  run.seq = last.seq;
  run.hash = last.hash;
  run.lastError = lastError;
  return run;
}

export function errorOf(event: RunEvent): ErrorInfo | undefined {
  return 'error' in event ? event.error : undefined;
}

/** How events name the run. */
export function ofRun(run: LiveRun): {
  run: RunId;
  machine: string;
  version: number;
  epoch: number;
} {
  return { run: run.id, machine: run.plan.name, version: run.plan.version, epoch: run.epoch };
}

/** Where it stands, as events tell it. */
export function standingOf({ tie, epoch, seq, hash }: LiveRun) {
  return { generation: tie?.generation, epoch, seq, hash };
}

/** Whether the run is still for its own loop to move: not ended, and no cancel has taken it over. */
export function isOurs(run: LiveRun): boolean {
  return run.cancelReason === undefined && !run.isLost && !isFinal(run.state.at);
}

/**
 * Whether nothing of the author's is called where the run stands: it is at a sleep of a given length,
 * or at one whose due time is on record.
 */
export function isAsleep({ plan, state }: LiveRun): boolean {
  const part = plan.line[plan.chart.placeOf(state.at)?.index ?? -1];
  return part?.kind === 'sleep' && (state.dueAt !== undefined || typeof part.delay !== 'function');
}

/** Until when the run waits, if it does: its time, or its deadline where that comes first. */
export function wakeAtOf({ state: { dueAt, deadlineAt } }: LiveRun): number | undefined {
  return dueAt === undefined ? undefined : Math.min(dueAt, deadlineAt ?? dueAt);
}

/** A run that is held for a store has this much time left. */
export function limitTime(run: LiveRun, leftMs: number, clock: Clock): void {
  run.deadlineMs = clock.monotonicMs() + leftMs;
  run.state = { ...run.state, deadlineAt: clock.now() + leftMs };
}

/** A wall clock that was set meanwhile must not end it, nor let it go on for ever. */
export function followDeadline(run: LiveRun, clock: Clock): void {
  if (run.deadlineMs === undefined) return;
  const leftMs = run.deadlineMs - clock.monotonicMs();
  const offMs = (run.state.deadlineAt ?? 0) - clock.now() - leftMs;
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return;
  const { dueAt, deadlineAt } = run.state;
  limitTime(run, leftMs, clock);
  // A clock that was set forward wakes it as soon as it lies down, with all of its time left.
  const isLate = leftMs <= CLOCK_OFF_MS_MAX;
  if (isLate && dueAt !== undefined && deadlineAt !== undefined && dueAt > deadlineAt) {
    // It has waited for its deadline: what it was to wait for is as far beyond that as before.
    run.state = { ...run.state, dueAt: run.state.deadlineAt! + (dueAt - deadlineAt) };
  } else {
    // Whatever it waited for is over, or it would not be asked about.
    limitWait(run, 0, clock);
  }
}

/** How long the wait was to be, if the run waits: by the clock of whoever recorded it. */
export function waitMsOf({ state }: LiveRun, records: readonly StoredRecord[]): number | undefined {
  if (state.dueAt === undefined) return undefined;
  // Others may have taken the run since, and recorded that.
  const waiting = records.findLast(({ event }) => 'dueAt' in event);
  return waiting && 'dueAt' in waiting.event ? waiting.event.dueAt - waiting.at : undefined;
}

/** Its due time may be by another clock, or by ours before it was set: its length is the same. */
export function limitWait(run: LiveRun, waitMs: number | undefined, clock: Clock): void {
  const { dueAt } = run.state;
  if (dueAt === undefined || waitMs === undefined) return;
  run.state = { ...run.state, dueAt: Math.min(dueAt, clock.now() + waitMs) };
}

/**
 * For how long the store is to keep it. One that is parked until its deadline is not to be found due
 * before that, or whoever gets it would take its wait for over; the store lets nothing wait any longer.
 */
function parkMsOf({ state: { dueAt = 0, deadlineAt } }: LiveRun, afterMs: number): number {
  return deadlineAt !== undefined && dueAt > deadlineAt ? afterMs + CLOCK_OFF_MS_MAX : afterMs;
}

/**
 * What is left of a wait that is over by the store, whatever our clock shows: nothing. Only one whose
 * time is up may have waited for its deadline, and not until it was due: it is parked for longer.
 */
export function restOf(waitMs: number | undefined, run: LiveRun, clock: Clock): number | undefined {
  const leftMs = (run.deadlineMs ?? Number.POSITIVE_INFINITY) - clock.monotonicMs();
  return waitMs !== undefined && leftMs > 0 ? 0 : waitMs;
}

/** It waits for longer than it may keep its place. */
export function park(run: LiveRun, afterMs: number): void {
  run.tie?.parked(parkedFor(run), parkMsOf(run, afterMs));
}

/** What a run that has to wait for long waits for. */
function parkedFor({ state }: LiveRun): 'sleep' | 'retry' | 'throttle' {
  if (state.at.endsWith('.sleep')) return 'sleep';
  return state.waitsForApi === undefined ? 'retry' : 'throttle';
}

/** Whether the run's own loop may begin a phase of it. */
export function mayBegin(run: LiveRun, now: number): boolean {
  return isOurs(run) && !run.isLeaving && !mustWait(run, now);
}

/** Whether it is still too early to go on with the run. */
export function mustWait(run: LiveRun, now: number): boolean {
  const wakeAt = wakeAtOf(run);
  return wakeAt !== undefined && run.waitedSeq !== run.seq && wakeAt > now;
}
