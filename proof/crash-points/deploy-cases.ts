/** The cases of the crash table for deploys: row 33, in which new code comes to a run of the old. */
import { expect } from 'vitest';
import { readLedger } from '../../test/support/ledger.ts';
import { historyOf, judge } from './judge.ts';
import type { Ground } from './rig.ts';
import { append, type Case, phase } from './strikes.ts';

const LONGER = { version: 2, steps: ['a', 'b', 'c'] };
const SWAPPED = { version: 2, steps: ['b', 'a'] };

async function movesOf(ground: Ground, machine: string): Promise<readonly string[]> {
  const [row] = await ground.rows(machine);
  const records = await historyOf(ground, row!.id);
  return records.flatMap(({ event }) => (event.type === 'ADVANCED' ? [event.type] : []));
}

/** A pod with this code looks at the run, and leaves it; whatever it did would be in the ledger. */
async function isLeftAlone(
  ground: Ground,
  orders: Parameters<Ground['start']>[0],
  wanted: object,
): Promise<void> {
  const before = readLedger(ground.ledger).length;
  const pod = ground.start(orders);
  await pod.says(/ready/);
  await ground.until('it is given back', async () => {
    const [row] = await ground.rows(orders.machine!);
    return Object.entries(wanted).every(([name, value]) => Reflect.get(row!, name) === value);
  });
  await pod.kill('SIGTERM');
  expect(readLedger(ground.ledger).length, 'it ran nothing').toBe(before);
  expect(await ground.rows(orders.machine!)).toMatchObject([wanted]);
}

/** It dies when the move is durable; the old code on that disk has no say any more. */
const advancedHere: Case = {
  row: 33,
  disk: 'kept',
  name: 'it advances, dies, meets the old code, and goes on under the new',
  isAlone: true,
  run: async (ground, machine) => {
    await ground.enqueue(machine);
    const dataDir = ground.newDisk();
    await ground.start({ machine, dataDir, hook: phase('b.work', 'done') }).strikes();
    const hook = append('after', 'ADVANCED');
    await ground.start({ machine, dataDir, line: LONGER, hook }).strikes();
    await isLeftAlone(ground, { machine, dataDir }, { status: 'pending', version: 2 });
    await ground.finish(machine, dataDir, { line: LONGER });
    await judge(ground, machine, 'kept', 1, LONGER.steps);
    expect(await ground.rows(machine)).toMatchObject([{ version: 2 }]);
    expect(await movesOf(ground, machine)).toEqual(['ADVANCED']);
  },
};

const waitsHere: Case = {
  row: 33,
  disk: 'kept',
  name: 'it fits no new line, waits, and goes on under the old',
  isAlone: true,
  run: async (ground, machine) => {
    await ground.enqueue(machine);
    const dataDir = ground.newDisk();
    await ground.start({ machine, dataDir, hook: phase('b.work', 'done') }).strikes();
    const blocked = { status: 'waiting', waitFor: 'version', version: 1 };
    await isLeftAlone(ground, { machine, dataDir, line: SWAPPED }, blocked);
    await ground.finish(machine, dataDir);
    await judge(ground, machine, 'kept');
    expect(await ground.rows(machine)).toMatchObject([{ version: 1 }]);
    expect(await movesOf(ground, machine)).toEqual([]);
  },
};

const advancedElsewhere: Case = {
  row: 33,
  disk: 'lost',
  name: 'another pod, which has only the new code, goes on from the archive',
  isAlone: false,
  run: async (ground, machine) => {
    await ground.enqueue(machine);
    // Long enough for the archive to have what came before it.
    const hook = phase('b.work', 'done');
    await ground.start({ machine, workMs: 1_000, hook }).strikes();
    await ground.finish(machine, undefined, { line: LONGER });
    await judge(ground, machine, 'lost', 1, LONGER.steps);
    expect(await movesOf(ground, machine)).toEqual(['ADVANCED']);
  },
};

export const DEPLOY_CASES: readonly Case[] = [advancedHere, waitsHere, advancedElsewhere];
