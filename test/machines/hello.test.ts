/** The smallest machine, as a user would run it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, SchemaError } from 'fleetq';
import { expect, onTestFinished, test } from 'vitest';
import { hello } from '../../machines/hello.ts';
import * as shipped from '../../machines/index.ts';
import { removeTree } from '../support/remove-tree.ts';

async function startFleet() {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-hello-'));
  const fleet = await createFleet({ machines: [hello], dataDir: directory });
  onTestFinished(async () => {
    await fleet.drain({ budget: '1s' });
    removeTree(directory);
  });
  return fleet;
}

test('hello greets whom it is told to, and journals work, validate and persist', async () => {
  const fleet = await startFleet();
  const run = await fleet.startLocal(hello, { name: 'Ada' });
  expect(await run.result()).toBe('Hello, Ada!');
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'completed', output: 'Hello, Ada!' });
  expect(fleet.events(run.id).map(({ state }) => state)).toEqual([
    'main.work',
    'main.validate',
    'main.persist',
    'completed',
  ]);
});

test('hello refuses an empty name before there is a run', async () => {
  const fleet = await startFleet();
  await expect(fleet.startLocal(hello, { name: '' })).rejects.toThrow(SchemaError);
  expect(fleet.runs({ countMax: 10 })).toEqual([]);
});

test('every machine that is shipped is in shippedMachines, and under its own name', () => {
  const { shippedMachines, ...named } = shipped;
  expect(new Set(shippedMachines)).toEqual(new Set(Object.values(named)));
  expect(shippedMachines.map(({ name }) => name)).toEqual([
    'hello',
    'image/install',
    'llm/summarise',
    'sample/resize',
    'sample/lookup',
    'sample/flaky',
    'sample/charge',
  ]);
});
