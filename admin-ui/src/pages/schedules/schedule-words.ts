/** What is said of a schedule in a word or two, and where its runs are. */
import { plural, showCount } from '../../format/words.ts';
import type { Schedule } from '../../services/fleet-types.ts';

export type State = 'active' | 'paused' | 'removed' | 'unmanned' | 'trouble' | 'late';

/** A tick is put in within a heartbeat of its time: by then somebody should look. */
const LATE_MS = 30_000;

/** What matters most counts. */
export function stateOf(schedule: Schedule, now: number): State {
  if (schedule.status !== 'active') return schedule.status;
  if (schedule.isUnmanned) return 'unmanned';
  if (lateMsOf(schedule, now) > 0) return 'late';
  return schedule.trouble === undefined ? 'active' : 'trouble';
}

/** For how long its next tick should have been put in; 0 where it is not late. */
export function lateMsOf({ status, next: [tick] }: Schedule, now: number): number {
  if (status !== 'active' || tick === undefined) return 0;
  return now - tick > LATE_MS ? now - tick : 0;
}

export const STATE_LABEL: Record<State, string> = {
  active: 'Active',
  paused: 'Paused',
  removed: 'Removed',
  unmanned: 'No pod',
  trouble: 'In trouble',
  late: 'Late',
};

export const STATE_WHY: Record<State, string> = {
  active: 'Its ticks are put in when they are due.',
  paused: 'It has no ticks until somebody resumes it.',
  removed: 'It has no ticks, and code that declares it does not bring it back.',
  unmanned: 'No pod that is up has its machine: ticks wait until one has.',
  trouble: 'The last ticks were not put in, or not all.',
  late: 'Its next tick should have been put in by now.',
};

export const pathOf = (name: string): string => `/schedules/${encodeURIComponent(name)}`;

/** Each of its runs has a key that tells the schedule and the tick. */
export function runsOf(name: string): string {
  const filter = `key:${JSON.stringify(`schedule/${name}/*`)}`;
  return `/runs?q=${encodeURIComponent(filter)}`;
}

/** An instant as people of that zone see it; undefined where the browser knows no such zone. */
export function inZone(at: number, zone: string): string | undefined {
  try {
    const how = { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' } as const;
    return new Intl.DateTimeFormat('en-GB', how).format(at);
  } catch {
    return undefined;
  }
}

const MISSED: Readonly<Record<string, string>> = {
  one: 'the last one is put in later',
  skip: 'they are left out',
  all: 'each of them is put in later',
};

export const missedText = (missed: string): string => MISSED[missed] ?? missed;

/** What became of ticks while the run before had not ended. */
export function skippedText(skipped: number): string {
  return skipped === 0 ? 'no tick was left out' : `${plural(skipped, 'tick')} left out`;
}

export function saidBy({ source, revision }: Schedule): string {
  return source === 'code' ? `code, revision ${showCount(revision)}` : 'people';
}
