/** A poison task ends three processes at most; a death in an outage is nobody's crash. */
import { expect, test } from 'vitest';
import type { Change, PodLife } from '../history/evidence.ts';
import { tooManyDeaths } from './poison-deaths.ts';

const NOTHING = {
  ...{ wasStatus: 'claimed', status: 'pending', wasGeneration: 0, generation: 0 },
  ...{ wasHash: undefined, hash: undefined, wasOutcome: undefined, outcome: undefined },
  ...{ wasRetries: 0, retries: 0, wasControl: undefined, control: undefined, owner: undefined },
};

/** Taken from one pod after the other, ten seconds apart, charged or not. */
function takenFrom(charges: readonly boolean[]): Change[] {
  let crashes = 0;
  return charges.map((isCharged, index) => {
    const wasCrashes = crashes;
    if (isCharged) crashes += 1;
    const epochs = { wasEpoch: index + 1, epoch: index + 2 };
    const own = { at: 100_000 * (index + 1), wasOwner: `pod-${index}`, wasCrashes, crashes };
    return { ...NOTHING, ...epochs, ...own };
  });
}

function dead(pod: string, deadAt: number, deadBy = 'leader'): PodLife {
  return { pod, name: pod, lastBeatAt: deadAt - 3_000, deadAt, deadBy };
}

const POISONED = [0, 1, 2, 3].map((index) => dead(`pod-${index}`, 100_000 * (index + 1) - 100));

test('three deaths are what it may cost, four are one too many', () => {
  expect(tooManyDeaths(3, takenFrom([true, true, true]), POISONED)).toEqual([]);
  const [why] = tooManyDeaths(4, takenFrom([true, true, false, true]), POISONED);
  expect(why).toContain('poison has ended 4 processes, 0 in an outage');
  expect(why).toContain('epoch 3 of pod-2, 2 to 2 crashes, pending');
});

test('a death that was not charged is excused where others were missing too, and left nobody in order', () => {
  const changes = takenFrom([true, true, false, true]);
  const other = dead('bystander', 300_500);
  expect(tooManyDeaths(4, changes, [...POISONED, other])).toEqual([]);
  expect(tooManyDeaths(4, changes, [...POISONED, dead('bystander', 350_000)])).toHaveLength(1);
  const left = dead('bystander', 300_500, 'bystander');
  expect(tooManyDeaths(4, changes, [...POISONED, left])).toHaveLength(1);
  expect(tooManyDeaths(5, changes, [...POISONED, other])).toHaveLength(1);
});
