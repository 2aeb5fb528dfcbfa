/**
 * Rules on what is counted: an interrupted phase is an attempt, a thrown failure a retry, a dead owner
 * a crash; and the counts of the row are those of the history.
 */
import type { Interruption, RunEvent } from '../../src/machine/index.ts';
import { type History, type Stop, stepOf } from './accepted-history.ts';
import type { Change, PodLife } from './evidence.ts';
import {
  type Around,
  type Finding,
  isSettlement,
  type Life,
  lookAtEach,
  type Rule,
  together,
} from './rule.ts';
import { keyOfStop } from './rules-effects.ts';

export const countsAgree: Rule = {
  name: 'counts agree',
  says: 'retries of the row are the failures its owners recorded and settled; crashes are dead owners',
  proves: ['I29', 'I32'],
  weight: 'violations',
  ofLife: (life, around) => {
    const { history, broken, changes } = life;
    if (!history || broken !== undefined) return { looked: 0, faults: [] };
    const own = changes.filter(({ generation, wasGeneration }) => generation === wasGeneration);
    return together(
      lookAtEach(own, (change) => wrongRetries(life, history, change)),
      lookAtEach(own, (change) => wrongCrashes(life, history, change, around)),
    );
  },
};

function wrongRetries({ task }: Life, { stops }: History, change: Change): string | undefined {
  const { retries, wasRetries, wasEpoch } = change;
  const isFailure = ({ event, epoch }: Stop) =>
    epoch === wasEpoch && (event.type === 'FAILED' || event.type === 'EXHAUSTED');
  const count = isSettlement(change) ? stops.filter(isFailure).length : 0;
  if (retries - wasRetries === count) return undefined;
  return `${task}: epoch ${wasEpoch} failed ${count} times, and ${retries - wasRetries} were counted`;
}

function wrongCrashes(
  { task }: Life,
  { stops }: History,
  change: Change,
  { pods }: Around,
): string | undefined {
  const { crashes, wasCrashes, wasEpoch, wasOwner } = change;
  if (isSettlement(change)) {
    const own = stops.filter(({ epoch }) => epoch === wasEpoch);
    const wanted = own.some(completesStep) ? 0 : wasCrashes;
    if (crashes === wanted) return undefined;
    return `${task}: epoch ${wasEpoch} left ${crashes} crashes of ${wasCrashes}, not ${wanted}`;
  }
  if (crashes === wasCrashes) return undefined;
  const isDead = isCrash(pods.get(wasOwner ?? ''), change.at);
  if (crashes === wasCrashes + 1 && isDead) return undefined;
  return `${task}: ${crashes - wasCrashes} crashes were counted, and ${wasOwner} had not crashed`;
}

function completesStep({ seq, from, to }: Stop): boolean {
  return seq > 0 && stepOf(from) !== stepOf(to) && to !== 'failed' && to !== 'cancelled';
}

/** It was dead by then, and had not left in order. */
function isCrash(pod: PodLife | undefined, at: number): boolean {
  return endBy(pod, at) === 'cut';
}

/** How it had ended by then: by its own word, or not; undefined where it had not. */
function endBy(pod: PodLife | undefined, at: number): Interruption | undefined {
  if (pod?.deadAt === undefined || pod.deadAt > at) return undefined;
  return pod.deadBy === pod.pod ? 'left' : 'cut';
}

export const interruptedCounts: Rule = {
  name: 'an interruption is an attempt',
  says: 'whoever goes on after a crash counts the phase that was running, and after a drain nothing',
  proves: ['I29', 'I41'],
  weight: 'violations',
  ofLife: (life, around) => {
    const { history } = life;
    if (!history) return { looked: 0, faults: [] };
    return together(
      countedOnce(life, history),
      noticed(life, history, around),
      cutByCrash(life, history, around),
    );
  },
};

/**
 * What may come of a run whose owner has just said that the last one was interrupted. An upgrade begins
 * the step anew, so there is nothing to count.
 */
const COUNTS: readonly RunEvent['type'][] = [
  ...(['INTERRUPTED', 'EXHAUSTED', 'TAKEN', 'CANCELLED', 'TIMED_OUT', 'UPGRADED'] as const),
];

