/** How many runs a pod takes in hand, by how hard its process works. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Capacity } from '../../src/fleet/capacity.ts';
import { systemPressure } from '../../src/ground/index.ts';

const IDLE = { loop: 0, memory: 0 };

function feeling(loop: number, memory: number, times = 50): Capacity {
  const capacity = new Capacity(100);
  for (let time = 0; time < times; time++) capacity.feel({ loop, memory });
  return capacity;
}

test('a pod at ease takes about 80 % of its slots', () => {
  expect(new Capacity(100).count).toBe(80);
  expect(feeling(0.5, 0.5).count).toBe(80);
});

test('a saturated loop or a full memory brings it down to a quarter, and rest brings it back', () => {
  expect(feeling(1, 0).count).toBe(25);
  expect(feeling(0, 0.95).count).toBe(25);
  const capacity = feeling(1, 0.95);
  for (let time = 0; time < 50; time++) capacity.feel(IDLE);
  expect(capacity.count).toBe(80);
});

test('one busy second sends no work away, but full memory does so at once', () => {
  expect(feeling(1, 0, 1).count).toBe(80);
  expect(feeling(0, 0.95, 1).count).toBe(25);
});

test('more pressure never means more work, and there is always room for one run', () => {
  const share = fc.double({ min: 0, max: 1.5, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), share, share, share, (slots, a, b, memory) => {
      const [easy, hard] = [new Capacity(slots), new Capacity(slots)];
      easy.feel({ loop: Math.min(a, b), memory });
      hard.feel({ loop: Math.max(a, b), memory });
      expect(hard.count).toBeLessThanOrEqual(easy.count);
      expect(hard.count).toBeGreaterThanOrEqual(1);
      expect(easy.count).toBeLessThanOrEqual(Math.max(1, Math.floor(slots * 0.8)));
    }),
  );
});

test('it follows the real loop of this process: held, then let go', async () => {
  const pressure = systemPressure();
  const turn = (ms: number) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  await turn(50);
  pressure();
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  await turn(0);
  expect(pressure().loop).toBeGreaterThan(0.9);
  await turn(1_000);
  expect(pressure().loop).toBeLessThan(0.5);
  expect(pressure().memory).toBeGreaterThan(0);
});
