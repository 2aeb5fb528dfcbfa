/** Histories that the rules on who owns a task must refuse: each is good but for one thing. */
import { type BadHistories, FIRST, REST, withChanges, withEffect, withPod } from './bad-history.ts';
import {
  CALLS,
  CLAIMS,
  change,
  DONE,
  EFFECTS,
  END,
  effect,
  fileOf,
  type Line,
  STARTED,
  SWEPT,
  segmentsOf,
  settleCall,
  TAKEN_INSIDE,
} from './made-history.ts';

export const BAD_OWNERS: BadHistories = {
  'epochs rise': [
    {
      what: 'the epoch falls with the settlement',
      made: () => ({
        ...withChanges((changes) => [...CLAIMS, { ...changes.at(-1)!, epoch: 2 }]),
        calls: [],
      }),
    },
    {
      what: 'a sweep leaves the epoch as it is',
      made: () => ({
        ...withChanges(([first, swept, third, last]) => [
          first!,
          { ...swept!, epoch: 1 },
          { ...third!, wasEpoch: 1 },
          last!,
        ]),
        calls: [],
      }),
    },
    {
      what: 'a claim is given under the epoch of the sweep',
      made: () => {
        const line: Line = [FIRST, [2, ...REST]];
        const file = fileOf(line, { epoch: 2 });
        const owner = { wasOwner: 'pod-3' };
        const claim = change('pending', 2, 'claimed', 2, undefined, {
          ...{ at: 30_000, owner: 'pod-3', wasCrashes: 1, crashes: 1 },
        });
        const crashes = { wasCrashes: 1, crashes: 0, at: 32_000 };
        const end = change('claimed', 2, 'completed', 2, file.row.lastHash!, {
          ...owner,
          ...crashes,
        });
        return {
          file: { ...file, changes: [CLAIMS[0]!, SWEPT, claim, end] },
          effects: EFFECTS.map((each) =>
            each.fencingToken === 3 ? { ...each, fencingToken: 2 } : each,
          ),
          calls: [],
        };
      },
    },
  ],
  'one owner per epoch': [
    {
      what: 'a pod acts under an epoch that is of another',
      made: () => ({ effects: withEffect('persist', 3, (of) => ({ ...of, pod: 'alder' })) }),
    },
    {
      what: 'a pod records under an epoch that is of another',
      made: () => ({
        file: fileOf([FIRST, [3, { ...TAKEN_INSIDE, pod: 'pod-9' }, ...REST.slice(1)]]),
      }),
    },
    {
      what: 'an epoch goes from one owner to the next',
      made: () => ({
        ...withChanges((changes) => [
          ...CLAIMS,
          { ...CLAIMS[2]!, wasStatus: 'claimed', wasEpoch: 3, wasOwner: 'pod-3', owner: 'pod-2' },
          { ...changes.at(-1)! },
        ]),
        calls: [],
      }),
    },
    {
      what: 'somebody acts under an epoch that nobody was given',
      made: () => ({ effects: [...EFFECTS, effect('work', 2, { at: 17_000 })] }),
    },
  ],
  'one outcome': [
    {
      what: 'a task that has ended ends again',
      made: () =>
        withChanges((changes) => {
          const hash = changes.at(-1)!.hash!;
          return [...changes, change('completed', 3, 'failed', 3, hash, { wasHash: hash })];
        }),
    },
  ],
  'settled by its owner': [
    {
      what: 'a dead pod settles',
      made: () => withPod('pod-3', { deadAt: 31_500, deadBy: 'pod-2' }),
    },
    {
      what: 'records that do not count settle',
      made: () => {
        const file = fileOf();
        const [first] = file.segments;
        const stray = segmentsOf([[1, STARTED, DONE, DONE]])[0]!;
        const late = { ...stray, at: 30_500 };
        const changes = [...CLAIMS, { ...file.changes.at(-1)!, hash: stray.lastHash }];
        return { file: { ...file, segments: [first!, late, file.segments[1]!], changes } };
      },
    },
    {
      what: 'a task is settled that nobody holds',
      made: () => ({
        ...withChanges((changes) => [
          ...CLAIMS,
          { ...changes.at(-1)!, wasStatus: 'pending', crashes: 1 },
        ]),
        calls: [],
      }),
    },
    {
      what: 'a former owner settles by what it flushed late',
      made: () => {
        const file = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
        const late = file.segments.map((part) => ({ ...part, at: 31_000 }));
        const changes = [...CLAIMS, { ...file.changes.at(-1)!, crashes: 1 }];
        const own = ['check', 'work', 'validate', 'persist'].map((each) => effect(each, 1));
        return { file: { ...file, segments: late, changes }, effects: own };
      },
    },
  ],
  'the claim is one register': [
    {
      what: 'a pod settles after the take-over was answered, and is told that it stood',
      made: () => ({ calls: [...CALLS, settleCall('pod-1', 1, 17_000, 17_100, 'stood')] }),
    },
    {
      what: 'a pod is told that its claim is lost before anybody has taken it',
      made: () => ({ calls: [...CALLS, settleCall('pod-1', 1, 11_000, 11_100, 'lost')] }),
    },
  ],
};
