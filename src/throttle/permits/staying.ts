/** Who may wait in line for longer than others, who are parked by then. */
import type { AcquireOptions } from '../caller.ts';
import type { ThrottlePolicy } from '../policy.ts';
import type { PermitPool } from './permit-pool.ts';
import { isAged, type Waiter } from './waiters.ts';

/** A costly call is saved up for in line for so long: a bucket of costs fills in 10 s. */
export const SAVES_MS_MAX = 30_000;
/** So long one call of a phase is waited for by its others, though calls last longer than any wait. */
const CALL_MS_MAX = 60_000;
const CALL_LATENCIES = 4;

export interface Patient extends Waiter {
  readonly cameMs: number;
  readonly isCalling: AcquireOptions['isCalling'];
}

/** Whoever has waited long and is next does not leave what is saved up for it to others. */
export function maySave({ cameMs, sinceMs, parkAtMs }: Patient, nowMs: number): boolean {
  return parkAtMs <= nowMs && isAged(sinceMs, nowMs) && nowMs - cameMs < SAVES_MS_MAX;
}

/** Parked, a phase would make those of its calls again that are out, and never come to an end. */
export function isOneOfMany({ isCalling }: Patient, pool: PermitPool, nowMs: number): boolean {
  const latencyMs = pool.latencies.quantile(0.5) ?? 0;
  return isCalling?.(nowMs - Math.max(CALL_MS_MAX, CALL_LATENCIES * latencyMs)) ?? false;
}

/** As long as any who comes now. */
export function staysUntilMs({ parkAfterMs }: ThrottlePolicy, nowMs: number): number {
  return nowMs + Math.max(1_000, parkAfterMs);
}
