/** What handlers see of a throttle: leave to call an external API, and how that API is doing. */
import type { Awaitable } from './types.ts';

/** Higher first. `retry` is where a run is that has been refused before; nobody has to say it. */
export type CallPriority = 'control' | 'high' | 'retry' | 'normal' | 'low';

export interface UseOptions {
  readonly priority?: CallPriority | undefined;
  /** Besides the phase's own: whoever aborts it gives the wait up. */
  readonly signal?: AbortSignal | undefined;
  /** What the call costs, in the units of the throttle's `costPerMinute`: such as tokens. 1 by default. */
  readonly cost?: number | undefined;
}

export type CallOutcomeKind =
  | 'ok'
  | 'throttled'
  | 'timeout'
  | 'overload'
  | 'failure'
  | 'client'
  | 'cancelled'
  | 'ignored';

/** Leave to make one call. Give it back in whatever way the call ends. */
export interface CallPermit {
  /** Without a word the call went well. Only the first time counts. */
  release(
    outcome?:
      | CallOutcomeKind
      | {
          readonly kind: CallOutcomeKind;
          readonly retryAfterMs?: number | undefined;
          readonly cost?: number | undefined;
        },
  ): void;
  /** Says what this error means for the API, and gives the permit back accordingly. */
  fail(error: unknown): void;
  /** Without a word: nothing is learned from the call. */
  [Symbol.dispose](): void;
}

/**
 * Calls that were sent in the last seconds, by how they ended. What `sent` has beyond the others together
 * is still out.
 */
export interface CallWindow {
  readonly seconds: number;
  readonly sent: number;
  readonly ok: number;
  readonly throttled: number;
  readonly timedOut: number;
  readonly failed: number;
  /** Calls that were wrong or given up, and whatever else says nothing of the API. */
  readonly other: number;
}

export interface ThrottleSnapshot {
  readonly api: string;
  readonly law: string;
  /** Calls that may be out at once now. */
  readonly limit: number;
  /** Whether the limit is found out; else it is what is declared. In a fleet, as the leader has it. */
  readonly isAdaptive: boolean;
  /** What was found to go well, where anything was. */
  readonly learned: number | undefined;
  /** What the fleet may have out together, and how many pods share it; `limit` is this one's share. */
  readonly fleet: { readonly cap: number; readonly pods: number } | undefined;
  readonly inFlight: number;
  /** Permits of refused calls that are held back for a moment. */
  readonly cooling: number;
  readonly waiting: number;
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** For so long the API wants to be left alone. */
  readonly pausedMs: number;
  readonly latencyMs: { readonly p50: number | undefined; readonly p95: number | undefined };
  /** Calls by how they ended, since the process began. */
  readonly ended: Readonly<Record<CallOutcomeKind, number>>;
  readonly last10s: CallWindow;
  readonly last60s: CallWindow;
  /** How it is, as a sentence. */
  readonly state: string;
}

export interface ThrottleHandle {
  /** What `call` gives, unless that is a refusal: for want of room, this throws. */
  readonly use: <T>(call: () => Awaitable<T>, options?: UseOptions) => Promise<T>;
  readonly acquire: (options?: UseOptions) => Promise<CallPermit>;
  /** Nothing where there is no leave now. */
  readonly tryAcquire: (options?: UseOptions) => CallPermit | undefined;
  /** `fetch`, with the permit held until the body has been read; throws where the API has no room. */
  readonly fetch: (
    url: string | URL | Request,
    init?: RequestInit,
    options?: UseOptions,
  ) => Promise<Response>;
  readonly snapshot: () => ThrottleSnapshot;
}
