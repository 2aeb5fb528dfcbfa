/**
 * Many pods against APIs of known capacity, in virtual time: the bench's figures, held to with a margin.
 * One seed each, so that it stays a test of minutes; `npm run bench -- throttle` has the rest.
 */
import { describe, expect, test } from 'vitest';
import { type ApiKind, TELLING_KINDS } from '../../bench/throttle/apis.ts';
import { Scene, type SceneOptions } from '../../bench/throttle/scene.ts';

const BEAT_MS = 2_000;
const WARM_S = 120;

function warm(kind: ApiKind, pods: number, seed = 201): Scene {
  const scene = new Scene({ kind, pods, seed, by: 'ours', beatMs: BEAT_MS });
  scene.runTo(WARM_S);
  return scene;
}

describe.each([
  { kind: 'inflight', goodput: 0.95, rejected: 0.01 },
  { kind: 'quota', goodput: 0.95, rejected: 0.02 },
  { kind: 'queueing', goodput: 0.97, rejected: 0 },
  { kind: 'charging', goodput: 0.8, rejected: 0.05 },
] as const)('$kind', ({ kind, goodput, rejected }) => {
  test.each([8, 64])('%i pods use what it takes, and hardly more', (pods) => {
    const scene = warm(kind, pods);
    scene.runTo(240);
    const figures = scene.figures(WARM_S, 240);
    expect(figures.goodput).toBeGreaterThan(goodput);
    expect(figures.rejected).toBeLessThanOrEqual(rejected);
    expect(figures.timeouts).toBe(0);
    expect(figures.jain).toBeGreaterThan(0.9);
  });
});

describe.each(['inflight', 'quota'] as const)('%s, when something changes', (kind) => {
  test('56 pods that join 8 at once do not raise the pressure', () => {
    const scene = warm(kind, 8);
    scene.join(56);
    scene.runTo(WARM_S + 15);
    expect(scene.peak(WARM_S, WARM_S + 15)).toBeLessThan(1.3);
    expect(scene.figures(WARM_S, WARM_S + 15).rejected).toBeLessThan(0.05);
  });

  test('half of the capacity gone is heeded within some heartbeats', () => {
    const scene = warm(kind, 64);
    scene.api.scale = 0.5;
    scene.runTo(WARM_S + 60);
    const clean = scene.cleanFrom(WARM_S, WARM_S + 60, 4, 0.01) ?? Number.POSITIVE_INFINITY;
    expect((clean - WARM_S) * 1_000).toBeLessThanOrEqual(8 * BEAT_MS);
  });

  test('the shares of pods that were killed come back, and never twice', () => {
    const scene = warm(kind, 64);
    scene.leave(56);
    scene.runTo(WARM_S + 40);
    expect(scene.goodFrom(WARM_S, WARM_S + 40, 4, 0.9)).toBeLessThan(WARM_S + 20);
    expect(scene.peak(WARM_S, WARM_S + 40)).toBeLessThan(1.3);
  });

  test('a next leader goes on where the last one was', () => {
    const scene = warm(kind, 64);
    const { cap } = scene.fleet!.published!.learned;
    scene.fleet!.changeLeader();
    scene.runTo(WARM_S + 3);
    expect(scene.fleet!.published!.learned.cap).toBeGreaterThan(cap * 0.9);
    scene.runTo(WARM_S + 40);
    expect(scene.peak(WARM_S, WARM_S + 40)).toBeLessThan(1.3);
    expect(scene.figures(WARM_S, WARM_S + 40).goodput).toBeGreaterThan(0.9);
  });

  test('an API that is down is spared, and found again', () => {
    const scene = warm(kind, 64);
    scene.api.scale = 0;
    scene.runTo(WARM_S + 30);
    scene.api.scale = 1;
    scene.runTo(WARM_S + 90);
    expect(scene.figures(WARM_S + 10, WARM_S + 30).sent).toBeLessThan(60);
    expect(scene.goodFrom(WARM_S + 30, WARM_S + 90, 4, 0.85)).toBeLessThanOrEqual(WARM_S + 50);
  });
});

test.each([10_000, 30_000])(
  'an API whose calls hang for %i ms is spared by all but one',
  (failMs) => {
    const scene = warm('inflight', 64);
    const { scale, refusalMs } = scene.api;
    Object.assign(scene.api, { scale: 0, refusalMs: [0.9 * failMs, 1.1 * failMs] });
    const from = WARM_S + failMs / 1_000 + 10;
    scene.runTo(from);
    expect(scene.fleet!.published!.breaker).not.toBe('closed');
    scene.runTo(from + 60);
    expect(scene.figures(from, from + 60).sent).toBeLessThan(20);
    Object.assign(scene.api, { scale, refusalMs });
    scene.runTo(from + 150);
    expect(scene.goodFrom(from + 60, from + 150, 4, 0.85)).toBeLessThanOrEqual(from + 130);
  },
);

