/** The accepted history of one run, read by the rules of its readers and checked record by record. */
import { foldRun } from '../../src/engine/live-run.ts';
import { rowsOf } from '../../src/fleet/history.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec, type StoredRecord } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import {
  advance,
  type Ending,
  type Plan,
  type RunEvent,
  startState,
} from '../../src/machine/index.ts';
import type { Segment } from '../../src/store/index.ts';

/**
 * Where a run is in its line: which step, which attempt at it, which phase. Along a history it never
 * goes back: a rejected work is the next attempt.
 */
export type Place = readonly [step: number, attempt: number, phase: number];

/** One record, with where the run was before it and after it. */
export interface Stop {
  readonly seq: number;
  readonly epoch: number;
  /** By the clock of whoever made it. */
  readonly at: number;
  readonly event: RunEvent;
  readonly hash: string;
  /** '<step>.<phase>' in which the record was made. */
  readonly from: string;
  readonly to: string;
  readonly attempt: number;
  readonly place: Place;
  /** Before it `check` was to be asked. */
  readonly mustProbe: boolean;
}

export interface History {
  readonly stops: readonly Stop[];
  readonly ending: Ending | undefined;
  /** Where the run is after its last record. */
  readonly last: Place;
}

const PHASES = ['check', 'work', 'validate', 'persist'];

export function placeOf(plan: Plan, state: string, attempt: number): Place {
  const dot = state.lastIndexOf('.');
  if (dot < 0) return [plan.line.length, 0, 0];
  const name = state.slice(0, dot);
  return [
    plan.line.findIndex((part) => part.name === name),
    attempt,
    PHASES.indexOf(state.slice(dot + 1)),
  ];
}

export function isBefore(one: Place, other: Place): boolean {
  const index = one.findIndex((part, at) => part !== other[at]);
  return index >= 0 && one[index]! < other[index]!;
}

export function stepOf(state: string): string {
  return state.slice(0, Math.max(0, state.lastIndexOf('.')));
}

/** Throws where the segments are not one line of records. */
export function readRecords(
  task: RunId,
  segments: readonly Segment[],
  settledAt: string | undefined,
): readonly StoredRecord[] {
  const rows = segments.length > 0 ? rowsOf(task, segments, settledAt) : [];
  return rows.length > 0 ? decodeRows(task, rows, identityCodec) : [];
}

/** Throws where the machine cannot have made these records. */
export function historyIn(
  task: RunId,
  records: readonly StoredRecord[],
  plan: Plan,
): History | undefined {
  if (records.length === 0) return undefined;
  const run = foldRun(plan, task, 0, records);
  if (typeof run === 'string') throw new Error(run);
  const first = records[0]!;
  if (first.event.type !== 'STARTED') throw new Error('it does not begin with STARTED');
  let state = startState(plan, first.event, first.at);
  const stops: Stop[] = [];
  for (const { seq, epoch, at, event, hash } of records) {
    const { at: from, attempt, mustProbe } = state;
    if (seq > 0) state = advance(plan, state, event)!;
    const place = placeOf(plan, from, attempt);
    stops.push({ seq, epoch, at, event, hash, from, to: state.at, attempt, place, mustProbe });
  }
  const last = placeOf(plan, state.at, state.attempt);
  return { stops, ending: run.state.ending, last };
}
