/** A pod that rests is down by its own word, and its process is there. */
import { expect, test } from 'vitest';
import { podOf } from '../../src/cli/fleet/drain.ts';
import type { PodRow } from '../../src/store/index.ts';

const row = { pod: '01M7KA9VDSYP9ZWNJ4GK7A5WTG', name: 'alder', status: 'down' };

test('whoever would drain a pod that rests is told to end its process', () => {
  const resting = [{ ...row, desired: 'rest' }] as unknown as PodRow[];
  expect(() => podOf(resting, 'alder')).toThrow('(alder) rests, and hears nobody');
  expect(() => podOf([row] as unknown as PodRow[], 'alder')).toThrow('(alder) is down');
});
