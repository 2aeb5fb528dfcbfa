/** How long an API is left alone that says so, and one that says only that its quota is used up. */
import { expect, test } from 'vitest';
import { Pause } from '../../src/throttle/permits/pause.ts';

const usedUp = { kind: 'throttled', hint: { remaining: 0, resetMs: 30_000 } } as const;

test('what an API asks for is heeded, a little spread, and the longest of it', () => {
  const pause = new Pause();
  pause.note({ kind: 'throttled', retryAfterMs: 10_000 }, 0, 0);
  pause.note({ kind: 'overload', retryAfterMs: 2_000 }, 0, 0);
  expect(pause.untilMs).toBeGreaterThanOrEqual(10_000);
  expect(pause.toldMs(4_000)).toBe(6_000);
  pause.note({ kind: 'failure', retryAfterMs: 60_000 }, 0, 0);
  expect(pause.toldMs(4_000)).toBe(6_000);
});

test('a refusal that says only that nothing is left is waited out while no call was ever answered', () => {
  const pause = new Pause();
  pause.note(usedUp, 0, 0);
  expect(pause.untilMs).toBeGreaterThanOrEqual(30_000);
  expect(pause.toldMs(0)).toBe(30_000);
  const answered = new Pause();
  answered.note({ kind: 'ok' }, 0, 0);
  answered.note(usedUp, 0, 0);
  expect(answered.toldMs(0)).toBe(0);
  const elsewhere = new Pause();
  elsewhere.isKnown = true;
  elsewhere.note(usedUp, 0, 0);
  expect(elsewhere.toldMs(0)).toBe(0);
});

test('of a quota that is whole again in an hour there may be something in a minute', () => {
  const pause = new Pause();
  pause.note({ ...usedUp, hint: { remaining: 0, resetMs: 3_600_000 } }, 0, 0);
  expect(pause.toldMs(0)).toBe(60_000);
});

test('what is left, and what was not refused, is no reason to wait', () => {
  const pause = new Pause();
  pause.note({ ...usedUp, hint: { remaining: 5, resetMs: 30_000 } }, 0, 0);
  pause.note({ kind: 'client', hint: { remaining: 0, resetMs: 30_000 } }, 0, 0);
  expect(pause.toldMs(0)).toBe(0);
});
