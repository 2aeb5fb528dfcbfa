/**
 * Holds what `fleetq plan` foretold of each run against what became of it: its row, its records, and an
 * outside ledger of every call. Whatever does not agree is told, run by run.
 */
import type { PlannedRun } from '../../src/cli/fleet/plan-runs.ts';
import type { StoredRecord } from '../../src/journal/index.ts';
import type { TaskRow } from '../../src/store/index.ts';

export interface Came {
  readonly row: TaskRow;
  readonly records: readonly StoredRecord[];
}

/** A line of the ledger: `end` is written where the phase returned. */
export interface Call {
  readonly what: 'begin' | 'halt' | 'end';
  readonly place: string;
  readonly code: string;
}

export interface Seen {
  readonly ids: readonly string[];
  readonly foretold: readonly PlannedRun[];
  readonly came: ReadonlyMap<string, Came>;
  readonly calls: ReadonlyMap<string, readonly Call[]>;
}

export interface Disagreement {
  readonly run: string;
  readonly what: string;
}

export function readLedger(text: string): Map<string, Call[]> {
  const calls = new Map<string, Call[]>();
  for (const line of text.split('\n')) {
    const [what, run, place, code] = line.split(' ');
    if (what === undefined || run === undefined || place === undefined) continue;
    const call = { what: what as Call['what'], place, code: code ?? '' };
    const known = calls.get(run);
    if (known) known.push(call);
    else calls.set(run, [call]);
  }
  return calls;
}

export function disagreements({ ids, foretold, came, calls }: Seen): Disagreement[] {
  const found: Disagreement[] = [];
  const lines = new Map<string, PlannedRun>();
  for (const line of foretold) {
    if (lines.has(line.run)) found.push({ run: line.run, what: 'foretold twice' });
    lines.set(line.run, line);
  }
  for (const run of ids) if (!lines.has(run)) found.push({ run, what: 'not foretold' });
  const wanted = new Set(ids);
  for (const line of lines.values()) {
    const { run } = line;
    const is = came.get(run);
    if (!wanted.has(run) || !is) found.push({ run, what: 'foretold, and not there' });
    else for (const what of against(line, is, calls.get(run) ?? [])) found.push({ run, what });
  }
  return found;
}

function against(foretold: PlannedRun, came: Came, calls: readonly Call[]): string[] {
  const line = expected(foretold, calls);
  return [
    ...againstPast(line, came),
    ...againstFate(line, came, calls),
    ...againstCalls(line, came, calls),
  ];
}

/** As it was foretold for a run whose phase was done, or was not, before its pod had ended. */
function expected(line: PlannedRun, calls: readonly Call[]): PlannedRun {
  const isDone =
    line.status === 'claimed' &&
    calls.some(({ what, place, code }) => what === 'end' && place === line.at && code === 'v1');
  if (!isDone || !line.ifDone) return line;
  return { ...line, resumesAt: undefined, to: line.version, ...line.ifDone };
}

/** What was on record when it was foretold is there, and the row stood where it was said to. */
function againstPast({ records: count, at }: PlannedRun, { records }: Came): string[] {
  const state = count === 0 ? '' : records[count - 1]?.state;
  return state === at ? [] : [`foretold at ${at}, and record ${count - 1} is at ${state}`];
}

function againstFate(line: PlannedRun, came: Came, calls: readonly Call[]): string[] {
  const { row, records } = came;
  const is = fateOf(came);
  const wrong: string[] = [];
  const say = (isWrong: boolean, text: string) => isWrong && wrong.push(text);
  if (line.isTried === false && is === 'blocked') return wrong;
  const fate = line.fate === 'ends' ? 'continues' : line.fate;
  say(is !== fate, `foretold that it ${line.fate}, and it ${is}`);
  const to = line.fate === 'blocked' ? line.version : line.to;
  say(row.version !== to, `foretold under version ${to}, and it is under ${row.version}`);
  if (line.fate === 'blocked') {
    say(
      calls.some(({ code }) => code === 'v2'),
      'blocked, and new code has called it',
    );
    say((line.reason ?? '') === '', 'blocked without a reason');
  }
  const step = resumedAt(records);
  const isTold = line.isTried !== false;
  say(
    isTold && line.resumesAt !== step,
    `foretold to go on at ${line.resumesAt}, and it did at ${step}`,
  );
  return wrong;
}

