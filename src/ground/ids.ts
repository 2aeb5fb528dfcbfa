/** Run ids: ULIDs, ascending within one process even when the clock steps back. */
import { isValid, monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type RunId = string & { readonly '~brand': 'RunId' };

export type MintRunId = () => RunId;

export function runIdMint(clock: Clock, random: Random): MintRunId {
  const ulid = monotonicFactory(() => random.fraction());
  return () => ulid(Math.max(0, Math.floor(clock.now()))) as RunId;
}

export function isRunId(text: string): text is RunId {
  return isValid(text);
}
