/** An API that refuses everything for a while, and one that takes a few calls a minute: they look alike. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { Falls } from '../../src/throttle/estimate/before-falls.ts';
import { cleanMsOf, nextStep } from '../../src/throttle/estimate/growth.ts';
import { LetIn } from '../../src/throttle/estimate/let-in.ts';
import { Shut } from '../../src/throttle/estimate/shut.ts';
import { defineThrottle, type ThrottleOptions, Throttles } from '../../src/throttle/index.ts';
import { useTestFleets } from '../fleet/support.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const { startFleet } = useTestFleets();
const CALLERS = 30;

/** Callers of one process that try again, later each time, for as long as they are refused. */
function calling(
  isLetIn: (nowMs: number) => boolean,
  latencyMs: number,
  options: ThrottleOptions = { adaptive: true },
) {
  const clock = new FakeClock();
  const defined = [defineThrottle('api', options)];
  const throttles = new Throttles({ clock, random: seededRandom(3), throttles: defined });
  const random = seededRandom(5);
  const counts = { ok: 0, refused: 0 };
  const sleep = (ms: number) => new Promise<void>((wake) => clock.after(ms, wake));
  const call = async () => {
    if (!isLetIn(clock.monotonicMs())) {
      counts.refused++;
      await sleep(40);
      throw Object.assign(new Error('refused'), { status: 429 });
    }
    await sleep(latencyMs * (0.8 + 0.4 * random.fraction()));
    counts.ok++;
  };
  const caller = async () => {
    for (let refusals = 0; ; ) {
      const isDone = await throttles
        .of('api', { isRetry: refusals > 0, refusals })
        .use(call)
        .then(
          () => true,
          () => false,
        );
      refusals = isDone ? 0 : refusals + 1;
      if (!isDone) await sleep(1 + Math.min(60_000, 500 * 2 ** refusals) * random.fraction());
    }
  };
  for (let index = 0; index < CALLERS; index++) void caller();
  const countFor = async (ms: number) => {
    Object.assign(counts, { ok: 0, refused: 0 });
    await clock.advance(ms);
    return { ...counts };
  };
  return { countFor };
}

test.each([30, 120])(
  'a process calls as before minutes after everything was refused for %i s',
  async (s) => {
    let perSecond = 20;
    let [tokens, atMs] = [0, 0];
    const { countFor } = calling((nowMs) => {
      tokens = Math.min(perSecond, tokens + ((nowMs - atMs) * perSecond) / 1_000);
      atMs = nowMs;
      if (tokens < 1) return false;
      tokens--;
      return true;
    }, 500);
    await countFor(200_000);
    const before = (await countFor(60_000)).ok;
    perSecond = 0;
    await countFor(s * 1_000);
    perSecond = 20;
    await countFor(180_000);
    expect((await countFor(60_000)).ok).toBeGreaterThan(0.9 * before);
  },
);

