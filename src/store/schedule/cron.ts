/**
 * Cron expressions: when a schedule ticks. Five fields or a nickname, so never more than once a minute,
 * read in a time zone that has a name. Croner does the counting, over daylight saving too:
 *
 *                        the clock leaps over it             the clock shows it twice
 *   one minute, one hour  at the first instant after the gap  once, the first time
 *   anything else         not on that day                     both times
 */
import { Cron } from 'croner';
import { dateOf, show } from '../../ground/index.ts';
import { ScheduleError } from './errors.ts';

export const EXPRESSION_LENGTH_MAX = 100;
const ZONE_LENGTH_MAX = 64;
const FIELDS = 5;
const NICKNAMES = [
  ...['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'],
];
const EXPRESSION_HINT =
  'write minute, hour, day of the month, month and day of the week, like "30 2 * * 1-5", ' +
  'or @hourly, @daily, @weekly, @monthly, @yearly';

export interface Ticks {
  /** The first tick after this instant; undefined where there is none any more. */
  after(ms: number): number | undefined;
}

/** To read one takes as long as to find its next tick, and the same few are asked for again and again. */
const known = new Map<string, Ticks>();
const KNOWN_MAX = 1_000;

/** Throws where the expression or the zone is none. */
export function ticksOf(expression: string, zone: string): Ticks {
  const name = `${zone} ${expression}`;
  const found = known.get(name);
  if (found) return found;
  const cron = cronOf(expressionOf(expression), zoneOf(zone));
  const ticks: Ticks = { after: (ms) => cron.nextRun(dateOf(ms))?.getTime() };
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(name, ticks);
  return ticks;
}

function expressionOf(given: unknown): string {
  const refuse = (what: string) => {
    throw new ScheduleError(`the cron expression ${what}`, { hint: EXPRESSION_HINT });
  };
  if (typeof given !== 'string' || given.trim() === '') refuse(`must be text, got ${show(given)}`);
  const text = String(given);
  if (text.length > EXPRESSION_LENGTH_MAX)
    refuse(`has ${text.length} characters; ${EXPRESSION_LENGTH_MAX} are the most`);
  const fields = text.trim().split(/\s+/);
  const isNickname = fields.length === 1 && NICKNAMES.includes(fields[0]!.toLowerCase());
  if (fields.length === FIELDS + 1)
    refuse(`${show(text)} has seconds, or years; a schedule ticks once a minute at most`);
  if (fields.length !== FIELDS && !isNickname)
    refuse(`${show(text)} must have ${FIELDS} fields, and has ${fields.length}`);
  return fields.join(' ');
}

function cronOf(expression: string, timezone: string): Cron {
  try {
    return new Cron(expression, { timezone, mode: '5-part', paused: true });
  } catch (error) {
    const why = String((error as Error).message).replace(/^CronPattern: /, '');
    throw new ScheduleError(`the cron expression ${show(expression)} makes no sense: ${why}`, {
      hint: EXPRESSION_HINT,
      cause: error,
    });
  }
}

/** By name, since an offset knows nothing of daylight saving; and by one that this process knows. */
function zoneOf(zone: unknown): string {
  const isName =
    typeof zone === 'string' && /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone) && isKnown(zone);
  if (isName) return zone;
  throw new ScheduleError(`there is no time zone ${show(zone)}`, {
    hint: 'use a name such as Europe/Berlin, America/New_York or UTC',
  });
}

function isKnown(zone: string): boolean {
  if (zone.length > ZONE_LENGTH_MAX) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
