/** Histories of runs that were made by one machine, to be held against another. */
import type { Machine, PastRecord, RunEvent } from '../../src/machine/index.ts';
import { advance, type StartedEvent, startState } from '../../src/machine/index.ts';
import { machineOf, type PartShape, planFor } from './arbitrary.ts';

/** A machine of these parts, in this version. */
export function lineOf(version: number, parts: readonly PartShape[], name = 'line'): Machine {
  return machineOf(parts, { name, version });
}

/** The records of a run of that machine to which these things happened. */
export function pastOf(of: Machine, ...events: readonly RunEvent[]): PastRecord[] {
  const plan = planFor(of);
  const { name: machine, version, fingerprint } = plan;
  const event: StartedEvent = { type: 'STARTED', machine, version, fingerprint, input: 1 };
  let state = startState(plan, event, 1_000);
  const records: PastRecord[] = [{ seq: 0, at: 1_000, event, state: state.at }];
  for (const one of events) {
    const next = advance(plan, state, one);
    if (!next) throw new Error(`${one.type} is not allowed in ${state.at}`);
    state = next;
    records.push({ seq: records.length, at: 1_000, event: one, state: state.at });
  }
  return records;
}
