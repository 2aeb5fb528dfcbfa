/** What programs hold of runs and tasks, and what they may say when they begin one. */
import { DEFAULTS } from './config/defaults.ts';
import { namesOf, type OptionNames, refuseUnknownOptions } from './config/known-options.ts';
import {
  countOption,
  durationOption,
  keyOption,
  taskKeyOption,
  traceParentOption,
} from './config/options.ts';
import type { CancelReport } from './engine/index.ts';
import type { MemberStatus, TaskOptions } from './fleet/index.ts';
import { type Duration, parseDuration, type RunId, show } from './ground/index.ts';
import type { ThrottleSnapshot } from './machine/index.ts';
import { type CallerTx, callerTxOption } from './store/caller-tx.ts';
import { type Due, FOLLOWS_ON, type Follows, type FollowsOn } from './store/index.ts';

export interface StartOptions {
  /** Starts with the same key and input, of one machine, are one run. */
  readonly key?: string | undefined;
}
export interface EnqueueOptions extends StartOptions {
  /** How long the key stands for the task after it has ended; the retention by default. */
  readonly keyLifetime?: Duration | undefined;
  /** Higher goes first; 0 by default. */
  readonly priority?: number | undefined;
  /** After a time by the store's clock, or at an instant. */
  readonly runAt?: Duration | Date | undefined;
  readonly queue?: string | undefined;
  /** Tasks of one queue with one serial key run one after the other, in the order they are due. */
  readonly serialKey?: string | undefined;
  /** The run, or its id, that it is to follow: it waits until that has ended. */
  readonly after?: string | { readonly id: string } | undefined;
  /**
   * What it waits for: `success`, which is the default, that the run has completed; `end`, that it has
   * ended, however.
   */
  readonly on?: FollowsOn | undefined;
  /** An extra cap on failures; the machine's own `attemptMax` holds in any case. */
  readonly retriesMax?: number | undefined;
  /** The trace of whoever wants it, as W3C writes it; the active span's where traces are on. */
  readonly traceParent?: string | undefined;
  /**
   * A transaction that the caller has begun on the store's database: the task is there once it commits,
   * and never was where it does not. A client of `pg`, whatever else has `query(text, values)`, the `tx`
   * of a persist, or, on the SQLite store, a database of better-sqlite3.
   */
  readonly tx?: CallerTx | undefined;
}
export interface DrainOptions {
  /** How long phases in hand may take to finish; 25 s by default. */
  readonly budget?: Duration | undefined;
}
export interface WaitOptions {
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface Run<out O = unknown> {
  readonly id: RunId;
  /** The output once the run has ended well; throws a RunEndedError where it has not. */
  result(options?: WaitOptions): Promise<O>;
  cancel(reason?: string): Promise<CancelReport>;
}
/** A run that the whole fleet may execute. */
export interface Task<out O = unknown> {
  readonly id: RunId;
  result(options?: WaitOptions): Promise<O>;
  /** `requested` where a pod holds it: that pod ends it between two phases. */
  cancel(reason?: string): Promise<'done' | 'requested' | 'tooLate'>;
  /** Changes when it is due, while nobody holds it. */
  reschedule(runAt: Duration | Date): Promise<'done' | 'requested' | 'tooLate'>;
  /**
   * Nobody goes on with it until it is resumed. `requested` where a pod holds it: that pod finishes the
   * phase in hand and gives it back. Its deadline goes on.
   */
  pause(): Promise<'done' | 'requested' | 'tooLate'>;
  resume(): Promise<'done' | 'requested' | 'tooLate'>;
}

const START_NAMES = namesOf<StartOptions>({ key: true });

export const ENQUEUE_OPTIONS: OptionNames<EnqueueOptions> = {
  key: true,
  keyLifetime: true,
  priority: true,
  runAt: true,
  queue: true,
  serialKey: true,
  after: true,
  on: true,
  retriesMax: true,
  traceParent: true,
  tx: true,
};
const ENQUEUE_NAMES = namesOf(ENQUEUE_OPTIONS);

const DRAIN_NAMES = namesOf<DrainOptions>({ budget: true });

/** The key of a run that is started here. */
export function startKey(options: StartOptions = {}): string | undefined {
  refuseUnknownOptions(options, START_NAMES, 'startLocal');
  return keyOption(options.key);
}

export function drainMs(options: DrainOptions = {}): number {
  refuseUnknownOptions(options, DRAIN_NAMES, 'drain');
  return durationOption('budget', options.budget ?? DEFAULTS.drainBudget);
}

/** As the store wants them; a wrong one, or one that there is not, is a TypeError in words. */
export function enqueueOptions(options: EnqueueOptions = {}, retentionMs: number): TaskOptions {
  refuseUnknownOptions(options, ENQUEUE_NAMES, 'enqueue');
  return taskOptions(options, retentionMs);
}

export function taskOptions(options: EnqueueOptions, retentionMs: number): TaskOptions {
  const { keyLifetime, priority, runAt, queue, retriesMax } = options;
  if (priority !== undefined && !isPriority(priority)) {
    throw new TypeError(`priority must be a whole number of 16 bits, got ${show(priority)}`);
  }
  return {
    key: taskKeyOption(options.key),
    keyMs: keyLifetime === undefined ? retentionMs : durationOption('keyLifetime', keyLifetime),
    priority,
    due: runAt === undefined ? undefined : dueOf(runAt),
    queue: keyOption(queue, 'queue'),
    serialKey: keyOption(options.serialKey, 'serialKey'),
    follows: followsOption(options),
    retriesMax: retriesMax === undefined ? undefined : countOption('retriesMax', retriesMax, 1e6),
    traceParent: traceParentOption(options.traceParent),
    tx: callerTxOption(options.tx),
  };
}

function followsOption({ after, on, runAt, serialKey }: EnqueueOptions): Follows | undefined {
  if (after === undefined) {
    if (on !== undefined) throw new TypeError("on says when it follows a run: give 'after' too");
    return undefined;
  }
  if (on !== undefined && !FOLLOWS_ON.includes(on)) {
    throw new TypeError(`on must be 'success' or 'end', got ${show(on)}`);
  }
  if (runAt !== undefined || serialKey !== undefined) {
    const other = runAt === undefined ? 'serialKey' : 'runAt';
    throw new TypeError(
      `after and ${other} cannot be given together: it is due when that run ends`,
    );
  }
  const run = keyOption(typeof after === 'object' && after !== null ? after.id : after, 'after')!;
  return { run, on: on ?? 'success' };
}

function isPriority(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= 32_767;
}

export function dueOf(runAt: Duration | Date): Due {
  if (runAt instanceof Date) {
    const at = runAt.getTime();
    if (Number.isFinite(at)) return { at };
    throw new TypeError('runAt must be a duration or a valid Date');
  }
  const afterMs = parseDuration(runAt);
  if (afterMs !== undefined) return { afterMs };
  throw new TypeError(`runAt must be a duration such as '30s', or a Date, got ${show(runAt)}`);
}

export interface FleetStatus {
  readonly journal: string;
  readonly boot: number;
  readonly dataDir: string;
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly inMemory: number;
  readonly blocked: number;
  /** Runs in memory that wait, by what for. */
  readonly waits: { readonly sleep: number; readonly retry: number; readonly throttle: number };
  readonly stalledBy: string | undefined;
  readonly alarms: readonly string[];
  readonly machines: readonly string[];
  readonly pod: MemberStatus | undefined;
  /** APIs that are called here. */
  readonly throttles: readonly ThrottleSnapshot[];
}
