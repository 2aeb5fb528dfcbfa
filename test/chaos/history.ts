/** The accepted history of one task, read by the rules of its readers and checked record by record. */
import { foldRun } from '../../src/engine/live-run.ts';
import { rowsOf } from '../../src/fleet/history.ts';
import { identityCodec, type StoredRecord } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import { advance, type Ending, type Plan, startState } from '../../src/machine/index.ts';
import type { TaskFile } from './witness.ts';

/**
 * Where a run is in its line: which step, which attempt at it, which phase. Along a history it never
 * goes back: a rejected work is the next attempt.
 */
export type Place = readonly [step: number, attempt: number, phase: number];

/** One record, with where the run was before it. */
export interface Stop {
  readonly seq: number;
  readonly epoch: number;
  readonly event: StoredRecord['event']['type'];
  readonly hash: string;
  /** '<step>.<phase>' in which the record was made. */
  readonly from: string;
  readonly attempt: number;
  readonly place: Place;
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

/** Throws where the segments are not one line of records, or the machine cannot have made them. */
export function readHistory({ row, segments }: TaskFile, plan: Plan): History | undefined {
  const rows = rowsOf(row.task, segments);
  if (rows.length === 0) return undefined;
  const records = decodeRows(row.task, rows, identityCodec);
  const run = foldRun(plan, row.task, 0, records);
  if (typeof run === 'string') throw new Error(run);
  const first = records[0]!;
  if (first.event.type !== 'STARTED') throw new Error('it does not begin with STARTED');
  let state = startState(plan, first.event, first.at);
  const stops: Stop[] = [];
  for (const { seq, epoch, event, hash } of records) {
    const { at: from, attempt } = state;
    const place = placeOf(plan, from, attempt);
    stops.push({ seq, epoch, event: event.type, hash, from, attempt, place });
    if (seq > 0) state = advance(plan, state, event)!;
  }
  const last = placeOf(plan, state.at, state.attempt);
  return { stops, ending: run.state.ending, last };
}
