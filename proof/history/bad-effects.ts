/** Histories that the rules on what handlers did must refuse: each is good but for one thing. */
import { type BadHistories, FIRST, REST, withChanges, withEffect } from './bad-history.ts';
import {
  CLAIMS,
  change,
  DONE,
  EFFECTS,
  END,
  effect,
  fileOf,
  type Made,
  STARTED,
  segmentsOf,
  TAKEN_INSIDE,
} from './made-history.ts';

const LATE_CLAIM = { ...CLAIMS[2]!, at: 31_100 };

/** The same disk goes on under the next epoch, without the record of what it had done. */
function adopted(): Made {
  const file = fileOf([FIRST, [2, { ...TAKEN_INSIDE, pod: 'pod-2' }, ...REST.slice(1)]], {
    epoch: 2,
  });
  const taken = change('claimed', 1, 'claimed', 2, undefined, { at: 16_000, crashes: 1 });
  const crashes = { wasCrashes: 1, crashes: 0 };
  const end = change('claimed', 2, 'completed', 2, file.row.lastHash!, crashes);
  const own = EFFECTS.map((each) =>
    each.fencingToken === 3 ? { ...each, fencingToken: 2, at: each.at - 10_000 } : each,
  );
  return {
    file: { ...file, changes: [CLAIMS[0]!, taken, end] },
    effects: [...own, effect('validate', 1)],
    calls: [],
  };
}

export const BAD_EFFECTS: BadHistories = {
  'once under one epoch': [
    {
      what: 'an effect happens twice under one epoch',
      made: () => ({ effects: [...EFFECTS, effect('persist', 3)] }),
    },
  ],
  'no recorded phase again': [
    {
      what: 'the next owner repeats what the store has on record',
      made: () => ({ effects: [...EFFECTS, effect('check', 3, { attempt: 1 })] }),
    },
    {
      what: 'the next owner begins before what a segment had grown to by then',
      made: () => {
        const [first] = segmentsOf([FIRST]);
        const anew = fileOf([[3, { ...STARTED, pod: 'pod-3' }, DONE, DONE, DONE, END]]);
        const own = ['check', 'work', 'validate', 'persist'].map((each, index) =>
          effect(each, 3, { attempt: 1, at: 30_060 + 100 * index }),
        );
        const grown = { ...first!, at: 30_500, grew: [{ lastSeq: 0, at: 11_000 }] };
        const file = { ...anew, segments: [grown, ...anew.segments] };
        return { file, effects: [...EFFECTS.slice(0, 2), ...own] };
      },
    },
    {
      what: 'the next owner begins anew, whatever the store has',
      made: () => {
        const [first] = segmentsOf([FIRST]);
        const anew = fileOf([[3, { ...STARTED, pod: 'pod-3' }, DONE, DONE, DONE, END]]);
        const own = ['check', 'work', 'validate', 'persist'].map((each, index) =>
          effect(each, 3, { attempt: 1, at: 30_060 + 100 * index }),
        );
        const file = { ...anew, segments: [first!, ...anew.segments] };
        return { file, effects: [...EFFECTS.slice(0, 2), ...own] };
      },
    },
  ],
  'write-ahead': [
    {
      what: 'an effect happens before the record that it follows is made',
      made: () => ({ effects: withEffect('validate', 3, (of) => ({ ...of, at: 30_240 })) }),
    },
    {
      what: 'the next process does not find on its disk what was done after it',
      made: adopted,
    },
  ],
  'no record without its deed': [
    {
      what: 'a record says what no ledger knows of',
      made: () => ({ effects: withEffect('validate', 3, () => undefined) }),
    },
  ],
  'fences hold': [
    {
      what: 'an effect that counts comes after the first of the next epoch',
      made: () => ({ effects: withEffect('check', 1, (of) => ({ ...of, at: 30_600 })) }),
    },
    {
      what: 'an effect happens before its claim was given',
      made: () =>
        withChanges((changes) =>
          changes.map((each) => (each.epoch === 3 && each.hash === undefined ? LATE_CLAIM : each)),
        ),
    },
  ],
  'stable idempotency keys': [
    {
      what: 'a phase that is repeated gets another key',
      made: () => ({ effects: withEffect('work', 3, (of) => ({ ...of, idempotencyKey: 'new' })) }),
    },
    {
      what: 'two phases share a key',
      made: () => ({
        effects: withEffect('persist', 3, (of) => ({ ...of, idempotencyKey: 'validate' })),
      }),
    },
  ],
};
