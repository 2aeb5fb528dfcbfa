/**
 * From records to what the run is: what every restart does, and by which it is found out whether a
 * definition fits a history. Each record says which state it led to, so a line that leads elsewhere is
 * noticed at the first phase that differs. An upgrade begins the fold anew: what was recorded before it
 * belongs to a line that nobody needs to have any more.
 */
import { assert, type ErrorInfo } from '../ground/index.ts';
import { type Plan, routeOf } from './plan.ts';
import type { RunEvent } from './run-event.ts';
import { advance, hasBefore, type RunState, startState, upgradedState } from './run-state.ts';

/** A record, as far as it tells what became of the run. */
export interface PastRecord {
  readonly seq: number;
  readonly at: number;
  readonly event: RunEvent;
  readonly state: string;
}

export interface Folded {
  readonly state: RunState;
  readonly lastError: ErrorInfo | undefined;
}

/** Which definition the run stands under by its records. */
export interface Origin {
  readonly machine: string;
  readonly version: number;
  readonly fingerprint: string;
}

export function originOf(records: readonly PastRecord[]): Origin {
  const first = records[0]?.event;
  assert(first?.type === 'STARTED', 'a history begins with STARTED');
  for (let index = records.length - 1; index > 0; index--) {
    // Whoever asks may not have looked at the records yet: one of them may be anything.
    const event = records[index]!.event as RunEvent | null;
    if (event?.type !== 'ADVANCED' && event?.type !== 'UPGRADED') continue;
    return { machine: first.machine, version: event.version, fingerprint: event.fingerprint };
  }
  return first;
}

/** The state that the records add up to, or in words why this definition does not fit them. */
export function foldRecords(plan: Plan, records: readonly PastRecord[]): Folded | string {
  if (records[0]?.event.type !== 'STARTED') return 'its first record is not STARTED';
  const base = records.findLastIndex(({ event }) => event?.type === 'UPGRADED');
  let state = base < 0 ? startOf(plan, records[0]) : upgradeOf(plan, records[0], records[base]!);
  if (typeof state === 'string') return state;
  let lastError: ErrorInfo | undefined;
  for (let index = Math.max(0, base) + 1; index < records.length; index++) {
    const record = records[index]!;
    const next: RunState | undefined = advance(plan, state, record.event);
    if (next?.at !== record.state) {
      return (
        `record ${record.seq} leads to ${record.state} by ${record.event.type}, ` +
        `and ${routeOf(plan)} leads from ${state.at} to ${next?.at ?? 'nowhere'}`
      );
    }
    const { event } = record;
    // Every version leads from there to there by it; but an older one is not to go on.
    if (event.type === 'ADVANCED' && event.version > plan.version) return isOlder(plan, event);
    if ('error' in event) lastError = event.error;
    state = next;
  }
  return { state, lastError };
}

function startOf(plan: Plan, { event, at, state: recorded }: PastRecord): RunState | string {
  assert(event.type === 'STARTED', 'a history begins with STARTED');
  const state = startState(plan, event, at);
  if (state.at !== recorded) {
    return `it starts at ${recorded}, and ${routeOf(plan)} starts at ${state.at}`;
  }
  const { carried } = event;
  return carried && !hasBefore(plan, carried.step, carried.outputs)
    ? otherSteps(plan, carried)
    : state;
}

function upgradeOf(plan: Plan, first: PastRecord, upgraded: PastRecord): RunState | string {
  const { event } = upgraded;
  assert(event.type === 'UPGRADED' && first.event.type === 'STARTED', 'an upgrade has a start');
  if (event.version > plan.version) return isOlder(plan, event);
  const age = { startedAt: first.at, deadlineAt: first.event.deadlineAt };
  const state = upgradedState(plan, age, event);
  if (!state) return otherSteps(plan, event);
  if (state.at === upgraded.state) return state;
  return `it goes on at ${upgraded.state}, and ${routeOf(plan)} begins that step at ${state.at}`;
}

function otherSteps(
  plan: Plan,
  { step, outputs }: { readonly step: string; readonly outputs: object },
): string {
  const names = Object.keys(outputs).join(', ') || 'nothing';
  return `it goes on at ${step} after ${names}, and ${routeOf(plan)} has other steps before that`;
}

function isOlder(plan: Plan, { version }: { readonly version: number }): string {
  return `it is at version ${version} by now, and ${routeOf(plan)} is older`;
}
