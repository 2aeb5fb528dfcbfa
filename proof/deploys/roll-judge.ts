/**
 * Holds what handlers did, by the ledgers outside, against what the store has on record of each run: the
 * same phases, of the same versions, in the same order, each once. And no run is any worse for having been
 * deployed: no attempt, no crash, no failure.
 */
import { rowsOf } from '../../src/fleet/history.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import type { PastRecord } from '../../src/machine/index.ts';
import type { Code } from './roll-pod.ts';
import { hasRoute, MAY_BEGIN, MOVES, nameOf, type Route } from './roll-rules.ts';
import type { EndedTask } from './roll-tables.ts';

/** One call of a handler, as its code has told it. */
export interface RollLine {
  readonly task: string;
  readonly machine: string;
  readonly version: number;
  readonly code: Code;
  readonly step: string;
  readonly phase: string;
  readonly attempt: number;
  readonly fencingToken: number;
  readonly at: number;
}

export type Rule = 'lost' | 'repeated' | 'wrong definition' | 'unrecorded' | 'punished' | 'drain';

export interface Fault {
  readonly rule: Rule;
  readonly what: string;
}

/** What became of a run, for the counts. */
export interface Fate {
  readonly moves: readonly ('ADVANCED' | 'UPGRADED')[];
  /** Phases of it were run from both directories of code. */
  readonly isOfBoth: boolean;
  readonly faults: readonly Fault[];
}

/** Records that say that an attempt was spent. */
const SPENT = ['INTERRUPTED', 'FAILED', 'EXHAUSTED', 'TIMED_OUT', 'ABORTED', 'POSTPONED'];

export function judgeRun(asked: Route, task: EndedTask, lines: readonly RollLine[]): Fate {
  const faults: Fault[] = [];
  const fault = (rule: Rule, what: string) =>
    void faults.push({ rule, what: `${nameOf(asked)} ${task.id}: ${what}` });
  const isOfBoth = new Set(lines.map(({ code }) => code)).size === 2;
  if (task.status !== 'completed') {
    fault(task.status === 'failed' ? 'punished' : 'lost', `is ${task.status}: ${task.error}`);
    return { moves: [], isOfBoth, faults };
  }
  if (task.retries + task.crashes > 0) {
    fault('punished', `has ${task.retries} retries and ${task.crashes} crashes`);
  }
  const records = recordsOf(task);
  const spent = records.find(({ event }) => SPENT.includes(event.type));
  if (spent) fault('punished', `record ${spent.seq} is ${spent.event.type}`);
  for (const line of lines) {
    if (line.attempt !== 1) fault('punished', `${placeOf(line)} was attempt ${line.attempt}`);
    if (!hasRoute(line.code, line)) {
      fault('wrong definition', `${placeOf(line)} was run from code ${line.code}`);
    }
  }
  const { done, moves, broken } = readLife(asked, records);
  for (const what of broken) fault('wrong definition', what);
  const last = done.at(-1);
  if (last?.version !== task.version) fault('wrong definition', `its row says ${task.version}`);
  for (const [rule, what] of compare(done, lines)) fault(rule, what);
  return { moves, isOfBoth, faults };
}

/** Which phase, of which version. */
export interface Done {
  readonly version: number;
  readonly step: string;
  readonly phase: string;
}

const placeOf = ({ version, step, phase }: Done) => `v${version} ${step}.${phase}`;

function recordsOf({ id, segments, lastHash }: EndedTask): PastRecord[] {
  return decodeRows(id, rowsOf(id, segments, lastHash ?? undefined), identityCodec);
}

/** The phases that its records tell of, and whatever they tell that the rules do not allow. */
export function readLife(asked: Route, records: readonly PastRecord[]) {
  const [done, moves, broken] = [[] as Done[], [] as ('ADVANCED' | 'UPGRADED')[], [] as string[]];
  const first = records[0]?.event;
  if (first?.type !== 'STARTED') return { done, moves, broken: ['it does not begin with STARTED'] };
  let { version } = first;
  if (version !== asked.version && !(version === 2 && MAY_BEGIN.has(asked.machine))) {
    broken.push(`was begun under version ${version}`);
  }
  let before = records[0]!.state;
  for (const { event, state } of records.slice(1)) {
    if (event.type === 'ADVANCED' || event.type === 'UPGRADED') {
      if (MOVES[asked.machine] !== event.type || version !== 1 || event.version !== 2) {
        broken.push(`${event.type} from version ${version} to ${event.version}`);
      }
      moves.push(event.type);
      version = event.version;
    }
    const [step = '', phase = ''] = before.split('.');
    const isPhase = phase !== 'check' && phase !== 'sleep';
    if (event.type === 'DONE' && isPhase) done.push({ version, step, phase });
    before = state;
  }
  return { done, moves, broken };
}

/** `check` may be asked again, and is no phase then; everything else is done as often as recorded. */
export function compare(
  done: readonly Done[],
  lines: readonly RollLine[],
): (readonly [Rule, string])[] {
  const ran = lines
    .filter(({ phase }) => phase !== 'check')
    .sort((a, b) => a.fencingToken - b.fencingToken || a.at - b.at);
  const [recorded, seen] = [countsOf(done), countsOf(ran)];
  const found: (readonly [Rule, string])[] = [];
  for (const [place, count] of seen) {
    const times = recorded.get(place) ?? 0;
    if (times === 0) found.push(['wrong definition', `${place} was run, and is not on record`]);
    else if (count > times) found.push(['repeated', `${place} was run ${count} times`]);
  }
  for (const place of recorded.keys()) {
    if (!seen.has(place)) found.push(['unrecorded', `${place} is on record, and was never run`]);
  }
  const isInOrder = done.every((one, index) => placeOf(one) === placeOf(ran[index] ?? one));
  if (found.length === 0 && !isInOrder) found.push(['wrong definition', 'the order is another']);
  return found;
}

function countsOf(phases: readonly Done[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of phases) counts.set(placeOf(one), (counts.get(placeOf(one)) ?? 0) + 1);
  return counts;
}
