/** Calls that take now more, now less time, though nobody waits in line; and lines that grow meanwhile. */
import { expect, test } from 'vitest';
import { apiOf } from '../../bench/throttle/apis.ts';
import { Scene, type SceneOptions } from '../../bench/throttle/scene.ts';
import { World } from '../../bench/throttle/world.ts';
import { QueueWatch } from '../../src/throttle/estimate/queue-watch.ts';
import { Wavering } from '../../src/throttle/estimate/wavering.ts';
import { bucketOf } from '../../src/throttle/record/latencies.ts';

const WARM_S = 180;

/** From a while after on, until the end. */
function figuresOf(
  given: Partial<SceneOptions>,
  slowness: (atS: number, before: number) => number,
  endS = 600,
) {
  const options = { kind: 'inflight', pods: 8, seed: 1, by: 'ours', beatMs: 3_000 } as const;
  const scene = new Scene({ ...options, ...given });
  for (let atS = 0; atS < endS; atS++) {
    if (atS >= WARM_S) scene.api.slowness = slowness(atS, scene.api.slowness);
    scene.runTo(atS + 1);
  }
  return scene.figures(300, endS);
}

test('half of the calls take ten times as long as the others', () => {
  const scene = new Scene({ kind: 'inflight', pods: 8, seed: 3, by: 'ours', beatMs: 3_000 });
  const meanMs = 550;
  const { world } = scene;
  Object.assign(scene.api, {
    latencyMs: () => world.around(world.fraction() < 0.5 ? 1_000 : 100, 0.2),
  });
  scene.runTo(480);
  const okPerSecond = (scene.figures(180, 480).goodput * scene.api.perSecond * meanMs) / 1_000;
  expect(okPerSecond / 50).toBeGreaterThan(0.9);
});

test.each([
  { sigma: 0.3, least: 0.88 },
  { sigma: 0.5, least: 0.8 },
])('calls take longer or less long every 20 s, by chance ($sigma)', ({ sigma, least }) => {
  const chance = new World(77);
  const { goodput } = figuresOf({}, (atS, before) =>
    atS % 20 === 0 ? chance.around(1, sigma) : before,
  );
  expect(goodput).toBeGreaterThan(least);
});

test('calls take a quarter longer and less long in a rhythm', () => {
  const { goodput } = figuresOf({}, (atS) => 1 + 0.25 * Math.sin((atS / 30) * 2 * Math.PI));
  expect(goodput).toBeGreaterThan(0.95);
});

test.each([
  ['inflight', 0.93],
  ['quota', 0.78],
] as const)('%s: what falls whenever fewer are tried is found out', (kind, least) => {
  const { goodput } = figuresOf({ kind, seed: 9 }, (atS) =>
    Math.floor(atS / 20) % 2 === 1 ? 1.6 : 1,
  );
  // Of a rate, more at once would be needed while they take longer: that is not found out so soon.
  expect(goodput).toBeGreaterThan(least);
});

test.each([
  { to: 0.25, overS: 60 },
  { to: 0.1, overS: 60 },
])('a line that grows while fewer are tried is none that stays: to $to in $overS s', (fall) => {
  const { to, overS } = fall;
  const scene = new Scene({ kind: 'queueing', pods: 8, seed: 42, by: 'ours', beatMs: 3_000 });
  for (let atS = 0; atS < 900; atS++) {
    const share = Math.min(1, Math.max(0, (atS - WARM_S) / overS));
    scene.api.scale = 1 - (1 - to) * share;
    scene.runTo(atS + 1);
  }
  const { goodput, timeouts, p95Ms } = scene.figures(600, 900);
  expect(goodput).toBeGreaterThan(0.88);
  expect(timeouts).toBe(0);
  expect(p95Ms).toBeLessThan(1_350);
});

test('what falls by itself is remembered for some minutes, and a rise is no fall', () => {
  const wavering = new Wavering();
  wavering.note(500, 0);
  wavering.note(1_000, 3_000);
  expect(wavering.most).toBe(0);
  wavering.note(500, 6_000);
  expect(wavering.most).toBeCloseTo(Math.log(2));
  for (let atMs = 9_000; atMs <= 300_000; atMs += 3_000) wavering.note(500, atMs);
  expect(wavering.most).toBeLessThan(0.3);
  expect(wavering.most).toBeGreaterThan(0.2);
});

