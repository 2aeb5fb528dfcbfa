/** Rules on the queue as a whole: what goes in comes out, once, and as it should. */
import { type Finding, isEnded, type Life, lookAtEach, type Rule, together } from './rule.ts';

const CRASHES_MAX = 3;

export const nothingLost: Rule = {
  name: 'nothing is lost',
  says: 'every task whose enqueue was acknowledged is in the store',
  proves: ['I1', 'I17'],
  weight: 'lost',
  ofAll: (book) => ({ looked: book.askedCount, faults: book.unseen() }),
};

export const nothingInvented: Rule = {
  name: 'nothing is invented',
  says: 'every task of the store was enqueued, and every effect belongs to one of them',
  proves: ['I2'],
  weight: 'violations',
  ofAll: (book) => ({ looked: book.seenCount, faults: [...book.unasked(), ...book.unknown()] }),
};

export const oneTaskPerKey: Rule = {
  name: 'one task per key',
  says: 'however often a key was sent, one row has it, and every answer names that one',
  proves: ['I6'],
  weight: 'doubled',
  ofLife: ({ task, row }, { acknowledged }) =>
    lookAtEach(row ? acknowledged : [], ({ subject }) =>
      row!.key === subject || row!.key === undefined
        ? undefined
        : `${task}: it was answered to the key ${subject}, and has the key ${row!.key}`,
    ),
  ofAll: (book) => ({ looked: book.askedCount, faults: book.keysTwice() }),
};

export const allEnded: Rule = {
  name: 'all end',
  says: 'once everything is healed, every task ends',
  proves: ['I37', 'I38'],
  weight: 'stuck',
  ofLife: ({ task, row, changes }) =>
    lookAtEach(row ? [row] : [], ({ status }) => {
      if (isEnded(status)) return undefined;
      return `${task}: it is ${status}, held by ${changes.at(-1)?.owner ?? 'nobody'}`;
    }),
};

export const endsWell: Rule = {
  name: 'ends as it should',
  says: 'a task fails only where it is made to, or where its owners died three times over',
  proves: ['I4', 'I29'],
  weight: 'lost',
  ofLife: ({ task, row, end: { status, outcome } }, { mayFail }) =>
    lookAtEach(row && isEnded(status) ? [row] : [], ({ machine, crashes, error }) => {
      // Whether somebody had asked for it is another rule's.
      if (status === 'completed' || status === 'cancelled') return undefined;
      if (outcome === 'crashLoop') {
        return crashes >= CRASHES_MAX
          ? undefined
          : `${task}: it was given up after ${crashes} crashes`;
      }
      return mayFail.has(machine) ? undefined : `${task}: it is ${status}: ${error ?? ''}`;
    }),
};

export const cancelHolds: Rule = {
  name: 'a cancel holds',
  says: 'what was said to be cancelled is, a cancel that is noted is kept, and nobody else cancels',
  proves: ['I4', 'I17'],
  weight: 'violations',
  ofLife: (life, { cancels, changes: all }) => {
    const { task, row, end, changes } = life;
    // A redrive may have given it another life since.
    const wasCancelled = all.some(({ status }) => status === 'cancelled');
    const answered = lookAtEach(
      row ? cancels.filter(({ answer }) => answer !== undefined) : [],
      ({ answer }) => {
        if (answer === 'unknown') return `${task}: a cancel did not find it`;
        if (answer !== 'done' || wasCancelled) return undefined;
        return `${task}: it was said to be cancelled, and is ${end.status}`;
      },
    );
    const unasked = lookAtEach(end.status === 'cancelled' ? [end] : [], () =>
      cancels.length > 0 ? undefined : `${task}: it is cancelled, and nobody had asked`,
    );
    return together(answered, unasked, keptControl(life, changes));
  },
};

/**
 * Whoever lets go of a task that is to be cancelled ends it, unless its records already tell another
 * end: then nobody has anything more to record, and the next owner only says so.
 */
function keptControl({ task, end, history }: Life, changes: Life['changes']): Finding {
  const wasToldBefore = (wasEpoch: number) =>
    isEnded(end.status) && history?.stops.every(({ epoch }) => epoch <= wasEpoch) === true;
  return lookAtEach(
    changes.filter(({ wasControl, control }) => wasControl === 'cancel' && control !== 'cancel'),
    ({ status, wasEpoch }) =>
      isEnded(status) || wasToldBefore(wasEpoch)
        ? undefined
        : `${task}: a cancel was noted, and forgotten as ${status}`,
  );
}
