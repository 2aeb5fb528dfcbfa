/** APIs that tell whom they refuse to leave them alone: one call too many stops everybody for so long. */
import { expect, test } from 'vitest';
import { defineThrottle } from '../../src/index.ts';
import { badKeptMs } from '../../src/throttle/estimate/growth.ts';
import { Pauses } from '../../src/throttle/estimate/pauses.ts';
import { useTestFleets } from '../fleet/support.ts';

const { startFleet } = useTestFleets();
const [ROOM, LATENCY_MS] = [12, 400];
const throttles = [defineThrottle('llm', { adaptive: true })];

test.each([10, 30])('most of an API is used that pauses for %i s with each refusal', async (s) => {
  const fleet = startFleet();
  const { clock } = fleet;
  let [inFlight, answered] = [0, 0];
  const call = () => {
    if (inFlight >= ROOM) {
      const headers = { 'retry-after': `${s}` };
      throw Object.assign(new Error('busy'), { status: 429, headers });
    }
    inFlight++;
    return new Promise<void>((answer) => {
      clock.after(LATENCY_MS, () => {
        inFlight--;
        answered++;
        answer();
      });
    });
  };
  for (const name of ['alder', 'birch', 'cedar']) {
    const pod = await fleet.startPod(name, { machines: [], throttles });
    const again = (): void => {
      const refused = ({ delayMs = 200 }) => void clock.after(Math.max(200, delayMs), again);
      pod.fleet.throttle('llm').use(call).then(again, refused);
    };
    for (let caller = 0; caller < 20; caller++) again();
  }
  await clock.advance(100_000);
  answered = 0;
  // More is tried now and then, and each time that is a whole pause.
  await clock.advance(300_000);
  expect(answered / (300 * (ROOM / LATENCY_MS) * 1_000)).toBeGreaterThan(0.85);
});

const second = (at: number) => {
  return { at, sent: 20, throttled: 1, timedOut: 0, failed: 0, ok: 19, latencyMsSum: 0 };
};

test('a refusal that pauses costs a permit, and twice as many more each time in a row', () => {
  const pauses = new Pauses();
  pauses.note(100_000);
  expect(pauses.cutShort([second(69), second(70), second(99)], 70_000)).toEqual([second(70)]);
  const caps = [50, 50, 50, 50, 50].map((cap) => pauses.lessThan(cap, 50, [second(70)]));
  expect(caps).toEqual([49.9, 48.9, 46.9, 42.9, 34.9]);
  pauses.wentWell();
  expect(pauses.lessThan(13.4, 12.3, [second(70)])).toBe(12.3);
  expect(pauses.lessThan(0.5, 0.5, [second(70)])).toBe(0.45);
});

test('the longer refusals pause the more seldom more is tried', () => {
  const pauses = new Pauses();
  const terms = { cap: 50, bad: undefined, tooMuch: 0, growths: 0, isLarge: false, latencyMs: 400 };
  const keptMs = () =>
    badKeptMs({ ...terms, chargesRefusals: false, sparedMs: pauses.sparedMs }, 3_000);
  expect(keptMs()).toBe(36_000);
  pauses.note(100_000);
  pauses.lessThan(50, 50, [second(70)]);
  expect(keptMs()).toBe(600_000);
  pauses.refusedWithout();
  expect(keptMs()).toBe(36_000);
});
