/** Histories that the rules on the queue as a whole must refuse: each is good but for one thing. */
import { type BadHistories, STRANGER, withChanges, withPod } from './bad-history.ts';
import {
  ACKNOWLEDGED,
  CALLS,
  CLAIMS,
  cancelledFile,
  change,
  DONE,
  EFFECTS,
  effect,
  fileOf,
  INTERRUPTED,
  LOOKS,
  look,
  type Made,
  other,
  PROBED,
  STARTED,
  TAKEN_INSIDE,
  task,
} from './made-history.ts';

/** Nobody is left who could settle it: the third owner died too. */
function givenUp(crashes: number): Made {
  const file = fileOf([
    [1, STARTED, DONE],
    [3, TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE],
  ]);
  const row = {
    ...file.row,
    ...{ status: 'failed', outcome: 'crashLoop', error: '{}', crashes, result: undefined },
    ...{ lastSeq: -1, lastHash: undefined, epoch: 4 },
  };
  const end = change('claimed', 3, 'failed', 4, undefined, {
    at: 36_000,
    wasCrashes: 1,
    crashes: 2,
  });
  return {
    ...withPod('pod-3', { lastBeatAt: 32_000, deadAt: 35_000, deadBy: 'pod-2' }),
    file: { ...file, row, changes: [...CLAIMS, end] },
    calls: CALLS.slice(0, 3),
  };
}

const ONE = { all: 1, byStatus: { claimed: 1 } };

export const BAD_QUEUE: BadHistories = {
  'nothing is lost': [
    {
      what: 'an acknowledged task is gone',
      made: () => ({
        acknowledged: [...ACKNOWLEDGED, { subject: 's9', shape: 'one', task: STRANGER }],
      }),
    },
  ],
  'nothing is invented': [
    {
      what: 'nobody has enqueued a task that is there',
      made: () => ({ acknowledged: ACKNOWLEDGED.slice(0, 1) }),
    },
    {
      what: 'something was executed that is not there',
      made: () => ({ effects: [...EFFECTS, effect('work', 1, { task: STRANGER })] }),
    },
  ],
  'one task per key': [
    {
      what: 'one key was answered with two tasks',
      made: () => ({
        acknowledged: [...ACKNOWLEDGED, { subject: 's1', shape: 'one', task: other }],
      }),
    },
    {
      what: 'two rows have one key',
      made: () => ({
        files: [fileOf(), cancelledFile({ key: 's1' })],
        acknowledged: [ACKNOWLEDGED[0], { ...ACKNOWLEDGED[1], subject: 's1', shape: 'three' }],
      }),
    },
  ],
  'all end': [
    {
      what: 'a task is claimed when all is over',
      made: () => ({
        file: { ...fileOf(undefined, { status: 'claimed', outcome: undefined }), changes: CLAIMS },
        calls: CALLS.slice(0, 3),
      }),
    },
  ],
  'ends as it should': [
    { what: 'a task was given up after two crashes', made: () => givenUp(2) },
    {
      what: 'a task has failed that is made to succeed',
      made: () => {
        const error = { name: 'Error', message: 'no' };
        const file = fileOf(
          [
            [1, STARTED, DONE],
            [3, TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE, { type: 'EXHAUSTED', error }],
          ],
          { status: 'failed', outcome: 'exhausted', result: undefined, error: '{}', retries: 1 },
        );
        const settled = { wasCrashes: 1, crashes: 1, retries: 1 };
        const end = change('claimed', 3, 'failed', 3, file.row.lastHash!, settled);
        return { file: { ...file, changes: [...CLAIMS, end] } };
      },
    },
  ],
  'a cancel holds': [
    {
      what: 'a task was said to be cancelled, and is completed',
      made: () => ({
        cancels: [
          { task, answer: 'done' },
          { task: other, answer: 'done' },
        ],
      }),
    },
    { what: 'a task is cancelled, and nobody had asked', made: () => ({ cancels: [] }) },
    {
      what: 'a cancel was noted, and forgotten by the sweep',
      made: () => ({
        ...withChanges(([first, swept, ...rest]) => [
          { ...first!, control: 'cancel' },
          { ...swept!, wasControl: 'cancel' },
          ...rest,
        ]),
        cancels: [
          { task, answer: 'requested' },
          { task: other, answer: 'done' },
        ],
      }),
    },
  ],
  conservation: [
    {
      what: 'a task is gone for a while',
      made: () => ({
        snapshots: [...LOOKS, look(40_000, { counts: { ...LOOKS[0]!.counts!, ...ONE } })],
      }),
    },
    {
      what: 'a task is in no state',
      made: () => ({
        snapshots: [
          ...LOOKS,
          look(40_000, { counts: { ...LOOKS[0]!.counts!, byStatus: { claimed: 1 } } }),
        ],
      }),
    },
    {
      what: 'a task is there that nobody sent',
      made: () => ({ snapshots: [look(0, { sent: 1, acknowledged: 1 }), ...LOOKS.slice(1)] }),
    },
  ],
  'orphans go on': [
    {
      what: 'a task is left to a dead pod for too long',
      made: () => withPod('pod-1', { lastBeatAt: 5_000 }),
    },
  ],
};
