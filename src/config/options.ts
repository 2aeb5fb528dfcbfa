/** Options of the public API, checked where they are given: a wrong one is a TypeError in words. */
import { type Duration, parseDuration, show } from '../ground/index.ts';

export const KEY_LENGTH_MAX = 512;

/** Of runs that schedules put in: nobody else's task may stand in the place of a tick. */
export const SCHEDULE_KEYS = 'schedule/';

/** What a key or a name must be and is not; undefined where nothing is wrong with it. */
export function faultOfKey(key: unknown): string | undefined {
  if (typeof key !== 'string' || key.length === 0 || key.length > KEY_LENGTH_MAX)
    return `must be text of 1 to ${KEY_LENGTH_MAX} characters`;
  return isStorable(key) ? undefined : 'must be text without NUL and halves of surrogate pairs';
}

/** Whether it comes out of a store as it went in: NUL does not, nor does half of a character. */
export function isStorable(text: string): boolean {
  // Node has it since 20; the types that we compile against do not.
  const isWhole = (text as string & { isWellFormed(): boolean }).isWellFormed();
  return isWhole && !text.includes('\0');
}

/** The same of a task's key, which has to leave those of schedules alone. */
export function faultOfTaskKey(key: unknown): string | undefined {
  const isTaken = typeof key === 'string' && key.startsWith(SCHEDULE_KEYS);
  return isTaken
    ? `must not begin with ${SCHEDULE_KEYS}, as those of runs that schedules put in do`
    : faultOfKey(key);
}

export function keyOption(key: unknown, name = 'key'): string | undefined {
  return checkedKey(key, name, faultOfKey);
}

export function taskKeyOption(key: unknown, name = 'key'): string | undefined {
  return checkedKey(key, name, faultOfTaskKey);
}

function checkedKey(
  key: unknown,
  name: string,
  faultOf: (key: unknown) => string | undefined,
): string | undefined {
  const fault = key === undefined ? undefined : faultOf(key);
  if (fault !== undefined) throw new TypeError(`${name} ${fault}, got ${show(key)}`);
  return key as string | undefined;
}

export function countOption(name: string, value: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from 1 to ${max}, got ${show(value)}`);
}

/** The duration's milliseconds. */
export function durationOption(name: string, value: Duration): number {
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw new TypeError(`${name} must be a duration such as '30s' or '7d', got ${show(value)}`);
}

const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** As W3C writes it. */
export function traceParentOption(value: unknown, name = 'traceParent'): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && TRACE_PARENT.test(value)) return value;
  throw new TypeError(`${name} must be like 00-<32 hex digits>-<16>-01, got ${show(value)}`);
}
