/** Durations, backoff, run ids and the real clock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  atMost,
  type Clock,
  exponential,
  isRunId,
  jittered,
  parseDuration,
  pause,
  runIdMint,
  showDuration,
  systemClock,
  systemRandom,
} from '../../src/ground/index.ts';
import { SEED, seeded } from './seed.ts';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const TEN_YEARS_MS = 3_650 * UNIT_MS.d;

describe(`with seed ${SEED}`, () => {
  test('a duration is its number times its unit, up to ten years', () => {
    const unit = fc.constantFrom(...(Object.keys(UNIT_MS) as (keyof typeof UNIT_MS)[]));
    const count = fc.oneof(fc.nat(10_000), fc.nat(2 ** 31 - 1));
    fc.assert(
      fc.property(count, unit, (n, u) => {
        const ms = n * UNIT_MS[u];
        expect(parseDuration(`${n}${u}`)).toBe(ms <= TEN_YEARS_MS ? ms : undefined);
        expect(parseDuration(`${n}.5${u}`)).toBe(
          ms + UNIT_MS[u] / 2 <= TEN_YEARS_MS ? ms + UNIT_MS[u] / 2 : undefined,
        );
      }),
      seeded(500),
    );
  });

  test('whatever is given, the answer is undefined or milliseconds from none to ten years', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), fc.string()), (value) => {
        const ms = parseDuration(value);
        expect(ms === undefined || (ms >= 0 && ms <= TEN_YEARS_MS)).toBe(true);
      }),
      seeded(1_000),
    );
  });

  test('backoff begins at first, doubles, never falls, and stays at max', () => {
    const ms = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(ms, ms, fc.integer({ min: 1, max: 10_000 }), (first, max, attempt) => {
        const backoff = exponential(first, { max });
        expect(backoff(1)).toBe(Math.min(first, max));
        expect(backoff(attempt)).toBeGreaterThanOrEqual(Math.min(first, max));
        expect(backoff(attempt)).toBeLessThanOrEqual(max);
        expect(backoff(attempt + 1)).toBe(Math.min(max, 2 * backoff(attempt)));
        expect(backoff(100)).toBe(max);
      }),
      seeded(500),
    );
  });

  test('jitter gives between half of a delay and all of it, and all of that range', () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(), fraction, (delayMs, chance) => {
        expect(jittered(delayMs, chance)).toBeGreaterThanOrEqual(delayMs / 2);
        expect(jittered(delayMs, chance)).toBeLessThanOrEqual(delayMs);
      }),
      seeded(500),
    );
    expect(jittered(1_000, 0)).toBe(500);
    expect(jittered(1_000, 0.5)).toBe(750);
    expect(jittered(1_000, 0.999)).toBeGreaterThan(999);
  });

  test('run ids ascend, also when the clock stands, steps back or has fractions', () => {
    const now = fc.double({ min: -1, max: 2 ** 47, noNaN: true });
    fc.assert(
      fc.property(fc.array(now, { minLength: 2, maxLength: 30 }), (times) => {
        const left = [...times];
        const clock = { now: () => left.shift()! } as Clock;
        const mint = runIdMint(clock, systemRandom);
        const ids = times.map(() => mint());
        expect(ids).toEqual([...new Set(ids)].sort());
        expect(ids.every(isRunId)).toBe(true);
      }),
      seeded(300),
    );
  });
});

test('the default backoff of an exponential ends at 30 seconds', () => {
  expect([1, 2, 3, 100].map(exponential('10s'))).toEqual([10_000, 20_000, 30_000, 30_000]);
});

test('what is no run id is told from one', () => {
  for (const text of [
    '',
    'x',
    '01ARZ3NDEKTSV4RRFFQ69G5FA',
    '01ARZ3NDEKTSV4RRFFQ69G5FAVX',
    '../../etc',
  ]) {
    expect(isRunId(text), text).toBe(false);
  }
  expect(isRunId('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe(true);
});

test('durations are shown short', () => {
  const shown = [0, 340, 1_234, 12_345, 180_000, 7_200_000, 86_400_000 * 3].map(showDuration);
  expect(shown).toEqual(['0 ms', '340 ms', '1.2 s', '12 s', '3 min', '2.0 h', '3 d']);
  const atTheEdge = [999.9, 9_999, 59_999, 3_599_999].map(showDuration);
  expect(atTheEdge).toEqual(['1.0 s', '10 s', '1 min', '1.0 h']);
});

test('a timer of the real clock fires once its time has come, and not once it was cancelled', async () => {
  const fired: string[] = [];
  const begunMs = systemClock.monotonicMs();
  const cancel = systemClock.after(1, () => fired.push('cancelled'));
  cancel();
  systemClock.after(-5, () => fired.push('past'));
  await pause(systemClock, 15);
  expect(fired).toEqual(['past']);
  // Timers count whole milliseconds from when the loop last looked at its clock.
  expect(systemClock.monotonicMs() - begunMs).toBeGreaterThan(13);
});

test('a timer past what the runtime can count does not fire at once', async () => {
  let isFired = false;
  const cancel = systemClock.after(
    TEN_YEARS_MS,
    () => {
      isFired = true;
    },
    { idle: true },
  );
  await pause(systemClock, 5);
  cancel();
  expect(isFired).toBe(false);
});

test('waiting at most so long ends with the work or with the time, and leaves no timer', async () => {
  const timers = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after: (_, act) => {
      timers.add(act);
      return () => timers.delete(act);
    },
  };
  await atMost(clock, 1_000, Promise.resolve());
  await expect(atMost(clock, 1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(timers.size).toBe(0);
  const late = atMost(clock, 1_000, new Promise(() => undefined));
  for (const fire of timers) fire();
  await late;
  expect(timers.size).toBe(0);
});