test('what falls with fewer at once is no fall by itself', () => {
  const wavering = new Wavering();
  wavering.note(1_000, 0);
  wavering.restart(5_000);
  wavering.note(800, 3_000);
  wavering.note(500, 6_000);
  expect(wavering.most).toBe(0);
});

/** A watch that was told, beat by beat, of calls that took so long. */
function watched() {
  const watch = new QueueWatch();
  let nowMs = 0;
  const tell = (ms: number, beats = 1) => {
    for (let beat = 0; beat < beats; beat++) {
      nowMs += 3_000;
      watch.noteLatencies([[bucketOf(ms), 200]], nowMs);
      watch.noteAnswers(300, 3_000, nowMs);
    }
  };
  return { watch, tell, fewer: (cap = 50) => watch.fewerThan(cap, nowMs) };
}

test('calls that take less by themselves at times take more again in a line alone', () => {
  const { watch, tell } = watched();
  tell(500, 3);
  tell(1_000, 2);
  const begun = (ms: number) => {
    watch.begin(0.6);
    expect(watch.verdict).toBeUndefined();
    tell(ms);
    return watch.verdict;
  };
  expect(begun(600)).toBe('line');
  // It took as long again though there were no more at once.
  tell(1_000, 2);
  watch.begin(0.6, { isDoubtful: true });
  expect(watch.verdict).toBeUndefined();
  tell(600);
  expect(watch.verdict).toBe('again');
  watch.beginAgain(1 / 0.6);
  expect(watch.verdict).toBeUndefined();
  tell(600);
  expect(watch.verdict).toBe('unsure');
  // What fell by itself by so much once may do so again.
  tell(1_000, 2);
  expect(begun(700)).toBe('unsure');
});

test('calls that take less by more than there are fewer had not waited in line', () => {
  const { watch, tell } = watched();
  tell(500, 3);
  tell(1_000, 3);
  watch.begin(0.8);
  expect(watch.verdict).toBeUndefined();
  tell(500);
  expect(watch.verdict).toBe('unsure');
});

test.each([1, 8])(
  'few calls that take twice as long, and differ much, are called as before soon (%i pods)',
  (pods) => {
    const api = { permits: 4, latencyMs: 500, sigma: 0.8 };
    const scene = new Scene({ kind: 'inflight', pods, seed: 2, by: 'ours', beatMs: 3_000, api });
    scene.runTo(300);
    scene.api.slowness = 2;
    scene.runTo(840);
    expect(scene.figures(360, 840).goodput).toBeGreaterThan(0.7);
  },
);

test('what takes as long with fewer at once is tried once more, soon, and then seldom', () => {
  const { watch, tell, fewer } = watched();
  tell(500, 3);
  tell(1_000, 3);
  expect(fewer()).toBeDefined();
  const tryFewer = (ms: number) => {
    watch.begin(0.6);
    expect(watch.verdict).toBeUndefined();
    tell(ms);
    return watch.verdict;
  };
  expect(tryFewer(1_000)).toBe('slow');
  expect(watch.baseMs).toBeLessThan(520);
  tell(1_000, 3);
  expect(fewer()).toBeUndefined();
  tell(1_000, 5);
  expect(fewer()).toBeDefined();
  expect(tryFewer(1_000)).toBe('slow');
  expect(watch.baseMs).toBeGreaterThan(950);
  tell(1_000, 50);
  expect(fewer()).toBeUndefined();
});

test('a line that had grown by as much as there were fewer is found the next time', () => {
  const { watch, tell, fewer } = watched();
  tell(500, 3);
  tell(1_000, 3);
  watch.begin(0.6);
  expect(watch.verdict).toBeUndefined();
  tell(1_000);
  expect(watch.verdict).toBe('slow');
  tell(1_600, 2);
  expect(fewer()!.cap).toBeLessThanOrEqual(40);
  watch.begin(0.5);
  expect(watch.verdict).toBeUndefined();
  tell(800);
  expect(watch.verdict).toBe('line');
  expect(watch.baseMs).toBeLessThan(520);
});

test('the API of the bench works on more of its line at once when it can do more', () => {
  const world = new World(1);
  const api = apiOf('queueing', world, { permits: 4, latencyMs: 100, sigma: 0 });
  api.scale = 0.25;
  let answered = 0;
  for (let call = 0; call < 9; call++) api.call(() => void answered++);
  world.runUntil(50);
  api.scale = 1;
  world.runUntil(110);
  expect(answered).toBe(1);
  world.runUntil(310);
  expect(answered).toBe(9);
});