test('of ten calls a minute that are declared hardly any is refused, and most are used', async () => {
  let [tokens, atMs] = [1, 0];
  const isLetIn = (nowMs: number) => {
    tokens = Math.min(1, tokens + (nowMs - atMs) / 6_000);
    atMs = nowMs;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
  const { countFor } = calling(isLetIn, 1_000, { limits: { perSecond: 10 / 60, burst: 1 } });
  await countFor(600_000);
  const { ok, refused } = await countFor(1_200_000);
  expect(ok).toBeGreaterThan(170);
  expect(refused).toBeLessThan(6);
});

test.each([1, 8])('so do %i pods, after everything was refused for 3 min', (pods) => {
  const scene = new Scene({ kind: 'quota', pods, seed: 101, by: 'ours', beatMs: 3_000 });
  scene.runTo(200);
  scene.api.scale = 1e-9;
  scene.runTo(380);
  scene.api.scale = 1;
  scene.runTo(660);
  expect(scene.figures(600, 660).goodput).toBeGreaterThan(0.9);
});

test('a second that let in most of its calls tells of an edge; one after which all is let in does not', () => {
  const second = (at: number, sent: number, throttled: number) => {
    return { at, sent, throttled, timedOut: 0, failed: 0, ok: sent - throttled, latencyMsSum: 0 };
  };
  const after = (one: ReturnType<typeof second>) => {
    const letIn = new LetIn();
    letIn.beforeRefusals([second(1, 2, 2)], [second(1, 2, 2)], 2_000);
    return letIn.beforeRefusals([one], [one, second(3, 2, 0)], 4_000);
  };
  expect(after(second(2, 100, 3))).toBe(true);
  expect(after(second(2, 2, 1))).toBe(false);
});

test.each([1, 8])(
  '%i pods use an API that refuses all for 10 s of each minute, and after that',
  (pods) => {
    const scene = new Scene({ kind: 'quota', pods, seed: 3, by: 'ours', beatMs: 3_000 });
    const { api, world } = scene;
    const take = api.call.bind(api);
    let isShut = false;
    api.call = (answer) => {
      if (isShut) world.at(world.now + 40, () => answer('throttled'));
      else take(answer);
    };
    scene.runTo(180);
    for (let at = 180; at < 780; at += 60) {
      isShut = true;
      scene.runTo(at + 10);
      isShut = false;
      scene.runTo(at + 60);
    }
    scene.runTo(960);
    expect(scene.figures(180, 780).goodput / (50 / 60)).toBeGreaterThan(0.6);
    expect(scene.goodFrom(780, 960, 12, 0.9)).toBeLessThan(780 + 150);
  },
);

test.each([
  [1, 10],
  [8, 10],
  [8, 120],
])(
  '%i pods that are refused everything for %i s from the first call on use all of it a minute later',
  (pods, s) => {
    const scene = new Scene({ kind: 'quota', pods, seed: 1, by: 'ours', beatMs: 3_000 });
    scene.api.scale = 1e-9;
    scene.runTo(s);
    scene.api.scale = 1;
    scene.runTo(s + 120);
    expect(scene.figures(s + 60, s + 120).goodput).toBeGreaterThan(0.9);
    expect(scene.figures(s, s + 120).rejected).toBeLessThan(0.05);
  },
);

test('of one that was shut before it let anything in, nothing is known when it is open again', () => {
  const opened = (isUnknown: boolean, then: (falls: Falls) => void) => {
    const falls = new Falls(undefined);
    falls.fell(1_000, { at: 1, cap: 8 }, isUnknown);
    falls.fell(4_000, { at: 1, cap: 8 });
    then(falls);
    return [3, 7.92, 7.92].map((cap) => falls.isNew(cap));
  };
  expect(opened(true, () => {})).toEqual([false, true, false]);
  expect(opened(false, () => {})).toEqual([false, false, false]);
  expect(opened(true, (falls) => falls.inVain(5))).toEqual([false, false, false]);
});

test('an API is shut that refuses many in a row, and open as soon as it lets one in', () => {
  const shut = new Shut();
  const second = (at: number, sent: number, throttled: number) => {
    return { at, sent, throttled, timedOut: 0, failed: 0, ok: sent - throttled, latencyMsSum: 0 };
  };
  shut.note([second(1, 50, 20), second(2, 7, 7)], 50);
  expect(shut.since).toBeUndefined();
  shut.note([second(3, 0, 0), second(4, 1, 1)], 25);
  // What was called when it was shut, and not what that was cut to since.
  expect(shut.since).toEqual({ at: 2, cap: 50 });
  shut.note([second(5, 1, 0)], 12);
  expect(shut.since).toBeUndefined();
});

test('once it is open again it is called as before in two steps, later each time it was not for long', () => {
  const falls = new Falls(undefined);
  falls.wentWell(50, 36_000);
  falls.fell(1_000, { at: 1, cap: 50 });
  falls.fell(4_000, { at: 1, cap: 50 });
  const terms = { tooMuch: 0, growths: 0, isLarge: false, latencyMs: 500, chargesRefusals: false };
  const at = (cap: number) => {
    const bad = { cap: 7, atMs: 9_000 };
    return { ...terms, cap, bad, before: falls.before(cap, 9_000) };
  };
  expect(nextStep(at(6), 9_000, 3_000)?.cap).toBeCloseTo(34.65);
  expect(nextStep(at(34.65), 9_000, 3_000)?.cap).toBeCloseTo(49.5);
  expect(cleanMsOf(at(6), 3_000)).toBe(3_000);
  falls.fell(12_000, { at: 11, cap: 34.65 });
  falls.wentWell(3, 36_000);
  expect(falls.before(3, 13_000)).toEqual({ cap: 49.5, tries: 1, isShut: true });
  expect(cleanMsOf(at(3), 3_000)).toBe(6_000);
  expect([falls.isBack(34.65), falls.isBack(49.5), falls.isBack(49.5)]).toEqual([
    false,
    true,
    false,
  ]);
  expect(falls.before(49.5, 14_000)).toBeUndefined();
});

test('what was used last is gone back to where nothing was used for long', () => {
  const falls = new Falls(undefined);
  falls.fell(1_000);
  falls.fell(4_000, { at: 1, cap: 50 });
  expect(falls.before(12, 9_000)).toMatchObject({ cap: 49.5, isShut: true });
});

test.each([undefined, 1])(
  'little used, and shut for a minute (Retry-After %s), it is soon as before',
  async (s) => {
    const fleet = startFleet();
    const { clock } = fleet;
    let [isShut, done, came] = [false, 0, 0];
    const call = () => {
      if (!isShut) return new Promise<void>((answer) => void clock.after(500, answer));
      const headers = s === undefined ? {} : { 'retry-after': `${s}` };
      throw Object.assign(new Error('busy'), { status: 429, headers });
    };
    const pods = await Promise.all(
      ['alder', 'birch', 'cedar'].map((name) => fleet.startPod(name, { machines: [] })),
    );
    // Two a second, of which each is called until it is done.
    const come = () => {
      const pod = pods[came++ % 3]!;
      const again = (): void => {
        const later = ({ delayMs = 200 }) => void clock.after(Math.max(200, delayMs), again);
        pod.fleet
          .throttle('llm')
          .use(call)
          .then(() => done++, later);
      };
      again();
      clock.after(500, come);
    };
    come();
    await clock.advance(60_000);
    isShut = true;
    await clock.advance(60_000);
    isShut = false;
    await clock.advance(90_000);
    expect(came - done).toBeLessThan(10);
  },
);