function countedOnce({ task }: Life, { stops }: History): Finding {
  return lookAtEach(
    stops.filter(({ event }) => isInterruption(event) || saysInterrupted(event)),
    (stop) => {
      const before = stops[stop.seq - 1];
      if (isInterruption(stop.event)) {
        if (before && saysInterrupted(before.event)) return undefined;
        return `${task}: record ${stop.seq} counts an interruption that nobody had noticed`;
      }
      const next = stops[stop.seq + 1];
      if (!next || COUNTS.includes(next.event.type)) return undefined;
      // Under a newer version the attempt is as much owed as before.
      if (next.event.type === 'ADVANCED' && saysInterrupted(next.event)) return undefined;
      return `${task}: record ${next.seq} goes on with ${next.event.type}, and counts no attempt`;
    },
  );
}

function isInterruption(event: RunEvent): boolean {
  return event.type === 'INTERRUPTED' && !event.isFree;
}

function saysLeft(event: RunEvent): boolean {
  return event.type === 'TAKEN' && event.interruption === 'left';
}

function saysInterrupted(event: RunEvent): boolean {
  const isSaying = event.type === 'TAKEN' || event.type === 'ADVANCED';
  return isSaying && event.interruption === 'cut';
}

/**
 * The ledgers tell that a phase had begun: whoever goes on with that very phase must know, however its
 * last owner ended. Where that one had left in order, an earlier one may have been cut off.
 */
function noticed(life: Life, { stops }: History, { pods }: Around): Finding {
  const { task, effects, claims, changes } = life;
  const recorded = new Set(stops.map(keyOfStop));
  const takings = stops.filter(({ seq, event }) => seq > 0 && event.type === 'TAKEN');
  const cases = takings.flatMap((stop) => {
    const before = stops[stop.seq - 1]!;
    const left = changes.findLast(
      ({ wasOwner, wasEpoch, at }) =>
        wasOwner !== undefined && wasEpoch < stop.epoch && at <= (claims.get(stop.epoch)?.at ?? 0),
    );
    const end = left && endBy(pods.get(left.wasOwner!), left.at);
    // Where the last record waits, nobody but the dead can know whether the wait was over; unless it
    // was settled at that record, and claimed since: then it was. What is past its deadline ends there.
    const wasGiven = changes.some((change) => isSettlement(change) && change.hash === before.hash);
    const isPast = stops[stop.seq + 1]?.event.type === 'TIMED_OUT';
    if (!end || isPast || (waits(before.event) && !wasGiven)) return [];
    const begun = effects.find(
      (effect) =>
        effect.fencingToken === left.wasEpoch &&
        `${effect.step}.${effect.phase}` === stop.from &&
        effect.attempt === stop.attempt &&
        !recorded.has(`${stop.from} ${stop.attempt} ${left.wasEpoch}`),
    );
    return begun && !isSettlement(left) ? [{ stop, begun, end }] : [];
  });
  return lookAtEach(cases, ({ stop, begun, end }) =>
    saysInterrupted(stop.event) || (end === 'left' && saysLeft(stop.event))
      ? undefined
      : `${task}: record ${stop.seq} goes on in ${stop.from}, which ${begun.pod} was inside of`,
  );
}

/** Deploys cost nothing: an attempt is owed only where an owner since the record before has crashed. */
function cutByCrash({ task, changes }: Life, { stops }: History, { pods }: Around): Finding {
  return lookAtEach(
    stops.filter(({ seq, event }) => seq > 0 && saysInterrupted(event)),
    ({ seq, epoch }) => {
      const before = stops[seq - 1]!;
      const hasCrashed = changes.some(
        ({ wasOwner, wasEpoch, at }) =>
          wasOwner !== undefined &&
          wasEpoch >= before.epoch &&
          wasEpoch < epoch &&
          isCrash(pods.get(wasOwner), at),
      );
      if (hasCrashed || saysInterrupted(before.event)) return undefined;
      return `${task}: record ${seq} has an attempt counted, and nobody had crashed`;
    },
  );
}

function waits(event: RunEvent): boolean {
  return 'dueAt' in event || event.type === 'INTERRUPTED';
}
