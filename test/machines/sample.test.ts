/** The machines of the sample load: each shows one thing, and does show it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, listen, RunAbortedError } from 'fleetq';
import { expect, onTestFinished, test } from 'vitest';
import { charge, flaky, lookup, resize, shippedMachines } from '../../machines/index.ts';
import { removeTree } from '../support/remove-tree.ts';

async function startFleet() {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-sample-'));
  const fleet = await createFleet({ machines: shippedMachines, dataDir: directory });
  onTestFinished(async () => {
    await fleet.drain({ budget: '1s' });
    removeTree(directory);
  });
  return fleet;
}

test('resize goes through all four phases and tells how far it is', async () => {
  const fleet = await startFleet();
  const fractions: number[] = [];
  const stop = listen('run.progressed', ({ fraction }) => fractions.push(fraction));
  onTestFinished(stop);
  const run = await fleet.startLocal(resize, { id: 4, width: 640 });
  expect(await run.result()).toEqual({ file: 'picture-4-640.webp' });
  expect(fleet.events(run.id).map(({ state }) => state)).toEqual([
    'main.check',
    'main.work',
    'main.validate',
    'main.persist',
    'completed',
  ]);
  expect(fractions).toEqual([0.25, 0.5, 0.75, 1]);
});

test('resize hands off every tenth picture with the same output it would have made', async () => {
  const fleet = await startFleet();
  const run = await fleet.startLocal(resize, { id: 19, width: 640 });
  expect(await run.result()).toEqual({ file: 'picture-19-640.webp' });
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'handedOff', reason: 'already resized' });
});

test('lookup hands off every third customer and looks the others up', async () => {
  const fleet = await startFleet();
  const outcomes: unknown[] = [];
  for (const customer of [1, 2, 3]) {
    const run = await fleet.startLocal(lookup, { customer });
    const { tier } = await run.result();
    outcomes.push([tier, fleet.describe(run.id).outcome]);
  }
  expect(outcomes).toEqual([
    ['bronze', 'completed'],
    ['silver', 'completed'],
    ['gold', 'handedOff'],
  ]);
});

test('flaky fails as often as it is told to and then completes', async () => {
  const fleet = await startFleet();
  const run = await fleet.startLocal(flaky, { id: 7, failures: 2 });
  expect(await run.result()).toEqual({ id: 7, attempts: 3 });
  const kinds = fleet.events(run.id).map(({ event }) => event.type);
  expect(kinds).toEqual(['STARTED', 'FAILED', 'FAILED', 'DONE', 'DONE']);
});

test('charge ends for good, at the first attempt, where the amount is over the limit', async () => {
  const fleet = await startFleet();
  const fine = await fleet.startLocal(charge, { account: 'a', cents: 500 });
  expect(await fine.result()).toMatchObject({ account: 'a', cents: 500 });
  const tooMuch = await fleet.startLocal(charge, { account: 'a', cents: 100_001 });
  await expect(tooMuch.result()).rejects.toThrow(RunAbortedError);
  expect(fleet.describe(tooMuch.id)).toMatchObject({
    outcome: 'aborted',
    attempt: 1,
    reason: '100001 cents is over the limit of 100000',
  });
});
