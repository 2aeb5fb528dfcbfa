/**
 * Times as people type them, and back. A duration is an age: `<2h` is less than two hours ago, `>2h`
 * more than that. A date or a time stands for all of the day, minute or second that it names, so that
 * `..2026-11-05` includes the fifth. Where no zone is said it is UTC. `+2h` is ahead of now.
 */
import { isoTime } from '../ground/index.ts';
import type { When } from './filter.ts';

export interface TimeSpan {
  readonly from: When | undefined;
  readonly until: When | undefined;
}

export const TIME_WANTED =
  'an age such as <2h or >7d (s, m, h, d, w), a day such as 2026-11-01, ' +
  'or a span such as 2h..1h or 2026-11-01..2026-11-05T10:00Z';

const UNITS_MS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
const AGE_MS_MAX = 10 * 365 * UNITS_MS.d;
/** The first instant of the year 9999: what comes later has no date of ten characters. */
const AT_MAX = 253_370_764_800_000;

/** So long ago, or ahead where it is negative; or everything from one instant to before another. */
type Named =
  | { readonly agoMs: number; readonly isAge: boolean }
  | { readonly from: number; readonly until: number };

/** Undefined where it is none, or where nothing could be in it. */
export function parseTimes(text: string): TimeSpan | undefined {
  const span = spanOf(text);
  return span && [span.from, span.until].every(isWithin) && !isEmpty(span) ? span : undefined;
}

function spanOf(text: string): TimeSpan | undefined {
  const dots = text.indexOf('..');
  if (dots >= 0) return rangeOf(text.slice(0, dots), text.slice(dots + 2));
  const sign = /^[<>]=?/.exec(text)?.[0] ?? '';
  const named = nameOf(text.slice(sign.length));
  if (!named) return undefined;
  if (sign === '') return 'agoMs' in named ? undefined : between(named.from, named.until);
  if ('agoMs' in named) {
    const when = { agoMs: named.agoMs };
    // Less of an age is later.
    return (sign[0] === '<') === named.isAge ? since(when) : before(when);
  }
  switch (sign) {
    case '<':
      return before({ at: named.from });
    case '<=':
      return before({ at: named.until });
    case '>':
      return since({ at: named.until });
    default:
      return since({ at: named.from });
  }
}

function rangeOf(first: string, last: string): TimeSpan | undefined {
  const [from, until] = [first, last].map((text) => (text === '' ? 'open' : nameOf(text)));
  if (!from || !until) return undefined;
  return {
    from: from === 'open' ? undefined : 'agoMs' in from ? agoOf(from) : { at: from.from },
    until: until === 'open' ? undefined : 'agoMs' in until ? agoOf(until) : { at: until.until },
  };
}

const agoOf = ({ agoMs }: { readonly agoMs: number }): When => ({ agoMs });
const since = (from: When): TimeSpan => ({ from, until: undefined });
const before = (until: When): TimeSpan => ({ from: undefined, until });
const between = (from: number, until: number): TimeSpan => ({
  from: { at: from },
  until: { at: until },
});

function isWithin(when: When | undefined): boolean {
  if (when === undefined) return true;
  if ('agoMs' in when) return Math.abs(when.agoMs) <= AGE_MS_MAX;
  return when.at >= 0 && when.at <= AT_MAX;
}

function isEmpty({ from, until }: TimeSpan): boolean {
  if (from === undefined || until === undefined) return from === until;
  if ('at' in from && 'at' in until) return from.at >= until.at;
  return 'agoMs' in from && 'agoMs' in until && from.agoMs <= until.agoMs;
}

function nameOf(text: string): Named | undefined {
  if (text === 'now') return { agoMs: 0, isAge: false };
  const [, plus, count, unit] = /^(\+?)(\d{1,12})(ms|s|m|h|d|w)$/.exec(text) ?? [];
  if (unit === undefined) return dateOf(text);
  const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return plus === '' || ms === 0 ? { agoMs: ms, isAge: plus === '' } : { agoMs: -ms, isAge: false };
}

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/i;

function dateOf(text: string): Named | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const at =
    Date.UTC(year!, month! - 1, day, hour, minute, second) +
    Number((match[7] ?? '').padEnd(3, '0'));
  // A thirtieth of February would quietly become another day. Years below 100 do, too.
  const said = [match[4] ?? '00', match[5] ?? '00', match[6] ?? '00'].join(':');
  const isReal = isoTime(at).startsWith(`${match[1]}-${match[2]}-${match[3]}T${said}`);
  const [zoneHour, zoneMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (!isReal || zoneHour > 23 || zoneMinute > 59) return undefined;
  const zoneMs = zoneHour * UNITS_MS.h + zoneMinute * UNITS_MS.m;
  const from = match[8] === '-' ? at + zoneMs : at - zoneMs;
  return { from, until: from + unitOf(match) };
}

function unitOf(match: RegExpExecArray): number {
  if (match[7] !== undefined) return UNITS_MS.ms;
  if (match[6] !== undefined) return UNITS_MS.s;
  return match[4] === undefined ? UNITS_MS.d : UNITS_MS.m;
}

export function showTimes({ from, until }: TimeSpan): string {
  if (from === undefined) return until === undefined ? '' : showOne(until, '>', '<');
  if (until === undefined) return showOne(from, '<', '>=');
  const [first, last] = [showWhen(from), 'at' in until ? showLast(until.at) : showWhen(until)];
  const isOne = 'at' in from && 'at' in until && until.at - from.at === unitAt(until.at);
  return isOne ? last : `${first}..${last}`;
}

function showOne(when: When, ofAge: string, ofTime: string): string {
  const isAge = 'agoMs' in when && when.agoMs > 0;
  return `${isAge ? ofAge : ofTime}${showWhen(when)}`;
}

function showWhen(when: When): string {
  if ('at' in when) return dateText(when.at, unitAt(when.at));
  if (when.agoMs === 0) return 'now';
  const ms = Math.abs(when.agoMs);
  const [unit, size] = Object.entries(UNITS_MS).find(([, size]) => ms % size === 0)!;
  return `${when.agoMs < 0 ? '+' : ''}${ms / size}${unit}`;
}

/** The day, minute, second or millisecond that ends here. */
function showLast(until: number): string {
  return dateText(until - unitAt(until), unitAt(until));
}

/** The largest that begins, and so also ends, at this instant. */
function unitAt(at: number): number {
  return [UNITS_MS.d, UNITS_MS.m, UNITS_MS.s].find((unit) => at % unit === 0) ?? UNITS_MS.ms;
}

function dateText(at: number, unit: number): string {
  const text = isoTime(at);
  switch (unit) {
    case UNITS_MS.d:
      return text.slice(0, 10);
    case UNITS_MS.m:
      return `${text.slice(0, 16)}Z`;
    case UNITS_MS.s:
      return `${text.slice(0, 19)}Z`;
    default:
      return text;
  }
}