test('refusals that come back after 5 s are learned from by 64 pods', () => {
  const scene = new Scene({ kind: 'inflight', pods: 64, seed: 201, by: 'ours', beatMs: BEAT_MS });
  scene.api.refusalMs = [4_500, 5_500];
  scene.runTo(480);
  const { goodput, rejected } = scene.figures(WARM_S, 480);
  expect(goodput).toBeGreaterThan(0.95);
  expect(rejected).toBeLessThan(0.006);
});

describe('64 pods of which something is known', () => {
  const figuresOf = (options: Partial<SceneOptions>) => {
    const scene = new Scene({
      ...{ kind: 'quota', pods: 64, seed: 201, by: 'ours', beatMs: BEAT_MS },
      ...options,
    });
    scene.runTo(240);
    return scene.figures(WARM_S, 240);
  };

  test.each(TELLING_KINDS)('an API that tells what is left of its quota, by the %s', (kind) => {
    const { goodput, rejected } = figuresOf({ kind });
    expect(goodput).toBeGreaterThan(0.95);
    expect(rejected).toBeLessThanOrEqual(0.002);
  });

  test.each([
    { kind: 'quota', limits: { perSecond: 100 } },
    { kind: 'inflight', limits: { inFlight: 50 } },
  ] as const)('a limit that was declared is used, and not passed: $limits', ({ kind, limits }) => {
    const { goodput, rejected } = figuresOf({ kind, throttle: { limits } });
    expect(goodput).toBeGreaterThan(0.96);
    expect(rejected).toBeLessThanOrEqual(0.002);
  });

  test.each(['inflight', 'quota'] as const)('16 of them call (%s)', (kind) => {
    const { goodput, rejected } = figuresOf({ kind, busy: 16 });
    expect(goodput).toBeGreaterThan(0.96);
    expect(rejected).toBeLessThanOrEqual(0.01);
  });
});

describe('calls that are not what they were', () => {
  test.each([
    ['inflight', 2],
    ['inflight', 4],
    ['quota', 2],
    ['queueing', 2],
  ] as const)(
    '%s: calls that take %i times as long are no reason to call less for long',
    (kind, times) => {
      const scene = warm(kind, 8);
      scene.api.slowness = times;
      // Where a rate is limited, twice as many are to be out at once: that has to be found out.
      const soonS = WARM_S + 120;
      scene.runTo(soonS + 120);
      const figures = scene.figures(soonS, soonS + 120);
      expect(figures.goodput).toBeGreaterThan(0.93);
      expect(figures.rejected).toBeLessThan(0.03);
    },
  );

  test.each([201, 202, 203])(
    'a line is no reason to let calls wait, where less is worked on',
    (seed) => {
      const scene = warm('queueing', 8, seed);
      let atS = WARM_S + 120;
      scene.runTo(atS);
      for (const scale of [0.5, 0.26, 0.14]) {
        scene.api.scale = scale;
        atS += 240;
        scene.runTo(atS);
        const figures = scene.figures(atS - 120, atS);
        expect(figures.p95Ms).toBeLessThan(1_350);
        expect(figures.goodput).toBeGreaterThan(0.93);
      }
    },
  );

  test('an API that lets calls wait in line is not given more and more of them, for an hour', () => {
    const scene = warm('queueing', 8);
    const hourS = WARM_S + 3_600;
    scene.runTo(hourS);
    const figures = scene.figures(WARM_S, hourS);
    expect(figures.goodput).toBeGreaterThan(0.98);
    expect(figures.timeouts).toBe(0);
    // Half a second by the median is 0.9 s by this one, where nobody waits.
    expect(scene.figures(hourS - 300, hourS).p95Ms).toBeLessThan(1_130);
  });

  test.each([
    { latencyMs: 5_000, permits: 50, goodput: 0.93 },
    { latencyMs: 20_000, permits: 50, goodput: 0.88 },
    { latencyMs: 500, permits: 5, goodput: 0.88 },
    // Of one permit every refusal is one call of few: no pod goes below one.
    { latencyMs: 500, permits: 1, goodput: 0.87, refused: 0.02 },
  ])('$permits calls at once of $latencyMs ms each', ({ goodput, refused = 0.015, ...api }) => {
    const scene = new Scene({
      kind: 'inflight',
      pods: 8,
      seed: 201,
      by: 'ours',
      beatMs: 3_000,
      api,
    });
    scene.runTo(1_500);
    const figures = scene.figures(600, 1_500);
    expect(figures.goodput).toBeGreaterThan(goodput);
    expect(figures.rejected).toBeLessThan(refused);
  });
});
