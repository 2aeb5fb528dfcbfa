/** How much more of an API is tried than went well: near what was too much, behind it, and where it is dear. */
import { expect, test } from 'vitest';
import {
  badKeptMs,
  cleanMsOf,
  type Footing,
  nextStep,
} from '../../src/throttle/estimate/growth.ts';

const TICK_MS = 2_000;
const NOW_MS = 100_000;

function footing(over: Partial<Footing> = {}): Footing {
  return {
    cap: 50,
    bad: undefined,
    tooMuch: 0,
    growths: 0,
    isLarge: false,
    chargesRefusals: false,
    latencyMs: 500,
    ...over,
  };
}

const step = (over: Partial<Footing> = {}) => nextStep(footing(over), NOW_MS, TICK_MS);
const badAt = (cap: number, ageMs: number) => ({ cap, atMs: NOW_MS - ageMs });

test('what was too much a moment ago is not tried again, and looked for between where it is far', () => {
  expect(step({ bad: badAt(52, 10_000) })).toBeUndefined();
  const between = step({ bad: badAt(80, 10_000) });
  expect(between).toMatchObject({ decision: 'bisect', isLarge: false });
  expect(between!.cap).toBeGreaterThan(50);
  expect(between!.cap).toBeLessThan(80);
});

test('a while later it goes up to it, and not beyond', () => {
  expect(step({ bad: badAt(52, 30_000) })).toMatchObject({ cap: 52, isLarge: false });
  expect(step({ bad: badAt(80, 30_000), growths: 3 })).toMatchObject({ cap: 80 });
});

test('where it is behind, a first step is small and the next one large', () => {
  expect(step({ bad: badAt(49, 30_000) })!.cap).toBeCloseTo(53);
  expect(step({ bad: badAt(49, 30_000), growths: 1 })!.cap).toBeGreaterThan(75);
  expect(step({ bad: badAt(49, 30_000), growths: 1, tooMuch: 60 })!.cap).toBeCloseTo(53);
});

test('where it is not known what was too much, no step is very large', () => {
  expect(step({ growths: 3 })!.cap).toBeCloseTo(60);
});

test('a small step stays until a burst cannot hide it; a large one shows at once', () => {
  expect(cleanMsOf(footing({ bad: badAt(50, 30_000) }), TICK_MS)).toBe(13_000);
  expect(cleanMsOf(footing({ bad: badAt(60, 30_000) }), TICK_MS)).toBe(6_000);
  expect(cleanMsOf(footing({ bad: badAt(50, 30_000), isLarge: true }), TICK_MS)).toBe(TICK_MS);
});

test('where refusals are charged, less is risked, and less often', () => {
  const dear = { chargesRefusals: true } as const;
  expect(step({ ...dear, bad: badAt(52, 30_000) })).toBeUndefined();
  expect(step({ ...dear, bad: badAt(49, 40_000), growths: 3 })!.cap).toBeCloseTo(53);
});

test('what was too much is left alone for 25 s, or longer where word gets around slowly', () => {
  expect(step({ bad: badAt(52, 24_000) })).toBeUndefined();
  expect(step({ bad: badAt(52, 26_000) })).toBeDefined();
  const slow = (ageMs: number) => nextStep(footing({ bad: badAt(52, ageMs) }), NOW_MS, 5_000);
  expect(slow(59_000)).toBeUndefined();
  expect(slow(61_000)).toBeDefined();
});

test('between two caps it is looked for a little nearer to the one that went well', () => {
  expect(step({ bad: badAt(80, 10_000) })!.cap).toBeCloseTo(Math.sqrt(50 * 80 * 0.97));
});

test('a step is one more permit at the least', () => {
  expect(step({ cap: 5.5 })!.cap).toBe(6);
  expect(step({ cap: 5, bad: badAt(5.1, 90_000) })!.cap).toBe(6);
});

test('a step is large where what was too much is behind, and no other', () => {
  expect(step({ bad: badAt(49, 30_000), growths: 1 })).toMatchObject({ isLarge: true });
  expect(step({ growths: 0 })).toMatchObject({ isLarge: true });
  expect(step({ bad: badAt(80, 30_000), growths: 1 })).toMatchObject({ isLarge: false });
});

test('where refusals are charged, what was too much is near up to the last permit', () => {
  const near = { bad: badAt(50.2, 60_000), growths: 1 };
  expect(step({ ...near, chargesRefusals: true })!.cap).toBeCloseTo(51.5);
  expect(step(near)!.cap).toBeCloseTo(85);
});

test('a burst hides a small step for 13 s at most, and well behind what was too much it does not', () => {
  const atBad = footing({ bad: badAt(50, 30_000) });
  expect(cleanMsOf(atBad, 1_000)).toBe(7_000);
  expect(cleanMsOf(atBad, 5_000)).toBe(15_000);
  expect(cleanMsOf(footing({ bad: badAt(40, 30_000) }), TICK_MS)).toBe(6_000);
});

test('one more of few is tried the more seldom the fewer they are', () => {
  expect(step({ cap: 5, bad: badAt(5.3, 80_000) })).toBeUndefined();
  expect(step({ cap: 5, bad: badAt(5.3, 90_000) })!.cap).toBe(6);
  expect(step({ cap: 1, bad: badAt(1.05, 90_000) })).toBeUndefined();
});

test('what was too much is left alone for twelve calls, where those are long', () => {
  expect(step({ latencyMs: 20_000, bad: badAt(52, 230_000) })).toBeUndefined();
  expect(step({ latencyMs: 20_000, bad: badAt(52, 250_000) })).toBeDefined();
});

test('the fewer there are the more seldom one more is tried, but after ten minutes or twelve calls it is', () => {
  const keptMs = (cap: number, latencyMs: number) =>
    badKeptMs(footing({ cap, latencyMs }), TICK_MS);
  expect(keptMs(50, 500)).toBe(25_000);
  expect(keptMs(5, 500)).toBeGreaterThan(75_000);
  expect(keptMs(2, 30_000)).toBe(600_000);
  expect(keptMs(3, 60_000)).toBe(720_000);
});
