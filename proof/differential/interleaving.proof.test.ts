/** Calls that meet on a real Postgres end as if they had come one after another. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { startPostgres, type TestPostgres } from '../../test/support/postgres.ts';
import {
  type Choice,
  callOf,
  choices,
  ordersOf,
  outcome,
  prepare,
  tasksOfOneCase,
} from './interleaving.ts';
import { memoryWorld, postgresWorld, type World } from './twin-worlds.ts';

const RUNS = Number(process.env['FLEETQ_INTERLEAVING_RUNS'] ?? 60);
const BEGIN_MS = Date.UTC(2030, 0, 1);

let server: TestPostgres;
let world: World;
let handles: readonly Store[];
beforeAll(async () => {
  server = await startPostgres(['fsync=off']);
  world = await postgresWorld(await server.createDatabase());
  await world.setNow(BEGIN_MS);
  handles = await Promise.all([world.open(), world.open(), world.open()]);
});
afterAll(async () => {
  for (const store of handles ?? []) await store.close();
  await world?.close();
  await server?.remove();
});

async function oneAfterAnother(chosen: readonly Choice[], order: readonly number[], tasks: Tasks) {
  const memory = memoryWorld();
  await memory.setNow(BEGIN_MS);
  const store = await memory.open();
  const ground = await prepare(store, tasks);
  const answers: unknown[] = [];
  for (const index of order) {
    answers[index] = await callOf(chosen[index]!, ground, `call ${index}`)(store);
  }
  return outcome(store, answers, tasks);
}
type Tasks = ReturnType<typeof tasksOfOneCase>;

async function atOnce(chosen: readonly Choice[], tasks: Tasks) {
  await world.reset();
  const ground = await prepare(handles[0]!, tasks);
  const calls = chosen.map((choice, index) => callOf(choice, ground, `call ${index}`));
  const answers = await Promise.all(calls.map((call, index) => call(handles[index]!)));
  return outcome(handles[0]!, answers, tasks);
}

test('what calls that meet are told, and leave, is what some order of them gives', {
  timeout: 300_000,
}, async () => {
  const distinct = new Set<number>();
  await fc.assert(
    fc.asyncProperty(choices, async (chosen) => {
      const tasks = tasksOfOneCase();
      const orders = ordersOf(chosen.length);
      const possible = await Promise.all(
        orders.map((order) => oneAfterAnother(chosen, order, tasks)),
      );
      const real = await atOnce(chosen, tasks);
      const found = possible.findIndex((one) => isDeepStrictEqual(one, real));
      if (found < 0) expect(real).toEqual(possible[0]);
      distinct.add(new Set(possible.map((one) => JSON.stringify(one))).size);
    }),
    { numRuns: RUNS, seed: 4711 },
  );
  // Where every order gives the same, nothing was shown.
  expect(Math.max(...distinct)).toBeGreaterThan(1);
});
