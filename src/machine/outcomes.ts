/**
 * What a phase may say besides returning or throwing. The verdicts are recognised by a registered
 * symbol and not by class, since a machine and the engine may have loaded two copies of FleetQ.
 */
import { type Duration, FleetqError, parseDuration, show } from '../ground/index.ts';
import type { Handoff } from './types.ts';

const VERDICT = Symbol.for('fleetq.verdict');

export type AbortKind = 'user' | 'system';

/** The step ends in success with this output, and the run shows that it was handed off, and why. */
export function handoff<O>(output: O, reason?: string): Handoff<O> {
  return { kind: 'handoff', output, reason, [VERDICT]: 'handoff' } as Handoff<O>;
}

/** `undefined` by a better name, for `hit ? handoff(…) : proceed`. */
export const proceed: undefined = undefined;

/** Ends the run for good: `user` where the request is at fault, `system` where we are. */
export function abort(reason: string, options: { readonly kind?: AbortKind } = {}): never {
  throw new Aborted(reason, options.kind ?? 'system');
}

/** Waits without blaming anybody: no attempt is counted. Bounded by the run's deadline only. */
export function retryAfter(delay: Duration, reason: string): never {
  const delayMs = parseDuration(delay);
  if (delayMs === undefined) {
    throw new TypeError(`retryAfter wants a duration such as '30s', got ${show(delay)}`);
  }
  throw new Postponed(reason, delayMs);
}

export class Aborted extends FleetqError {
  readonly code = 'FLEETQ_ABORTED';
  readonly verdict = 'abort';
  readonly [VERDICT] = 'abort';
  readonly reason: string;
  readonly kind: AbortKind;
  constructor(reason: string, kind: AbortKind) {
    super(`aborted: ${reason}`);
    this.reason = reason;
    this.kind = kind;
  }
}

export class Postponed extends FleetqError {
  readonly code = 'FLEETQ_POSTPONED';
  readonly verdict = 'retry';
  readonly [VERDICT] = 'retryAfter';
  readonly reason: string;
  readonly delayMs: number;
  constructor(reason: string, delayMs: number) {
    super(`postponed for ${delayMs} ms: ${reason}`);
    this.reason = reason;
    this.delayMs = delayMs;
  }
}

export function isHandoff(value: unknown): value is Handoff<unknown> {
  return verdictOf(value) === 'handoff';
}
export function isAborted(thrown: unknown): thrown is Aborted {
  return verdictOf(thrown) === 'abort';
}
export function isPostponed(thrown: unknown): thrown is Postponed {
  return verdictOf(thrown) === 'retryAfter';
}

function verdictOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as { [VERDICT]?: unknown })[VERDICT];
  } catch {
    return undefined;
  }
}
