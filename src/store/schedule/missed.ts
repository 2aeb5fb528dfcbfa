/**
 * Which ticks of a schedule that is due are put in, and which is the next. One that was seen in time is
 * just put in; of those that nobody saw in time, what the schedule says about missed ones is done.
 */
import { isoTime } from '../../ground/index.ts';
import { type Ticks, ticksOf } from './cron.ts';
import type { SchedulePlan } from './schedules.ts';

/** With `skip`, a tick that nobody has put in for so long is missed. */
export const LATE_MS = 60_000;
/** With `all`, so many are caught up on, and the older ones are left out. */
export const CATCH_UP_MAX = 500;
/** In one transaction. */
export const TICK_BATCH_MAX = 100;

export interface Turn {
  /** Those to be put in now, the oldest first. */
  readonly ticks: readonly number[];
  /** The last that this turn has dealt with, put in or left out. */
  readonly lastAt: number;
  /** May be due as well: then there is another turn. */
  readonly nextAt: number | undefined;
  /** Told where ticks were left out that should not be. */
  readonly trouble: string | undefined;
}

/** `nextAt` is a tick, and due. */
export function turnOf(
  plan: Pick<SchedulePlan, 'expression' | 'zone' | 'missed'>,
  nextAt: number,
  now: number,
): Turn {
  const ticks = ticksOf(plan.expression, plan.zone);
  switch (plan.missed) {
    case 'skip':
      return skipped(ticks, nextAt, now);
    case 'one':
      return lastOnly(ticks, nextAt, now);
    case 'all':
      return caughtUp(ticks, nextAt, now);
  }
}

function skipped(ticks: Ticks, nextAt: number, now: number): Turn {
  const first = now - nextAt <= LATE_MS ? nextAt : ticks.after(now - LATE_MS - 1);
  const { found, next } = walk(ticks, first, now, TICK_BATCH_MAX);
  return { ticks: found, lastAt: found.at(-1) ?? nextAt, nextAt: next, trouble: undefined };
}

/** The last one is looked for by halves: a year of minutes is gone through in forty steps. */
function lastOnly(ticks: Ticks, nextAt: number, now: number): Turn {
  let last = nextAt;
  // Between this and now there is none.
  let end = now;
  while (true) {
    const next = ticks.after(last);
    if (next === undefined || next > now)
      return { ticks: [last], lastAt: last, nextAt: next, trouble: undefined };
    const middle = next + Math.floor((end - next) / 2);
    const later = ticks.after(middle);
    const isLater = later !== undefined && later <= now;
    last = isLater ? later : next;
    if (!isLater) end = middle;
  }
}

function caughtUp(ticks: Ticks, nextAt: number, now: number): Turn {
  const { found, next } = walk(ticks, nextAt, now, CATCH_UP_MAX);
  const isTooMany = next !== undefined && next <= now;
  const kept = isTooMany ? newest(ticks, nextAt, found, now) : found;
  const trouble = isTooMany
    ? `more than ${CATCH_UP_MAX} ticks were missed since ${isoTime(nextAt)}: ` +
      `those before ${isoTime(kept[0]!)} were left out`
    : undefined;
  const batch = kept.slice(0, TICK_BATCH_MAX);
  const lastAt = batch.at(-1)!;
  return { ticks: batch, lastAt, nextAt: ticks.after(lastAt), trouble };
}

/** As many of the last ones as may be, from where they would begin if they all were as far apart. */
function newest(
  ticks: Ticks,
  nextAt: number,
  found: readonly number[],
  now: number,
): readonly number[] {
  const apartMs = (found.at(-1)! - nextAt) / (found.length - 1);
  const from = Math.max(found.at(-1)!, now - apartMs * CATCH_UP_MAX);
  const late = walk(ticks, ticks.after(from), now, 2 * CATCH_UP_MAX).found;
  return (late.length > 0 ? late : found).slice(-CATCH_UP_MAX);
}

/** The ticks from the first on that are due, and the one after them. */
function walk(
  ticks: Ticks,
  first: number | undefined,
  now: number,
  countMax: number,
): { readonly found: number[]; readonly next: number | undefined } {
  const found: number[] = [];
  let next = first;
  while (next !== undefined && next <= now && found.length < countMax) {
    found.push(next);
    next = ticks.after(next);
  }
  return { found, next };
}
