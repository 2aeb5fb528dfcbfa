/** An API that takes much less for a while, and as much as before after it. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { Falls } from '../../src/throttle/estimate/before-falls.ts';
import { badKeptMs, type Footing, nextStep } from '../../src/throttle/estimate/growth.ts';

const TICK_MS = 3_000;
const NOW_MS = 1_000_000;

/** 50 went well until the API fell, in two cuts. */
function fallen(): Falls {
  const falls = new Falls(undefined);
  falls.wentWell(50, 36_000);
  falls.fell(1_000);
  falls.fell(4_000);
  return falls;
}

test.each([
  [1, 'inflight', 0.1, 111],
  [8, 'inflight', 0.1, 112],
  [8, 'quota', 0.02, 111],
] as const)('%i pods call an API (%s) as before soon after a minute at %d of it', (...of) => {
  const [pods, kind, scale, seed] = of;
  const scene = new Scene({ kind, pods, seed, by: 'ours', beatMs: TICK_MS });
  scene.runTo(200);
  scene.api.scale = scale;
  scene.runTo(265);
  scene.api.scale = 1;
  scene.runTo(600);
  expect(scene.goodFrom(265, 600, 12, 0.9)).toBeLessThan(265 + 150);
});

test('what went well before is known as long as much less goes well, and for half an hour', () => {
  expect(fallen().before(10, 5_000)).toEqual({ cap: 45, tries: 0 });
  expect(fallen().before(30, 5_000)).toBeUndefined();
  expect(fallen().before(10, 1_000 + 31 * 60_000)).toBeUndefined();
});

test('what went well for a moment only, as a burst does, is not gone back to', () => {
  const falls = new Falls(undefined);
  falls.wentWell(50, 9_000);
  falls.fell(1_000);
  expect(falls.before(10, 5_000)).toBeUndefined();
});

test('once it has fallen far it is known on the whole way back, until that is too much or far behind', () => {
  const falls = fallen();
  falls.before(10, 5_000);
  expect(falls.before(40, 6_000)).toBeDefined();
  falls.inVain(12);
  expect(falls.before(40, 7_000)).toEqual({ cap: 45, tries: 1 });
  falls.inVain(46);
  expect(falls.before(40, 8_000)).toBeUndefined();
  const beyond = fallen();
  beyond.before(10, 5_000);
  expect(beyond.before(61, 6_000)).toBeUndefined();
});

test('on the way back it goes past what was too much, then in large steps, and slowly at the end', () => {
  const before = { cap: 45, tries: 0 };
  const bad = { cap: 6, atMs: NOW_MS - 100_000 };
  const footing = { cap: 5, bad, before, tooMuch: 0, growths: 0, isLarge: false, latencyMs: 500 };
  const step = (over: Partial<Footing>) =>
    nextStep({ ...footing, chargesRefusals: true, ...over }, NOW_MS, TICK_MS)!.cap;
  expect(step({})).toBeCloseTo(7.2);
  expect(step({ cap: 7.2, growths: 1 })).toBeCloseTo(12.24);
  expect(step({ cap: 40, growths: 5 })).toBe(45);
  expect(step({ cap: 46, growths: 6 })).toBeCloseTo(48.76);
});

test('the more often it was in vain the longer it is until the next time, within what is usual', () => {
  const keptMs = (tries: number, cap: number) => {
    const terms = { tooMuch: 0, growths: 0, isLarge: false, latencyMs: 500 };
    const before = { cap: 45, tries };
    return badKeptMs({ ...terms, cap, bad: undefined, before, chargesRefusals: false }, TICK_MS);
  };
  expect([0, 1, 2, 9].map((tries) => keptMs(tries, 1))).toEqual([36_000, 72_000, 144_000, 144_000]);
  expect(keptMs(9, 50)).toBe(36_000);
});
