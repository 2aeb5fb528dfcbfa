/**
 * What can happen to a run, as it is journaled. Each is an outcome, written after the fact; the state
 * it leads to is entered only once the record is durable.
 */
import type { ErrorInfo, Json } from '../ground/index.ts';
import type { AbortKind } from './outcomes.ts';

/**
 * How its last owner may have been inside a phase. `cut`: it died, which counts as an attempt. `left`:
 * it ended in order and could not wait for the phase, which costs nothing.
 */
export type Interruption = 'cut' | 'left';

export type RunEvent =
  | {
      readonly type: 'STARTED';
      readonly machine: string;
      readonly version: number;
      readonly fingerprint: string;
      readonly input: Json;
      readonly key?: string | undefined;
      readonly deadlineAt?: number | undefined;
      /** The version that was asked for, where a newer one has begun it. */
      readonly from?: number | undefined;
      /** Who began it, and which generation of it, where it came from a store. */
      readonly pod?: string | undefined;
      readonly generation?: number | undefined;
      /** The task whose first records these were, up to a phase, where this one is a fork of it. */
      readonly forkedFrom?: { readonly task: string; readonly generation: number } | undefined;
      /** The trace context of whoever wanted it, as W3C writes it. */
      readonly trace?: string | undefined;
      /** What an earlier generation of it had finished, and the step to go on with. */
      readonly carried?:
        | { readonly step: string; readonly outputs: Readonly<Record<string, Json>> }
        | undefined;
    }
  /** Another process, or another life of this one, goes on with the run. */
  | {
      readonly type: 'TAKEN';
      readonly pod: string;
      /** After `cut` the attempt is still to be recorded as INTERRUPTED; `left` says all there is. */
      readonly interruption?: Interruption | undefined;
      /** By whoever gave it, the wait that the run stood in was over: its phase is what comes next. */
      readonly isDue?: true | undefined;
    }
  /** A newer version goes on with the run: its line begins with the phases on record. */
  | {
      readonly type: 'ADVANCED';
      readonly version: number;
      readonly fingerprint: string;
      /** As with TAKEN. */
      readonly interruption?: Interruption | undefined;
    }
  /** A newer version has carried the run over by its `upgrade`: what it is now begins with this. */
  | {
      readonly type: 'UPGRADED';
      readonly version: number;
      readonly fingerprint: string;
      /** The version that wrote the records before this one. */
      readonly from: number;
      readonly step: string;
      readonly input: Json;
      readonly outputs: Readonly<Record<string, Json>>;
    }
  | { readonly type: 'DONE'; readonly output?: Json | undefined }
  | { readonly type: 'HANDED_OFF'; readonly output: Json; readonly reason?: string | undefined }
  | { readonly type: 'FAILED'; readonly error: ErrorInfo; readonly dueAt: number }
  | {
      readonly type: 'POSTPONED';
      readonly reason: string;
      readonly dueAt: number;
      /** The API that had no room, or no permit, for it; undefined where the phase itself asked for it. */
      readonly api?: string | undefined;
      /** Since when it has wanted to call that API, over all postponements in a row. */
      readonly wantedAt?: number | undefined;
      /** How often in a row that API has refused it; left out where it never has. */
      readonly refusals?: number | undefined;
    }
  | { readonly type: 'PROBED' }
  /**
   * `isFree` where the process let go on purpose: no attempt is counted then. `isLast` where it was
   * the last attempt: `check` is asked once more, and the phase is not called again.
   */
  | {
      readonly type: 'INTERRUPTED';
      readonly error?: ErrorInfo;
      readonly isFree?: boolean;
      readonly isLast?: boolean;
    }
  | { readonly type: 'ASLEEP'; readonly dueAt: number }
  | { readonly type: 'EXHAUSTED'; readonly error: ErrorInfo }
  | { readonly type: 'ABORTED'; readonly reason: string; readonly kind: AbortKind }
  | { readonly type: 'TIMED_OUT'; readonly error: ErrorInfo }
  | { readonly type: 'CANCELLED'; readonly reason: string };

export type EventType = RunEvent['type'];

export const EVENT_TYPES: readonly EventType[] = [
  'STARTED',
  'TAKEN',
  'ADVANCED',
  'UPGRADED',
  'DONE',
  'HANDED_OFF',
  'FAILED',
  'POSTPONED',
  'PROBED',
  'INTERRUPTED',
  'ASLEEP',
  'EXHAUSTED',
  'ABORTED',
  'TIMED_OUT',
  'CANCELLED',
];
