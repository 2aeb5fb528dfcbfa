/** Who calls an API: a phase of a run, or somebody outside of any. */
import type { CallPriority } from '../machine/index.ts';
import type { Postponement } from './answers/postponement.ts';
import type { HeldPermit } from './call-permit.ts';

export interface Caller {
  readonly signal?: AbortSignal | undefined;
  /** It has been refused before: its calls are retries. */
  readonly isRetry: boolean;
  /** How often in a row it was refused. */
  readonly refusals: number;
  /** Since when it has wanted to call, by the monotonic clock, where it was parked since. */
  readonly sinceMs?: number | undefined;
  /** Of the run that calls, if it is one. */
  readonly route?: string | undefined;
  /** Told when a wait for leave to call begins, and how long it took once it is over. */
  readonly waits?: { begun(): void; over(ms: number): void } | undefined;
  /** What it has in hand and has not given back. */
  readonly held?: Set<HeldPermit> | undefined;
  /** Its calls that are out. */
  readonly calls?: Set<HeldPermit> | undefined;
  /** How each of its calls that wait for leave goes home, when it has ended. */
  readonly leaves?: Set<() => void> | undefined;
  /** Told where it says itself that there was no room. */
  readonly refused?: ((noRoom: Postponement) => void) | undefined;
  /** Whether it has ended: nobody is left to give anything back. */
  readonly isOver?: (() => boolean) | undefined;
}

/** What it asks for. */
export interface AcquireOptions {
  readonly priority: CallPriority;
  readonly cost: number;
  readonly signal?: AbortSignal | undefined;
  /** Of the run that calls. */
  readonly route?: string | undefined;
  /** Since when it has wanted to call, where it was parked since. */
  readonly sinceMs?: number | undefined;
  /** Where to say how it leaves the line, once nobody is there any more who would call. */
  readonly leaves?: Set<() => void> | undefined;
  /** Whether a call of the same API by the same phase is out that began since then. */
  readonly isCalling?: ((sinceMs: number) => boolean) | undefined;
}
