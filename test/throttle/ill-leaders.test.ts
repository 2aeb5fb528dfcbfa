/** An API is ill while one pod after the other leads. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';

test('an API that fails is asked by one pod, however often another one leads', () => {
  const scene = new Scene({ kind: 'inflight', pods: 64, seed: 5, by: 'ours', beatMs: 3_000 });
  scene.runTo(60);
  scene.api.scale = 0;
  for (let second = 60; second < 240; second += 30) {
    scene.runTo(second + 30);
    scene.fleet!.changeLeader();
  }
  expect(scene.figures(90, 240).sent).toBeLessThan(40);
  scene.api.scale = 1;
  scene.runTo(300);
  expect(scene.goodFrom(240, 300, 4, 0.85)).toBeLessThan(285);
});