/** By its row and its records alone. */
function fateOf({ row, records }: Came): string {
  if (row.status === 'waiting' || row.status === 'pending') return 'blocked';
  if (row.status !== 'completed') return row.status;
  const kinds = records.map(({ event }) => event.type);
  const first = records[0]?.event;
  const from = first?.type === 'STARTED' ? first.from : undefined;
  if (kinds.filter((kind) => kind === 'ADVANCED' || kind === 'UPGRADED').length > 1) return 'moved';
  if (kinds.includes('UPGRADED') || (from !== undefined && isCarried(first))) return 'upgrades';
  return kinds.includes('ADVANCED') || from !== undefined ? 'advances' : 'continues';
}

function isCarried(first: StoredRecord['event'] | undefined): boolean {
  return first?.type === 'STARTED' && first.carried !== undefined;
}

/** The step with which an upgrade went on. */
function resumedAt(records: readonly StoredRecord[]): string | undefined {
  const first = records[0]?.event;
  const moved = records.find(({ event }) => event.type === 'UPGRADED')?.event;
  if (moved?.type === 'UPGRADED') return moved.step;
  return first?.type === 'STARTED' ? first.carried?.step : undefined;
}

const REPEATED = /\.(work|persist)$/;

/**
 * A phase that returned is never called again. One that was cut off is, once, by the new code, after it
 * was asked about: and exactly those were foretold.
 */
function againstCalls(line: PlannedRun, { records }: Came, calls: readonly Call[]): string[] {
  const wrong: string[] = [];
  const isUpgraded = line.fate === 'upgrades';
  const places = new Set(calls.map(({ place }) => place).filter((place) => REPEATED.test(place)));
  for (const place of places) {
    const of = (what: Call['what'], code: string) =>
      calls.filter((call) => call.place === place && call.what === what && call.code === code);
    const [began, ended, again] = [of('begin', 'v1'), of('end', 'v1'), of('begin', 'v2')];
    // An upgrade may begin a step of that name anew: what it goes on with is looked at elsewhere.
    if (isUpgraded) continue;
    if (ended.length > 0 && again.length > 0) wrong.push(`${place} had returned, and was repeated`);
    const wasCut = began.length > ended.length && !wasParked(records, place);
    if (wasCut && line.repeats !== place && line.fate !== 'blocked') {
      wrong.push(`${place} was cut off, and foretold was ${line.repeats ?? 'no repeat'}`);
    }
    if (wasCut && line.repeats === place && again.length !== 1) {
      wrong.push(`${place} was cut off, and called ${again.length} times by the new code`);
    }
    if (wasCut && line.fate !== 'blocked' && !isProbed(records, place)) {
      wrong.push(`${place} was cut off, and not asked about`);
    }
  }
  const { repeats } = line;
  const isBegun = calls.some(
    ({ what, place, code }) => what === 'begin' && place === repeats && code === 'v1',
  );
  if (repeats !== undefined && !(isBegun && repeats === line.at)) {
    wrong.push(`foretold to repeat ${repeats}, and it was not inside of that`);
  }
  return wrong;
}

function wasParked(records: readonly StoredRecord[], place: string): boolean {
  return records.some(({ event, state }) => event.type === 'POSTPONED' && state === place);
}

function isProbed(records: readonly StoredRecord[], place: string): boolean {
  return records.some(({ event, state }) => event.type === 'PROBED' && state === place);
}
