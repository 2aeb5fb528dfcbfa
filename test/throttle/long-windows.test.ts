/** APIs whose quota is for an hour, and who tell what is left of it, as GitHub does. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { Hints } from '../../src/throttle/estimate/hints.ts';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { ToldRoom } from '../../src/throttle/permits/told-room.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const HOUR_MS = 3_600_000;
const QUOTA = 5_000;
const CALL_MS = 200;

/** Seconds until 200 calls are done that come at once, of an API that takes them all. */
async function batchOf(tells: boolean): Promise<number> {
  const clock = new FakeClock();
  const throttles = new Throttles({ clock, random: seededRandom(3) });
  let [used, done] = [0, 0];
  const answer = async () => {
    const remaining = QUOTA - ++used;
    await new Promise<void>((wake) => clock.after(CALL_MS, wake));
    const resetS = (HOUR_MS - clock.monotonicMs()) / 1_000;
    const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${resetS}` };
    return { status: 200, headers: tells ? headers : {} };
  };
  for (let count = 0; count < 200; count++) {
    const api = throttles.of('api', { isRetry: false, refusals: 0 });
    void api.use(answer).then(() => done++);
  }
  for (let second = 1; second <= 120; second++) {
    await clock.advance(1_000);
    if (done === 200) return second;
  }
  return Number.POSITIVE_INFINITY;
}

test('a batch is called as soon as without headers, where they tell that nearly all is left', async () => {
  expect(await batchOf(true)).toBeLessThanOrEqual((await batchOf(false)) + 1);
});

/** Pods that would call much more than the quota of each hour. */
function hoursOf(
  pods: number,
  callMs: number,
): { readonly scene: Scene; used(hour: number): number } {
  const scene = new Scene({ kind: 'quota', pods, seed: 7, by: 'ours', beatMs: 3_000 });
  const { world } = scene;
  const used: number[] = [];
  scene.api.call = (answer) => {
    const hour = Math.floor(world.now / HOUR_MS);
    if ((used[hour] ?? 0) >= QUOTA) return world.at(world.now + 40, () => answer('throttled'));
    used[hour] = (used[hour] ?? 0) + 1;
    world.at(world.now + world.around(callMs, 0.3), () => {
      const now = Math.floor(world.now / HOUR_MS);
      const resetMs = Math.ceil(((now + 1) * HOUR_MS - world.now) / 1_000) * 1_000;
      answer('ok', { remaining: QUOTA - (used[now] ?? 0), resetMs });
    });
  };
  return { scene, used: (hour) => used[hour] ?? 0 };
}

test.each([
  [1, 50],
  [1, 200],
  [8, 200],
  [8, 2_000],
])(
  '%i pods use the quota of each hour, by calls of %i ms, and have hardly any refused',
  (...of) => {
    const { scene, used } = hoursOf(...of);
    for (const hour of [0, 1]) {
      scene.runTo((hour + 1) * 3_600);
      expect(used(hour)).toBeGreaterThan(0.95 * QUOTA);
      const { rejected } = scene.figures(hour * 3_600, (hour + 1) * 3_600);
      expect(rejected).toBeLessThan(0.005);
    }
  },
);

test('what is left of a minute is a pace; of an hour, half is spread over it and the other half may be had soon', () => {
  const minute = new ToldRoom();
  minute.note({ kind: 'ok', hint: { remaining: 600, resetMs: 60_000 } }, 1, 0);
  expect(minute.rate(1)).toEqual({ perSecondHint: 10, isHintMost: false });
  const hour = new ToldRoom();
  const at = (remaining: number, nowMs: number) => {
    hour.note({ kind: 'ok', hint: { remaining, resetMs: HOUR_MS - nowMs } }, 1, nowMs);
    return hour.rate(nowMs)!;
  };
  expect(at(7_200, 0)).toEqual({ perSecondHint: 1 + 3_600 / 30, isHintMost: true });
  // Half of the hour is over, and all that may be had soon was had.
  expect(at(1_800, HOUR_MS / 2).perSecondHint).toBeCloseTo(1);
  expect(at(900, HOUR_MS / 2).perSecondHint).toBeCloseTo(0.5);
  expect(at(60, HOUR_MS - 30_000)).toEqual({ perSecondHint: 2, isHintMost: true });
});

test('what is left of an hour is a bound: only what went well before it is gone up to at once', () => {
  const hints = new Hints();
  const said = (perSecondHint: number, cap: number) =>
    hints.capBy({ perSecondHint, isHintMost: true, seconds: [] }, cap, 1_000, 3_000);
  expect(said(100, 20)).toBeUndefined();
  expect(said(2, 20)).toBe(2);
  expect(said(100, 2)).toBe(20);
  expect(said(10, 2)).toBe(10);
});

test('while calls are paced that is what is said of them, and not that they wait for permits', async () => {
  const clock = new FakeClock();
  const limits = { perSecond: 0.5, burst: 1 };
  const throttles = [defineThrottle('api', { limits })];
  const all = new Throttles({ clock, random: seededRandom(3), throttles });
  const api = all.of('api', { isRetry: false, refusals: 0 });
  for (let count = 0; count < 3; count++) void api.use(async () => 1);
  await clock.advance(100);
  expect(api.snapshot().state).toBe('calls go out one after the other, 2 wait for their turn');
});
