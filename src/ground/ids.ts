/**
 * Run ids: ULIDs, ascending within one process even when the clock steps back. A run that came by a
 * plain INSERT may have a UUID. Either is 128 bits, and its trace has the same.
 */
import { monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type RunId = string & { readonly '~brand': 'RunId' };

export type MintRunId = () => RunId;

export function runIdMint(clock: Clock, random: Random): MintRunId {
  const ulid = monotonicFactory(() => random.fraction());
  return () => ulid(Math.max(0, Math.floor(clock.now()))) as RunId;
}

/** Crockford's alphabet, which has no I, L, O and U; 26 digits of it hold two bits too many. */
const RUN_ID =
  /^(?:[0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export function isRunId(text: string): text is RunId {
  return RUN_ID.test(text);
}
