/** APIs that say what is left: when that is believed, when not, and what a window that is used up means. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { Hints } from '../../src/throttle/estimate/hints.ts';

const [SAID, CAP] = [50, 50];

/** Three seconds of so many calls each, of which so many were refused. */
function secondsAt(from: number, sent: number, refused: readonly number[]) {
  return refused.map((throttled, index) => {
    const ok = sent - throttled;
    return { at: from + index, sent, throttled, timedOut: 0, failed: 0, ok, latencyMsSum: 0 };
  });
}

test('who refuses some of what it said it had room for is doubted for ten minutes', () => {
  const hints = new Hints();
  expect(hints.believed(SAID, CAP, secondsAt(0, 100, [0, 0, 0]), 3_000)).toBe(SAID);
  hints.believed(SAID, CAP, secondsAt(3, 100, [20, 20, 20]), 6_000);
  expect(hints.believed(SAID, 40, secondsAt(6, 80, [0, 0, 0]), 9_000)).toBeUndefined();
  expect(hints.believed(30, 40, secondsAt(9, 80, [0, 0, 0]), 12_000)).toBe(30);
  expect(hints.believed(SAID, 40, [], 605_000)).toBeUndefined();
  expect(hints.believed(SAID, 40, [], 606_000)).toBe(SAID);
});

test('who refuses everything is not: what it said is of before, and holds again with its next word', () => {
  const hints = new Hints();
  hints.believed(SAID, CAP, secondsAt(0, 100, [0, 0, 0]), 3_000);
  expect(hints.believed(SAID, CAP, secondsAt(3, 100, [0, 30, 100]), 6_000)).toBeUndefined();
  expect(hints.believed(SAID, 25, secondsAt(6, 50, [50, 50, 50]), 9_000)).toBeUndefined();
  expect(hints.believed(0, 25, secondsAt(9, 50, [50, 50, 50]), 12_000)).toBe(0);
  // The next window: what went well in the last one is not found out again.
  expect(hints.believed(SAID, 0.05, secondsAt(12, 2, [2, 1, 0]), 15_000)).toBe(SAID);
});

test('what never went well is gone up to in steps', () => {
  const hints = new Hints();
  expect(hints.believed(1_000, 8, secondsAt(0, 16, [0, 0, 0]), 3_000)).toBe(16);
  expect(hints.believed(1_000, 16, secondsAt(3, 32, [0, 0, 0]), 6_000)).toBe(32);
});

test.each([101, 102])('8 pods use the minutes after one that somebody else has used up', (seed) => {
  const scene = new Scene({ kind: 'window', pods: 8, seed, by: 'ours', beatMs: 3_000 });
  scene.runTo(390);
  for (let count = 0; count < 6_000; count++) scene.api.call(() => undefined);
  scene.runTo(900);
  expect(scene.figures(420, 480).goodput).toBeGreaterThan(0.9);
  expect(scene.figures(480, 900).goodput).toBeGreaterThan(0.97);
});

test('one pod uses every minute of an API that tells what is left', () => {
  const scene = new Scene({ kind: 'window', pods: 1, seed: 101, by: 'ours', beatMs: 3_000 });
  scene.runTo(1_200);
  for (let from = 60; from < 1_200; from += 60) {
    expect(scene.figures(from, from + 60).goodput).toBeGreaterThan(0.9);
  }
});

/** A hundred calls a second by windows of so long; answers tell what is left of them, and for how long. */
function tellsOfWindows(scene: Scene, windowMs: number): void {
  const { world } = scene;
  let [used, window] = [0, -1];
  const left = () => {
    const at = Math.floor(world.now / windowMs);
    if (at !== window) [used, window] = [0, at];
    return windowMs / 10 - used;
  };
  scene.api.call = (answer) => {
    if (left() <= 0) return world.at(world.now + 40, () => answer('throttled'));
    used++;
    world.at(world.now + world.around(500, 0.36), () => {
      const remaining = Math.max(0, left());
      answer('ok', { remaining, resetMs: Math.max(1, (window + 1) * windowMs - world.now) });
    });
  };
}

test.each([
  [1, 2_000],
  [1, 5_000],
  [8, 2_000],
  [8, 5_000],
])('%i pods use windows of %i ms: what is left of them is over before it is heeded', (...of) => {
  const [pods, windowMs] = of;
  // How much a window hides of what is too much depends on when it is tried.
  const shares = [1, 2, 3, 4, 5, 6].map((seed) => {
    const scene = new Scene({ kind: 'quota', pods, seed, by: 'ours', beatMs: 3_000 });
    tellsOfWindows(scene, windowMs);
    scene.runTo(500);
    return scene.figures(180, 500).goodput;
  });
  expect(shares.reduce((all, share) => all + share, 0) / 6).toBeGreaterThan(0.85);
});
