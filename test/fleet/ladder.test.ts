/** How long an idle, contended or failing claimer waits. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ladder } from '../../src/fleet/ladder.ts';

const BANDS: readonly (readonly [number, number])[] = [
  [50, 50],
  [100, 150],
  [200, 300],
  [400, 650],
];
const TOP_MS = 1_000;

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('whatever chance says, the nth wait in vain stays within the nth band', () => {
  fc.assert(
    fc.property(fc.array(chance, { minLength: 1, maxLength: 40 }), (chances) => {
      const ladder = new Ladder();
      chances.forEach((fraction, index) => {
        const waitMs = ladder.next(() => fraction);
        const [from, to] = BANDS[index] ?? [650, TOP_MS];
        expect(waitMs).toBeGreaterThanOrEqual(from);
        expect(waitMs).toBeLessThanOrEqual(to);
      });
    }),
  );
});

test('something found begins the ladder anew, wherever it was', () => {
  fc.assert(
    fc.property(fc.nat({ max: 20 }), chance, (rungs, fraction) => {
      const ladder = new Ladder();
      for (let rung = 0; rung < rungs; rung++) ladder.next(() => fraction);
      ladder.reset();
      expect(ladder.next(() => fraction)).toBe(50);
    }),
  );
});

test('waits never shrink before something is found, and pods that began together drift apart', () => {
  const [low, high] = [new Ladder(), new Ladder()];
  let before = 0;
  for (let rung = 0; rung < 10; rung++) {
    const [lowMs, highMs] = [low.next(() => 0), high.next(() => 0.999)];
    expect(lowMs).toBeGreaterThanOrEqual(before);
    if (rung > 0) expect(highMs - lowMs).toBeGreaterThan(45);
    before = lowMs;
  }
});

test('a store that would rather be asked less often stretches the top alone', () => {
  const ladder = new Ladder(10_000);
  const waits = Array.from({ length: 6 }, () => ladder.next(() => 0.5));
  expect(waits.slice(0, 4)).toEqual([50, 125, 250, 525]);
  expect(waits.at(-1)).toBeGreaterThan(8_000);
});
