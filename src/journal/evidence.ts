/** Holds what the journal says against what its last holder knew: what is missing, who was at work. */
import type { RunId } from '../ground/index.ts';
import type { Alarm, Evidence } from './journal.ts';
import type { Inherited, Mark } from './mark-format.ts';
import type { Opened } from './open-journal.ts';

/** The last seq of each of these runs that has not ended. */
export type LastSeqs = (runs: Iterable<RunId>) => ReadonlyMap<RunId, number>;

export interface Judgement {
  readonly alarms: readonly Alarm[];
  readonly evidence: Evidence;
}

export function judgeMark({ mark, head, keptWal, alarms }: Opened, lastSeqs: LastSeqs): Judgement {
  const nothingKnown = { isComplete: false, unknownUntil: head.lsn, occupied: new Map() };
  const unknown = (kind: Alarm['kind'], message: string): Judgement => ({
    alarms: [{ kind, message }],
    evidence: nothingKnown,
  });
  // That it is a copy has been said, and the mark is about the original.
  if (alarms.some(({ kind }) => kind === 'copied')) return { alarms: [], evidence: nothingKnown };
  if (mark === undefined && head.boot === 0) {
    return { alarms: [], evidence: { isComplete: true, unknownUntil: 0, occupied: new Map() } };
  }
  if (mark === undefined || mark === 'damaged') {
    return unknown(
      'markDamaged',
      `the mark beside the journal is ${mark ?? 'missing'}: whether records were lost cannot be told`,
    );
  }
  if (mark.journalId !== head.id) {
    return unknown(
      'otherJournal',
      `the journal ${mark.journalId} was here before; this is ${head.id}, without its runs`,
    );
  }
  if (mark.lsn > head.lsn) {
    return unknown(
      'recordsLost',
      `the journal has lost its last ${mark.lsn - head.lsn} records: ` +
        `it ends at ${head.lsn}, and had ${mark.lsn}` +
        (keptWal ? `; its WAL is kept as ${keptWal}` : ''),
    );
  }
  return { alarms: [], evidence: evidenceOf(mark, head.lsn, lastSeqs) };
}

export function evidenceOf(mark: Mark, lsn: number, lastSeqs: LastSeqs): Evidence {
  const occupied = new Map(mark.slots);
  const seqsNow = lastSeqs(mark.inherited.map(({ run }) => run));
  for (const { run, seq, lastSeq } of mark.inherited) {
    if (seqsNow.get(run) === lastSeq) occupied.set(run, Math.max(seq, occupied.get(run) ?? 0));
  }
  const unknownUntil = mark.isComplete ? mark.unknownUntil : lsn;
  return { isComplete: unknownUntil === 0, unknownUntil, occupied };
}

/** What the next process must still know if this one dies before it has recorded anything. */
export function inheritedOf({ occupied }: Evidence, lastSeqs: LastSeqs): Inherited[] {
  const inherited: Inherited[] = [];
  for (const [run, lastSeq] of lastSeqs(occupied.keys())) {
    inherited.push({ run, seq: occupied.get(run)!, lastSeq });
  }
  return inherited;
}
