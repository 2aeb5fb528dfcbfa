/** Rules on who owns a task: one at a time, under numbers that rise, and nobody writes after that. */

import type { Change } from './evidence.ts';
import {
  type Around,
  type Finding,
  isEnded,
  isSettlement,
  type Life,
  lookAtEach,
  type Rule,
  together,
} from './rule.ts';
import { holds } from './rules-records.ts';

export const epochsRise: Rule = {
  name: 'epochs rise',
  says: 'the epoch never falls, and rises whenever a task is given to somebody or taken from him',
  proves: ['I7'],
  weight: 'zombieWrites',
  ofLife: ({ task, changes }) =>
    lookAtEach(changes, ({ epoch, wasEpoch, owner, wasOwner, status }) => {
      if (epoch < wasEpoch) return `${task}: the epoch fell from ${wasEpoch} to ${epoch}`;
      if (epoch > wasEpoch) return undefined;
      if (owner !== undefined && wasOwner === undefined) {
        return `${task}: ${owner} got it under epoch ${epoch}, which was there before`;
      }
      // An end keeps the epoch, so that its author knows it again.
      const isLetGo = wasOwner !== undefined && owner === undefined && !isEnded(status);
      return isLetGo ? `${task}: ${wasOwner} let go of it, still under epoch ${epoch}` : undefined;
    }),
};

export const oneOwner: Rule = {
  name: 'one owner per epoch',
  says: 'each epoch of a task has one owner for ever: in its row, its records and the ledgers',
  proves: ['I7', 'I9', 'I21'],
  weight: 'zombieWrites',
  ofLife: (life, around) => together(inRow(life), inRecords(life), inLedgers(life, around)),
};

function inRow({ task, changes }: Life): Finding {
  const owners = new Map<number, string>();
  return lookAtEach(
    changes.filter(({ owner }) => owner !== undefined),
    ({ owner, epoch }) => {
      const known = owners.get(epoch) ?? owner;
      owners.set(epoch, owner!);
      if (known === owner) return undefined;
      return `${task}: epoch ${epoch} has two owners, ${known} and ${owner}`;
    },
  );
}

function inRecords({ task, history, claims }: Life): Finding {
  const begun = (history?.stops ?? []).flatMap(({ event, epoch }) =>
    'pod' in event && event.pod !== undefined ? [{ pod: event.pod, epoch }] : [],
  );
  return lookAtEach(begun, ({ pod, epoch }) => {
    const owner = claims.get(epoch)?.owner;
    return owner === pod
      ? undefined
      : `${task}: ${pod} recorded under epoch ${epoch}, which is ${owner ?? 'nobody'}'s`;
  });
}

function inLedgers({ task, effects, claims }: Life, { pods }: Around): Finding {
  return lookAtEach(effects, ({ pod, fencingToken, step, phase }) => {
    const owner = claims.get(fencingToken)?.owner;
    if (owner === undefined) {
      return `${task}: ${pod} did ${step}.${phase} under epoch ${fencingToken}, which is nobody's`;
    }
    const name = pods.get(owner)?.name ?? pod;
    return name === pod
      ? undefined
      : `${task}: ${pod} did ${step}.${phase} under epoch ${fencingToken}, which is ${name}'s`;
  });
}

export const oneOutcome: Rule = {
  name: 'one outcome',
  says: 'what has ended stays as it is, until a redrive gives it another generation',
  proves: ['I4', 'I5'],
  weight: 'zombieWrites',
  ofLife: ({ task, changes }) =>
    lookAtEach(
      changes.filter(({ wasStatus, status }) => isEnded(wasStatus) || isEnded(status)),
      (change) => {
        const isNewLife = change.generation > change.wasGeneration;
        if (isNewLife || !isEnded(change.wasStatus)) return undefined;
        const isTouched =
          change.status !== change.wasStatus ||
          change.epoch !== change.wasEpoch ||
          change.hash !== change.wasHash ||
          change.outcome !== change.wasOutcome;
        if (!isTouched) return undefined;
        return `${task}: it was ${change.wasStatus}, and became ${change.status} after that`;
      },
    ),
};

export const settledByOwner: Rule = {
  name: 'settled by its owner',
  says: 'only records of whoever has the claim settle a task, and only while that pod is not dead',
  proves: ['I5', 'I8', 'I9'],
  weight: 'zombieWrites',
  ofLife: (life, around) => {
    if (life.broken !== undefined) return { looked: 0, faults: [] };
    const authors = new Map(life.history?.stops.map(({ hash, epoch }) => [hash, epoch]));
    return lookAtEach(
      life.changes.filter(
        ({ hash, wasHash, wasStatus, generation, wasGeneration }) =>
          // What has ended is another rule's.
          hash !== wasHash &&
          hash !== undefined &&
          generation === wasGeneration &&
          !isEnded(wasStatus),
      ),
      (change) => wrongAuthor(life, around, change, authors.get(change.hash!)),
    );
  },
};

function wrongAuthor(
  life: Life,
  { pods }: Around,
  change: Change,
  author: number | undefined,
): string | undefined {
  const { task, segments } = life;
  const { wasStatus, wasEpoch, wasOwner, hash, at } = change;
  if (!isSettlement(change)) return `${task}: it was settled while it was ${wasStatus}`;
  // Of records that are nowhere, another rule tells.
  if (author === undefined && !segments.some((part) => holds(part, hash))) return undefined;
  const wasThere = wasFound(life, change, pods.get(wasOwner ?? '')?.name);
  if (author !== wasEpoch && !(wasThere && author !== undefined && author < wasEpoch)) {
    const by = author === undefined ? 'records that do not count' : `epoch ${author}`;
    return `${task}: it was settled by ${by} while epoch ${wasEpoch} had it`;
  }
  const diedAt = wasOwner === undefined ? undefined : pods.get(wasOwner)?.deadAt;
  if (diedAt === undefined || diedAt >= at) return undefined;
  return `${task}: it was settled by ${wasOwner} after that pod was dead`;
}

/**
 * The run had ended, and was in the store, before its last owner looked there: that one only said so.
 * It looks after it has got the task. If the end came in between, sent late by a former owner, then it
 * was the last owner itself who wrote, and it has begun nothing.
 */
function wasFound({ claims, segments, effects }: Life, change: Change, owner: string | undefined) {
  const { wasEpoch, hash, at, by } = change;
  const hasOnlySaidSo =
    by !== undefined &&
    by === owner &&
    !effects.some(({ fencingToken }) => fencingToken === wasEpoch);
  const claimedAt = claims.get(wasEpoch)?.at ?? 0;
  return segments.some(
    (part) => part.lastHash === hash && (part.at <= claimedAt || (hasOnlySaidSo && part.at < at)),
  );
}
