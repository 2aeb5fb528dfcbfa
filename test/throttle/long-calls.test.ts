/** Calls that last longer than heartbeats: what is out has not come back because less was said. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { divide, shareOf } from '../../src/throttle/fleet/shares.ts';

test.each([
  { pods: 16, permits: 8 },
  { pods: 64, permits: 50 },
])('$pods pods never have more than $permits calls of a minute out', ({ pods, permits }) => {
  const scene = new Scene({
    ...{ kind: 'inflight', pods, seed: 5, by: 'ours', beatMs: 3_000 },
    api: { permits, latencyMs: 60_000 },
    throttle: { limits: { inFlight: permits } },
  });
  scene.runTo(1_200);
  // What the API has no room for it refuses.
  expect(scene.figures(0, 1_200).rejected).toBe(0);
  expect(scene.figures(300, 1_200).goodput).toBeGreaterThan(0.9);
  expect(scene.figures(300, 1_200).jain).toBeGreaterThan(0.8);
});

test('what is too much for an API is found before its first call has come back', () => {
  const api = { permits: 20, latencyMs: 120_000 };
  const scene = new Scene({ kind: 'inflight', pods: 64, seed: 7, by: 'ours', beatMs: 3_000, api });
  scene.runTo(1_200);
  expect(scene.figures(300, 1_200).goodput).toBeGreaterThan(0.85);
});

test('whoever has nothing gets a permit when another has told that its call is over', () => {
  const shares = (out: number) => {
    const pods = [
      { key: 'a', demand: 8, out },
      { key: 'b', demand: 8, out: 0 },
    ];
    const division = divide(8, pods);
    return pods.map((pod) => shareOf(division, pod));
  };
  expect(shares(8)).toEqual([1, 0]);
  expect(shares(7)).toEqual([2, 1]);
  expect(shares(5)).toEqual([4, 3]);
  expect(shares(4)).toEqual([4, 4]);
});

test('a permit that goes round stays with whoever uses it until its turn is over', () => {
  const pods = ['a', 'b', 'c', 'd'].map((key, index) => ({
    ...{ key, demand: 5 },
    out: index === 0 || index === 3 ? 1 : 0,
  }));
  const sharesFrom = (from: string) => pods.map((pod) => shareOf(divide(2, pods, from), pod));
  // Beside `a` somebody has the other one still, whose turn is over.
  expect(sharesFrom('a')).toEqual([1, 0, 0, 0]);
  expect(sharesFrom('d')).toEqual([1, 0, 0, 1]);
  expect(sharesFrom('b')).toEqual([0, 0, 0, 0]);
});

test('a limit that falls below what is out lets nobody begin, and stops nobody for longer', () => {
  const pods = [6, 6, 4].map((out, index) => ({ key: `${index}`, demand: 20, out }));
  const division = divide(12, pods);
  expect(pods.map((pod) => shareOf(division, pod))).toEqual([4, 4, 4]);
});
