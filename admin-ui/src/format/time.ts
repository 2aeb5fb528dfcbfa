/** Instants and spans as people read them. Pure: now is an argument. */
import { isoTime, zoneOffsetMs } from '../platform/clock.ts';
import { timeIn } from '../platform/zones.ts';

/** Or a zone by its name. */
export type Times = 'relative' | 'local' | 'utc' | `${string}/${string}`;

const UNITS: readonly (readonly [ms: number, sign: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** Never negative: clocks of two hosts differ. Two units at most. */
export function showSpan(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 1) return '0 ms';
  if (span < 1_000) return `${Math.round(span)} ms`;
  if (span < 60_000) return `${(Math.floor(span / 100) / 10).toFixed(span < 10_000 ? 1 : 0)} s`;
  const at = UNITS.findIndex(([size]) => span >= size);
  const [size, sign] = UNITS[at]!;
  const [next, nextSign] = UNITS[at + 1]!;
  const rest = Math.floor((span % size) / next);
  return `${Math.floor(span / size)} ${sign}${rest > 0 ? ` ${rest} ${nextSign}` : ''}`;
}

/** One unit, for lists. */
export function showAge(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 1_000) return 'now';
  const [size, sign] = UNITS.find(([each]) => span >= each)!;
  return `${Math.floor(span / size)} ${sign}`;
}

export function showInstant(at: number, how: Times, nowMs: number): string {
  if (how === 'relative') {
    const isPast = at <= nowMs;
    const span = Math.abs(nowMs - at);
    if (span < 1_000) return 'now';
    return isPast ? `${showAge(span)} ago` : `in ${showAge(span)}`;
  }
  const [day = '', clock = ''] = wallTime(at, how).split('T');
  const isToday = wallTime(nowMs, how).startsWith(day);
  return `${isToday ? '' : `${day} `}${clock.slice(0, 8)}${how === 'utc' ? ' Z' : ''}`;
}

/** To the millisecond, for logs. */
export function showClock(at: number, how: Times): string {
  return wallTime(at, how === 'relative' ? 'utc' : how).slice(11, 23);
}

/** What clocks show then, in the form of ISO 8601. */
export function wallTime(at: number, how: Exclude<Times, 'relative'>): string {
  if (how === 'utc') return isoTime(at);
  return how === 'local' ? isoTime(at - zoneOffsetMs(at)) : timeIn(how, at);
}
