/** Runs that were started on one host, as the rest of the fleet sees them. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine, type Fleet, type FleetOptions } from '../../src/index.ts';
import type { TaskRow } from '../../src/store/index.ts';
import { removeTree } from '../support/remove-tree.ts';

let directory: string;
let store: string;
const fleets: Fleet[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fleetq-local-'));
  store = `sqlite:${directory}/fleet.db`;
});
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.drain({ budget: '1s' })));
  removeTree(directory);
});

const steps: string[] = [];
let open: (() => void) | undefined;
const gated = defineMachine({
  name: 'gated',
  version: 1,
  input: z.object({ name: z.string() }),
  steps: (line) =>
    line
      .step('first', { check: 'none', work: ({ input }) => `${input.name} first` })
      .step('second', {
        check: 'none',
        work: async ({ runId }) => {
          steps.push(runId);
          await new Promise<void>((resolve) => {
            open = resolve;
          });
          return 'second';
        },
      }),
});

async function openPod(name: string, options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const fleet = await createFleet({
    machines: [gated],
    store,
    migrates: true,
    dataDir: join(directory, name),
    podName: name,
    heartbeat: '200ms',
    silence: '2s',
    archive: '100ms',
    socket: false,
    ...options,
  });
  fleets.push(fleet);
  return fleet;
}

/** Looks until it is so; the store learns of local runs a moment later. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const until = performance.now() + 90_000;
  while (performance.now() < until) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error('it did not come to that');
}

function rowWhere(fleet: Fleet, id: string, is: (row: TaskRow) => boolean): Promise<TaskRow> {
  return eventually(async () => {
    const [row] = await fleet.store.find([id as TaskRow['id']]);
    return row && is(row) ? row : undefined;
  });
}

test('a local run is shown as claimed and pinned, with its records, and then with its end', async () => {
  const alder = await openPod('alder');
  const run = await alder.startLocal(gated, { name: 'mine' });
  const shown = await rowWhere(alder, run.id, ({ status }) => status === 'claimed');
  expect(shown).toMatchObject({ machine: 'gated', pinnedTo: alder.status.journal });
  expect(JSON.parse(shown.payload ?? '')).toEqual({ name: 'mine' });

  await eventually(async () => (open ? true : undefined));
  open?.();
  expect(await run.result()).toBe('second');
  const ended = await rowWhere(alder, run.id, ({ status }) => status === 'completed');
  expect(ended).toMatchObject({ outcome: 'completed', result: '"second"', lastSeq: 2 });
  const [head] = await alder.store.heads([{ task: run.id, generation: 1 }]);
  expect(head?.lastSeq).toBe(2);
  // The picture is gone from the store's side of things, the run itself stays in its journal.
  expect(alder.describe(run.id).status).toBe('completed');
});

test('nobody else takes the run of a host that is gone, and its host goes on with it', async () => {
  open = undefined;
  steps.length = 0;
  const first = await openPod('alder');
  await openPod('birch');
  const run = await first.startLocal(gated, { name: 'mine' });
  await rowWhere(first, run.id, ({ status }) => status === 'claimed');
  await eventually(async () => (open ? true : undefined));
  fleets.splice(fleets.indexOf(first), 1);
  first.stopNow();

  const birch = fleets[0]!;
  const away = await rowWhere(birch, run.id, ({ status }) => status === 'waiting');
  expect(away).toMatchObject({ waitFor: 'host', claimedBy: undefined });
  await sleep(500);
  expect((await birch.store.find([run.id]))[0]?.status).toBe('waiting');

  open = undefined;
  const again = await openPod('alder');
  await eventually(async () => (open ? true : undefined));
  open!();
  await rowWhere(again, run.id, ({ status }) => status === 'completed');
  expect(steps).toEqual([run.id, run.id]);
  expect(await birch.store.violations()).toEqual([]);
});

test('a local run can be cancelled by a request in the store', async () => {
  open = undefined;
  const alder = await openPod('alder');
  const run = await alder.startLocal(gated, { name: 'mine' });
  await rowWhere(alder, run.id, ({ status }) => status === 'claimed');
  expect(await alder.taskById(run.id).cancel('no longer wanted')).toBe('requested');
  const ended = await rowWhere(alder, run.id, ({ status }) => status === 'cancelled');
  expect(ended.outcome).toBe('cancelled');
  expect(alder.describe(run.id).status).toBe('cancelled');
});
