/**
 * The store of the simulation against the real ones: the same random calls, late and stale ones among
 * them, have to get the same answers and leave the same rows, to the millisecond.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Store } from '../../src/store/store.ts';
import type { ClaimRequest, TaskRow } from '../../src/store/tasks.ts';
import { HOUR, ROUTE } from '../../test/store/factories.ts';
import { play } from '../../test/store/play.ts';
import { fewerSteps, type Step } from '../../test/store/random-steps.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { compare, type Named, type TwinOptions, twinStore, type Verb } from './twin-store.ts';
import { memoryWorld, postgresWorld, sqliteWorld, type World } from './twin-worlds.ts';

const BEGIN_MS = Date.UTC(2030, 0, 1);
/** Everything that is due: with less, a claim by compare-and-set may choose others of one priority. */
const CLAIM_ALL = 1_000;

/** Pods and tasks are looked at after every step in memory, and everywhere after so many of them. */
const LOOK_EVERY = 16;

/** Which stores are compared with the one in memory. */
export type Rival = 'sqlite' | 'skip-locked' | 'cas';
export const RIVALS: readonly Rival[] = ['sqlite', 'skip-locked', 'cas'];

export interface DifferentialOptions {
  readonly sequences: number;
  readonly seed: number;
  readonly rivals?: readonly Rival[];
  /** Whether a sequence that differs is cut down to what matters of it; it is, unless told. */
  readonly isShrunk?: boolean;
  /** After so many sequences have been played. */
  readonly onProgress?: (played: number) => void;
}

export interface DifferentialReport {
  readonly sequences: number;
  readonly seed: number;
  /** How often each question was asked, and how often it had an effect or an answer. */
  readonly asked: Readonly<Record<string, number>>;
  readonly told: Readonly<Record<string, number>>;
  /** The shortest sequence that was found to differ, with where. */
  readonly difference: { readonly says: string; readonly steps: readonly Step[] } | undefined;
}

export async function runDifferential(options: DifferentialOptions): Promise<DifferentialReport> {
  const { sequences, seed, rivals = RIVALS, isShrunk = true } = options;
  const worlds = await openWorlds(rivals);
  try {
    const counts = { asked: {} as Record<string, number>, told: {} as Record<string, number> };
    let played = 0;
    const property = fc.asyncProperty(fewerSteps, async (sequence) => {
      await playOnAll(worlds.all, sequence, (verb, answer) => {
        counts.asked[verb] = (counts.asked[verb] ?? 0) + 1;
        if (isTelling(answer)) counts.told[verb] = (counts.told[verb] ?? 0) + 1;
      });
      played += 1;
      options.onProgress?.(played);
    });
    const found = await fc.check(property, { numRuns: sequences, seed, endOnFailure: !isShrunk });
    const shortest = found.counterexample?.[0];
    const says = String((found.errorInstance as Error | null)?.message ?? found.errorInstance);
    const difference = shortest === undefined ? undefined : { says, steps: shortest };
    return { sequences: found.numRuns, seed, ...counts, difference };
  } finally {
    await worlds.close();
  }
}

/** An empty answer could come from a store that does nothing. */
function isTelling(answer: unknown): boolean {
  const isEmpty = Array.isArray(answer) && answer.length === 0;
  return !isEmpty && answer !== false && answer !== undefined && answer !== 0;
}

async function openWorlds(rivals: readonly Rival[]) {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-twins-'));
  const closes: (() => Promise<void>)[] = [];
  const all: World[] = [memoryWorld()];
  const close = async () => {
    for (const one of closes.reverse()) await one();
    removeTree(directory);
  };
  try {
    if (rivals.includes('sqlite')) all.push(await sqliteWorld(join(directory, 'store.db')));
    const modes = rivals.filter((rival) => rival !== 'sqlite');
    if (modes.length > 0) {
      const server = await startPostgres(['fsync=off', 'synchronous_commit=off']);
      closes.push(() => server.remove());
      for (const claimMode of modes) {
        all.push(await postgresWorld(await server.createDatabase(), { claimMode }));
      }
    }
    closes.push(...all.map((world) => () => world.close()));
    return { all: await openAll(all, closes), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Opened {
  readonly worlds: readonly World[];
  readonly stores: readonly Named<Store>[];
  readonly rivals: readonly Named<Store>[];
}

async function openAll(worlds: readonly World[], closes: (() => Promise<void>)[]): Promise<Opened> {
  const openOne = async (world: World): Promise<Named<Store>> => {
    const it = await world.open();
    closes.push(() => it.close());
    return { name: world.name, it };
  };
  const stores = await Promise.all(worlds.map(openOne));
  return { worlds, stores, rivals: await Promise.all(worlds.map(openOne)) };
}

async function playOnAll(
  { worlds, stores, rivals }: Opened,
  sequence: readonly Step[],
  onAnswer: (verb: string, answer: unknown) => void,
): Promise<void> {
  let now = BEGIN_MS;
  const everywhere = async (act: (world: World) => Promise<void>) => {
    await Promise.all(worlds.map(act));
  };
  const isCas = worlds.some(({ name }) => name.includes('cas'));
  const before = (verb: Verb, args: readonly unknown[]) =>
    verb === 'claim' && isCas ? [{ ...(args[0] as ClaimRequest), countMax: CLAIM_ALL }] : args;
  await everywhere((world) => world.reset());
  await everywhere((world) => world.setNow(now));
  const pass = async (ms: number) => {
    now += ms;
    await everywhere((world) => world.setNow(now));
  };
  let looks = 0;
  const isForAll = (verb: Verb) => {
    if (verb === 'violations') return false;
    return (verb !== 'pods' && verb !== 'list') || looks++ % LOOK_EVERY < 2;
  };
  const options: TwinOptions = { onAnswer, before, isForAll };
  const store = twinStore(stores, options);
  const rows = await play(
    {
      store,
      rival: twinStore(rivals, options),
      pass,
      // At the very millisecond stores may differ: one counts in those, another in parts of them.
      tick: () => pass(1),
      insertPlain: async (row) => {
        await everywhere((world) => world.insertPlain(row, now));
        return row.task_id!;
      },
    },
    sequence,
  );
  await pass(1);
  await lookAtAll(twinStore(stores, { ...options, isForAll: () => true }), rows);
  const [first, ...others] = await Promise.all(worlds.map((world) => world.rows()));
  others.forEach((other, index) => {
    compare('the rows', { [worlds[0]!.name]: first, [worlds[index + 1]!.name]: other });
  });
}

/** Whatever can be seen of the tables. */
async function lookAtAll(store: Store, rows: readonly TaskRow[]): Promise<void> {
  const runs = rows.flatMap(({ id, generation }) =>
    Array.from({ length: generation }, (_, index) => ({ task: id, generation: index + 1 })),
  );
  await store.violations();
  await store.histories(runs);
  await store.heads(runs);
  await store.find(rows.map(({ id }) => id));
  await store.list({ countMax: 200 });
  await store.list({ countMax: 200, isDeadLetter: true });
  for (const { pod } of await store.pods()) await store.held(pod, '', 100);
  await store.hasSuspects([ROUTE]);
  for (const hours of [0, 2, 8]) {
    await store.worklist(hours * HOUR);
    await store.hasHopeless(hours * HOUR);
    await store.hasOld(hours * HOUR);
  }
}
