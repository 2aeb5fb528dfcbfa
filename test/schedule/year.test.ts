/**
 * A year of schedules in five zones, with pods that come up at each tick, race, and die before or after
 * what they do: each tick is put in, and none twice. What the ticks are is found without croner.
 */
import { expect, test } from 'vitest';
import { StoreUnreachableError } from '../../src/store/errors.ts';
import type { Way } from '../../src/store/memory/memory-store.ts';
import { ticksByWalking } from './oracle.ts';
import { Stage } from './stage.ts';

const ZONES = [
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Africa/Casablanca',
  'Europe/Berlin',
  'Asia/Kathmandu',
];
const EXPRESSIONS = [
  '15 2 * * *',
  '45 1 * * *',
  '0 */12 * 2-4,10 *',
  '*/20 1-3 * * 0',
  '0 9 * 3,10 1-5',
  '30 0 L * *',
  '10 3 13 * 5',
];
const LATE_MS_MAX = 50_000;

/** The process dies with its last call: before it arrives, or before its answer does. */
function dying(how: 'before' | 'after'): Way {
  return async (verb, act) => {
    if (verb !== 'tickSchedule') return act();
    if (how === 'after') act();
    throw new StoreUnreachableError('this process is dead');
  };
}

test('in a year of five zones no tick is missed and none is double, whoever dies at it', async () => {
  const stage = new Stage('2025-12-31T23:59:30Z');
  const [from, until] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];
  for (const [zoneAt, zone] of ZONES.entries())
    for (const [at, expression] of EXPRESSIONS.entries())
      await stage.set(`s${zoneAt}.${at}`, { zone, expression, missed: 'skip' });
  const ticked = new Map<string, number[]>();
  let [deaths, races] = [0, 0];
  while (true) {
    const { nextMs } = await stage.store.dueSchedules(['report'], 1);
    if (nextMs === undefined || stage.ms + nextMs >= until) break;
    stage.ms += nextMs + Math.floor(stage.random.fraction() * LATE_MS_MAX);
    const fate = Math.floor(stage.random.fraction() * 8);
    if (fate < 2) {
      deaths += 1;
      await stage
        .pod(dying(fate === 0 ? 'before' : 'after'))
        .turn()
        .catch(() => undefined);
    }
    if (fate === 2) races += 1;
    await Promise.all([stage.pod().turn(), ...(fate === 2 ? [stage.pod().turn()] : [])]);
    for (const { schedule, tick } of stage.taken())
      ticked.set(schedule, [...(ticked.get(schedule) ?? []), tick]);
  }
  for (const [zoneAt, zone] of ZONES.entries()) {
    const wanted = ticksByWalking(EXPRESSIONS, zone, from, until);
    for (const [at, expression] of EXPRESSIONS.entries()) {
      const got = (ticked.get(`s${zoneAt}.${at}`) ?? []).filter((tick) => tick < until);
      expect(got.map(iso), `${expression} in ${zone}`).toEqual(wanted[at]!.map(iso));
    }
  }
  expect(Math.min(deaths, races)).toBeGreaterThan(300);
}, 300_000);

const iso = (ms: number) => new Date(ms).toISOString();
