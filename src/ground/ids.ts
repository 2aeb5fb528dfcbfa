/**
 * Run ids: ULIDs, ascending within one process even when the clock steps back. A run that came by a
 * plain INSERT may have a UUID. Either is 128 bits, and its trace has the same.
 */
import { decodeTime, monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type RunId = string & { readonly '~brand': 'RunId' };

export type MintRunId = () => RunId;

export function runIdMint(clock: Clock, random: Random): MintRunId {
  const ulid = monotonicFactory(() => random.fraction());
  // From 1 on: the library takes 0 for no time at all, and would look at the real clock.
  return () => ulid(Math.max(1, Math.floor(clock.now()))) as RunId;
}

/** Crockford's alphabet, which has no I, L, O and U; 26 digits of it hold two bits too many. */
const RUN_ID =
  /^(?:[0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** A run's id in 26 characters: a ULID as it is, a UUID as one that begins with a small letter. */
export function shortId(run: string): string {
  if (run.length === SHORT_LENGTH) return run;
  let bits = BigInt(`0x${run.replaceAll('-', '')}`);
  let digits = '';
  while (digits.length < SHORT_LENGTH - 1) {
    digits = DIGITS[Number(bits & 31n)] + digits;
    bits >>= 5n;
  }
  return UUID_FIRST[Number(bits & 7n)] + digits;
}

/** The id that was made short like this; undefined where it is no such text. */
export function longId(short: string): RunId | undefined {
  if (short.length !== SHORT_LENGTH) return undefined;
  const first = UUID_FIRST.indexOf(short[0]!);
  if (first < 0) return isRunId(short) ? short : undefined;
  let bits = BigInt(first);
  for (const digit of short.slice(1)) {
    const value = DIGITS.indexOf(digit);
    if (value < 0) return undefined;
    bits = (bits << 5n) | BigInt(value);
  }
  const hex = bits.toString(16).padStart(32, '0');
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isRunId(uuid) ? uuid : undefined;
}

/** When the id was minted, by the clock of whoever did; a UUID does not tell. */
export function mintedAt(run: RunId): number | undefined {
  return run.length === SHORT_LENGTH ? decodeTime(run) : undefined;
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const UUID_FIRST = 'abcdefgh';
const SHORT_LENGTH = 26;

export function isRunId(text: string): text is RunId {
  return RUN_ID.test(text);
}
