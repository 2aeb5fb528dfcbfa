/** The cases of a crash test, and what they come to together. */
import type { Ended, KillPoint } from './case-ledger.ts';
import type { Smooth, Verdict } from './judge.ts';
import type { CrashFault, CrashReport } from './report.ts';

/** Before and after each record. */
export function killPoints(recordCount: number): KillPoint[] {
  return Array.from({ length: recordCount }, (_, index) => index + 1).flatMap((nth) => [
    { when: 'before' as const, nth },
    { when: 'after' as const, nth },
  ]);
}

/** 'killed before record 3 of 4 (main.persist DONE)': as the run without a crash wrote it. */
export function nameOfCase({ when, nth }: KillPoint, { records }: Ended): string {
  const [before, record] = [records[nth - 2], records[nth - 1]!];
  const which = before ? `${before.state} ${record.event}` : 'the start';
  return `killed ${when} record ${nth} of ${records.length} (${which})`;
}

/** A verdict that is missing is that of a case which was left out. */
export function reportOf(smooth: Smooth, verdicts: readonly (Verdict | undefined)[]): CrashReport {
  const { machine, outcome, output, records } = smooth.ended;
  const judged = verdicts.filter((verdict) => verdict !== undefined);
  const faults = judged.flatMap((verdict) => verdict.faults);
  const left = verdicts.length - judged.length;
  if (left > 0) {
    const message = `${left} more cases were left out, since processes hang`;
    faults.push({ case: 'the rest', kind: 'void', message });
  }
  const count = (of: (verdict: Verdict) => number) =>
    judged.reduce((sum, verdict) => sum + of(verdict), 0);
  const ofKind = (kind: CrashFault['kind']) => faults.filter((fault) => fault.kind === kind).length;
  return {
    machine,
    outcome: outcome!,
    output,
    records: records.length,
    cases: verdicts.length,
    kills: count(({ isKilled }) => (isKilled ? 1 : 0)),
    lost: ofKind('lost'),
    repeated: ofKind('repeated'),
    again: count(({ again }) => again),
    handedOff: count(({ handedOff }) => handedOff),
    faults,
  };
}
