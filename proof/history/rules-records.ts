/** Rules on what is written of a run: one line of records, whole where the task was let go of. */
import { isDeepStrictEqual } from 'node:util';
import type { History, Stop } from './accepted-history.ts';
import { type Change, lastSeqBy, type TimedSegment } from './evidence.ts';
import {
  type Finding,
  isEnded,
  isSettlement,
  type Life,
  lookAtEach,
  type Rule,
  together,
} from './rule.ts';

/** The segment in which a redrive keeps the outcome of an earlier generation is no record. */
const OUTCOME_STATE = 'outcome';
/** Ends that the store itself may write, without a record of the run's own. */
const BY_THE_STORE = ['crashLoop', 'cancelled'];

export const oneLine: Rule = {
  name: 'one line of records',
  says: 'records are numbered from 0 without hole or fork, their hashes fit, and the machine allows them',
  proves: ['I13', 'I18'],
  weight: 'violations',
  ofLife: ({ task, history, broken }) => ({
    looked: broken === undefined ? (history?.stops.length ?? 0) : 1,
    faults: broken === undefined ? [] : [`${task}: its history is broken: ${broken}`],
  }),
};

export const prefixInStore: Rule = {
  name: 'a prefix in the store',
  says: 'what the store has of an owner has no hole, and begins behind a record that was there',
  proves: ['I14', 'I15'],
  weight: 'violations',
  ofLife: ({ task, segments, broken }) => {
    if (broken !== undefined) return { looked: 0, faults: [] };
    const ordered = segments
      .filter(({ state }) => state !== OUTCOME_STATE)
      .sort((a, b) => a.epoch - b.epoch || a.firstSeq - b.firstSeq);
    const hashes = hashesOf(ordered);
    return lookAtEach(ordered, ({ epoch, firstSeq, prevHash }) => {
      if (firstSeq === 0 ? prevHash === '' : hashes.get(`${firstSeq - 1} ${prevHash}`)! <= epoch) {
        return undefined;
      }
      return `${task}: epoch ${epoch} has records from ${firstSeq} on, and none before them`;
    });
  },
};

/** By number and hash: the first epoch that has such a record. */
function hashesOf(segments: readonly TimedSegment[]): ReadonlyMap<string, number> {
  const epochs = new Map<string, number>();
  for (const { epoch, events } of segments) {
    for (const { seq, hash } of JSON.parse(events) as { seq: number; hash: string }[]) {
      const key = `${seq} ${hash}`;
      if (!epochs.has(key)) epochs.set(key, epoch);
    }
  }
  return epochs;
}

export const settledIsRecorded: Rule = {
  name: 'settled means recorded',
  says: 'a task that ended or was parked has its history in the store, and ends as its history does',
  proves: ['I16'],
  weight: 'violations',
  ofLife: (life) =>
    life.broken === undefined
      ? together(atEnd(life), atSettlements(life))
      : { looked: 0, faults: [] },
};

function atEnd(life: Life): Finding {
  return lookAtEach(isEnded(life.end.status) ? [life] : [], ({ task, history }) => {
    const fault = wrongEnd(life, history);
    return fault && `${task}: ${fault}`;
  });
}

/** It was cancelled before the record of another end reached the store. */
function wasCancelledFirst({ end, changes, segments }: Life, { epoch, seq }: Stop): boolean {
  const cancelled = changes.find(({ status }) => status === 'cancelled');
  if (end.outcome !== 'cancelled' || !cancelled) return false;
  const own = segments.filter((part) => part.epoch === epoch && part.state !== OUTCOME_STATE);
  return own.every((part) => lastSeqBy(part, cancelled.at) < seq);
}

/** Its deadline passed while nobody had it: the leader said so, and there was no record to make. */
function wasLate({ end, changes }: Life): boolean {
  const ended = changes.find(({ outcome }) => outcome === 'timedOut');
  return end.outcome === 'timedOut' && ended !== undefined && ended.wasOwner === undefined;
}

function wrongEnd(life: Life, history: History | undefined): string | undefined {
  const { row, end } = life;
  const { status, outcome = '', hash } = end;
  const stop = history?.stops.at(-1);
  const ending = history?.ending;
  if (!stop || !ending) {
    // Nobody was there to record it; what was settled before is there all the same.
    const isTheStores = BY_THE_STORE.includes(outcome) || wasLate(life);
    if (!isTheStores) return `it is ${status}, and its history has no end`;
    // The empty hash is that of who gave it back before anything was recorded.
    const isKnown = !hash || history?.stops.some((each) => each.hash === hash);
    return isKnown ? undefined : 'its row names a record that its history does not have';
  }
  // The store gave it up while its end was on its way.
  if (outcome === 'crashLoop' || wasLate(life) || wasCancelledFirst(life, stop)) return undefined;
  if (ending.outcome !== outcome) return `it is ${outcome}, and its history ${ending.outcome}`;
  if (stop.hash !== hash || (row && stop.seq !== row.lastSeq)) {
    return `its row ends at ${row?.lastSeq ?? hash}, and its history at ${stop.seq}`;
  }
  if (!row) return undefined;
  const result = row.result === undefined ? undefined : JSON.parse(row.result);
  if (isDeepStrictEqual(result, ending.output)) return undefined;
  return 'its result is not what its history says';
}

/** Its owner gave it back before it had begun: nobody had recorded anything. */
function isUnbegun({ wasHash = '', hash }: Change): boolean {
  return wasHash === '' && hash === '';
}

/** When an owner let go of it, for a while or for good, what it had recorded went along. */
function atSettlements({ task, changes, segments }: Life): Finding {
  const told = changes.filter((change) => isSettlement(change) && !isUnbegun(change));
  return lookAtEach(told, ({ hash, status, wasEpoch }) =>
    segments.some((part) => part.epoch <= wasEpoch && holds(part, hash))
      ? undefined
      : `${task}: epoch ${wasEpoch} let go of it as ${status}, and its last record is not there`,
  );
}

/** Whether such a record is in the segment. */
export function holds({ events }: TimedSegment, hash: string | undefined): boolean {
  return events.includes(`"hash":"${hash}"`);
}

export const probedFirst: Rule = {
  name: 'probed before repeated',
  says: 'after an interruption or a failure, `check` is asked before work or persist is done again',
  proves: ['I41'],
  weight: 'doubled',
  ofLife: ({ task, history }) =>
    lookAtEach(
      (history?.stops ?? []).filter(({ mustProbe, event }) => mustProbe && TELLS.has(event.type)),
      ({ seq, from, event }) =>
        PROBES.has(event.type)
          ? undefined
          : `${task}: record ${seq} says ${event.type} in ${from}, and nobody had asked check`,
    ),
};

/** What handlers came to. A probe that hands off, or throws, is recorded as that. */
const TELLS: ReadonlySet<string> = new Set(['DONE', 'PROBED', 'HANDED_OFF']);
const PROBES: ReadonlySet<string> = new Set(['PROBED', 'HANDED_OFF']);
