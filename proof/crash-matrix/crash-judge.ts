/** What must hold of a run after any crash: its history, its ledger, and how the two fit together. */
import { expect } from 'vitest';
import type { StoredRecord } from '../../src/index.ts';
import type { LedgerLine } from '../../test/support/ledger.ts';
import type { CrashReport } from './crash-child.ts';

interface Execution {
  readonly place: string;
  readonly attempt: number;
  readonly epoch: number;
}

/** seq 0, 1, 2 … without a hole. That each fits its predecessor's hash was verified when it was read. */
export function expectLinear(records: readonly StoredRecord[]): void {
  expect(records.map((record) => record.seq)).toEqual(records.map((_, index) => index));
}

/** Of which executions the history holds an outcome, and which were cut off, told by the records alone. */
export function executionsOf(records: readonly StoredRecord[]): {
  readonly recorded: Execution[];
  /** `epoch` is the boot that found it cut off; it began in an earlier one. */
  readonly interrupted: Execution[];
} {
  const recorded: Execution[] = [];
  const interrupted: Execution[] = [];
  let place = records[0]?.state ?? '';
  let attempt = 1;
  for (const { event, state, epoch } of records.slice(1)) {
    if (event.type === 'INTERRUPTED') interrupted.push({ place, attempt, epoch });
    else if (event.type === 'PROBED' || place.endsWith('.sleep')) {
      // Neither is a phase.
    } else recorded.push({ place, attempt, epoch });
    if (stepOf(state) !== stepOf(place)) attempt = 1;
    else if (event.type === 'FAILED' || event.type === 'INTERRUPTED') attempt++;
    place = state;
  }
  return { recorded, interrupted };
}

function stepOf(state: string): string {
  return state.slice(0, state.lastIndexOf('.'));
}

const asText = ({ place, attempt, epoch }: Execution) => `${place} #${attempt} in boot ${epoch}`;

/**
 * Every recorded execution is in the ledger exactly once, in the process that recorded it; whatever
 * else is there was cut off by a kill, at a place where the history says so.
 */
export function expectNothingRepeated(report: CrashReport, ledger: readonly LedgerLine[]): void {
  const { recorded, interrupted } = executionsOf(report.records as StoredRecord[]);
  const lines = ledger.filter((line) => line.phase !== 'probe' && line.run === report.run);
  const done = lines.map((line) =>
    asText({
      place: `${line.step}.${line.phase}`,
      attempt: line.attempt,
      epoch: line.fencingToken,
    }),
  );
  expect(new Set(done).size, 'an execution is in the ledger twice').toBe(done.length);
  expect(done).toEqual(expect.arrayContaining(recorded.map(asText)));
  const known = new Set(recorded.map(asText));
  const unexplained = lines.filter((line, index) => {
    const isCutOff = interrupted.some(
      ({ place, attempt, epoch }) =>
        place === `${line.step}.${line.phase}` &&
        attempt === line.attempt &&
        epoch > line.fencingToken,
    );
    return !known.has(done[index] ?? '') && !isCutOff;
  });
  expect(unexplained).toEqual([]);
}

/** One key for each phase of the run, the same in every process and attempt; no two phases share one. */
export function expectStableKeys(ledger: readonly LedgerLine[]): void {
  const keyOf = new Map<string, string>();
  for (const { run, step, phase, idempotencyKey } of ledger) {
    const place = `${run} ${step} ${phase === 'probe' ? 'check' : phase}`;
    expect(keyOf.get(place) ?? idempotencyKey).toBe(idempotencyKey);
    keyOf.set(place, idempotencyKey);
  }
  expect(new Set(keyOf.values()).size).toBe(keyOf.size);
}

/** After an interruption inside `work` or `persist`, the first thing that happens is a probe (I41). */
export function expectProbed(report: CrashReport, ledger: readonly LedgerLine[]): void {
  const { interrupted } = executionsOf(report.records as StoredRecord[]);
  for (const { place, epoch } of interrupted) {
    if (!/^(main|pull|unpack|activate|after)\.(work|persist)$/.test(place)) continue;
    const firstAfter = ledger.find((line) => line.run === report.run && line.fencingToken >= epoch);
    expect(firstAfter?.phase, `${place} was cut off, says boot ${epoch}`).toBe('probe');
  }
}
