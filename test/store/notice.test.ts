/** Which pods a notification calls, and when each of them looks. */
import { expect, test } from 'vitest';
import {
  joined,
  lookAfterMs,
  noticeIn,
  noticeOf,
  type PodGroup,
  wordsOf,
} from '../../src/store/notice.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { podOf } from './harness.ts';

const fleetOf = (count: number, routes: readonly string[] = ['x@1'], name = 'pod'): PodGroup => ({
  routes,
  pods: Array.from({ length: count }, (_, n) => podOf(`${name}-${n}`)),
});
const random = seededRandom(7);
const one = { count: 1, routes: ['x@1'] };

test('of one task one pod of many looks at once, two soon after, and the others by their ladders', () => {
  const fleet = fleetOf(32);
  const notice = noticeOf(one, [fleet], random)!;
  const waits = fleet.pods.map((pod) => lookAfterMs(notice, pod));
  expect(waits.filter((ms) => ms !== undefined).sort((a, b) => a! - b!)).toEqual([0, 30, 90]);
});

test('each pod is called first about as often as any other', () => {
  const fleet = fleetOf(8);
  const first = new Map<string, number>();
  for (let n = 0; n < 8_000; n++) {
    const [pod] = noticeOf(one, [fleet], random)!.pods;
    first.set(pod!, (first.get(pod!) ?? 0) + 1);
  }
  expect(first.size).toBe(8);
  expect(Math.min(...first.values())).toBeGreaterThan(850);
  expect(Math.max(...first.values())).toBeLessThan(1_150);
});

test('more tasks call more pods at once, and many tasks call every pod', () => {
  const fleet = [fleetOf(32)];
  const atOnce = (count: number) => noticeOf({ ...one, count }, fleet, random)?.atOnce;
  expect([1, 4, 5, 32].map(atOnce)).toEqual([1, 1, 2, 8]);
  expect(atOnce(33)).toBeUndefined();
  expect(atOnce(1_000)).toBeUndefined();
});

test('the only pod of a fleet always looks at once', () => {
  const fleet = fleetOf(1);
  for (const count of [1, 20, 1_000]) {
    const notice = noticeOf({ ...one, count }, [fleet], random);
    expect(notice === undefined || lookAfterMs(notice, fleet.pods[0]!) === 0).toBe(true);
  }
});

test('only pods that have every route of the tasks are called', () => {
  const able = fleetOf(2, ['x@1', 'y@1'], 'able');
  const groups = [fleetOf(30, ['y@1'], 'other'), able];
  for (let n = 0; n < 100; n++) {
    const { pods, atOnce } = noticeOf({ count: 1, routes: ['y@1', 'x@1'] }, groups, random)!;
    expect([...pods].sort()).toEqual([...able.pods].sort());
    expect(atOnce).toBe(1);
  }
});

test('a group of pods that are all full is a group, and no other is called in its place', () => {
  const groups = [fleetOf(4), { routes: ['y@1'], pods: [] }];
  expect(noticeOf({ count: 1, routes: ['y@1'] }, groups, random)).toBeUndefined();
  expect(noticeOf({ count: 1 }, groups, random)).toBeUndefined();
});

test('every pod looks where it is not known how many tasks there are, or which pods can run them', () => {
  const mixed = [fleetOf(4), fleetOf(4, ['y@1'], 'other')];
  expect(noticeOf({ routes: ['x@1'] }, mixed, random)).toBeUndefined();
  expect(noticeOf({ count: 1 }, mixed, random)).toBeUndefined();
  // A route whose pods are gone: pods of a newer version may have taken it over.
  expect(noticeOf({ count: 1, routes: ['z@1'] }, mixed, random)).toBeUndefined();
  expect(noticeOf(one, [], random)).toBeUndefined();
  expect(noticeOf({ count: 1 }, [fleetOf(4)], random)).toBeDefined();
});

test('what is gathered into one notification adds up, and stays unknown where a part of it is', () => {
  expect(joined(one, { count: 2, routes: ['y@1', 'x@1'] })).toEqual({
    count: 3,
    routes: ['x@1', 'y@1'],
  });
  expect(joined(one, {})).toEqual({ count: undefined, routes: undefined });
  const many = Array.from({ length: 20 }, (_, n) => `m${n}@1`);
  expect(joined(one, { count: 20, routes: many })).toEqual({ count: 21, routes: undefined });
});

test('a notice comes out of its words as it went in, and words that make no sense call every pod', () => {
  const notice = noticeOf({ ...one, count: 9 }, [fleetOf(32)], random)!;
  expect(noticeIn(wordsOf(notice))).toEqual(notice);
  for (const words of ['', '1', 'x a b', '0 a']) expect(noticeIn(words)).toBeUndefined();
});
