/** Deploys in real processes, from two directories of code, there and back; `npm run proof -- deploys` is larger. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runRoll } from './roll.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test('a fleet that is rolled to new code and back loses, repeats, mistakes and punishes no run', {
  timeout: 300_000,
}, async () => {
  const figures = await runRoll({
    dist: here('../../dist'),
    codes: here('.'),
    pods: 3,
    times: 1,
    inFlight: 200,
    slots: 32,
    restMsMax: 7_000,
    seed: 1,
    onProgress: (line) => console.log(line),
  });
  expect(figures.faults, figures.faults[0]).toEqual([]);
  expect(figures.missed, 'nothing was shown of these').toEqual([]);
  expect(figures).toMatchObject({ rolls: 2, drains: 11 });
});
