/**
 * Several pods in one process, over tables in memory and under one clock that the test owns. Each pod
 * has a journal of its own on a real disk; what lies between it and the tables can be cut, held back,
 * or lose its answers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import * as z from 'zod';
import type { RunId } from '../../src/ground/index.ts';
import type { EventName, Fleet, FleetOptions, FleetqEvents, Machine } from '../../src/index.ts';
import { createFleet, listen } from '../../src/index.ts';
import {
  MemoryStore,
  MemoryTables,
  type PodId,
  type Store,
  StoreBusyError,
  StoreUnreachableError,
  type TaskRow,
  type Way,
} from '../../src/store/index.ts';
// What a pod loads on its way up, so that it is there by then: a clock of ours would run ahead.
import '../../machines/fleet/index.ts';
import '../../machines/recovery/index.ts';
import '../../src/join.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { crashImage, useTempDirs } from '../support/temp-dir.ts';

export const HEARTBEAT_MS = 1_000;
export const SILENT_MS = 5_000;
export const ARCHIVE_MS = 1_000;
/** After this long a pod that was never cut off may judge others. */
export const STEADY_MS = 2 * SILENT_MS + 2 * HEARTBEAT_MS;

export const anyInput = z.object({ id: z.string().optional() });

type Verb = keyof Store;

/** What lies between a pod and the tables. */
export class Wire {
  /** Nothing gets through, in either direction. */
  isCut = false;
  /** These calls are carried out, and their answers lost: so often each. */
  readonly losesAnswers = new Map<Verb, number>();
  /** These calls give way to a rival, and are not carried out: so often each. */
  readonly isBusyFor = new Map<Verb, number>();
  /** What was asked, in order. */
  readonly asked: Verb[] = [];
  /** Holds a call back, after it was carried out, until this resolves. */
  readonly holdsAnswers = new Map<Verb, Promise<unknown>>();

  /** What every way takes, there and back; undefined for no time at all. */
  delay: { readonly clock: FakeClock; readonly ms: () => number } | undefined;

  async #travel(): Promise<void> {
    const { clock, ms } = this.delay ?? {};
    if (clock && ms) await new Promise<void>((resolve) => clock.after(ms(), resolve));
  }

  readonly way: Way = async (verb, act) => {
    this.asked.push(verb);
    await this.#travel();
    if (this.isCut) throw new StoreUnreachableError('the wire is cut');
    const busy = this.isBusyFor.get(verb) ?? 0;
    if (busy > 0) {
      this.isBusyFor.set(verb, busy - 1);
      throw new StoreBusyError(`${verb} met a rival`);
    }
    const answer = act();
    const lost = this.losesAnswers.get(verb) ?? 0;
    // An empty answer would be no loss.
    if (lost > 0 && !(Array.isArray(answer) && answer.length === 0)) {
      this.losesAnswers.set(verb, lost - 1);
      throw new StoreUnreachableError(`the answer of ${verb} was lost`);
    }
    await this.holdsAnswers.get(verb);
    await this.#travel();
    if (this.isCut) throw new StoreUnreachableError('the wire was cut meanwhile');
    return answer;
  };
}

export interface TestPod {
  readonly name: string;
  readonly fleet: Fleet;
  readonly wire: Wire;
  readonly store: MemoryStore;
  readonly dataDir: string;
  /** Its id right now: another one each time it was taken for dead. */
  readonly id: PodId;
  /** As by SIGKILL: nothing more is said or written. Answers what is left of its disk. */
  crash(): string;
}

export type PodOptions = Partial<Omit<FleetOptions, 'clock' | 'store'>> & {
  readonly machines: readonly Machine[];
  readonly wire?: Wire;
  readonly clock?: FleetOptions['clock'];
};

type OpenOptions = PodOptions & {
  readonly wire: Wire;
  readonly dataDir: string;
  readonly store?: MemoryStore;
};

export interface TestFleet {
  readonly clock: FakeClock;
  readonly tables: MemoryTables;
  /** The test's own way to the tables, which is never cut. */
  readonly store: MemoryStore;
  startPod(name: string, options: PodOptions): Promise<TestPod>;
  /** The same, and nobody waits for it: some never open. */
  openPod(name: string, options: OpenOptions): Promise<Fleet>;
  row(id: string): Promise<TaskRow>;
  /** The kinds of all records the store has of the task's current generation, in order. */
  history(id: string): Promise<string[]>;
  podStatus(id: PodId): Promise<string | undefined>;
}

/** Call once at the top of a test file. */
export function useTestFleets() {
  const newDir = useTempDirs();
  const fleets: Fleet[] = [];
  const stops: (() => void)[] = [];
  const checked: MemoryStore[] = [];
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) fleet.stopNow();
    for (const stop of stops.splice(0)) stop();
    for (const store of checked.splice(0)) expect(await store.violations()).toEqual([]);
  });

  const startFleet = (): TestFleet => {
    const clock = new FakeClock();
    const tables = new MemoryTables({ clock, random: seededRandom(11) });
    const store = new MemoryStore(tables);
    checked.push(store);
    let seed = 0;
    const openPod: TestFleet['openPod'] = (name, { wire, ...more }) => {
      seed++;
      const opening = createFleet({
        heartbeat: HEARTBEAT_MS,
        silence: SILENT_MS,
        archive: ARCHIVE_MS,
        socket: false,
        // Enough that a busy test host, which makes pods modest, does not matter.
        slots: 40,
        clock,
        random: seededRandom(1_000 + seed),
        podName: name,
        store: new MemoryStore(tables, { way: wire.way }),
        ...more,
      });
      opening.then((fleet) => fleets.push(fleet)).catch(() => undefined);
      return opening;
    };
    const startPod = async (name: string, options: PodOptions): Promise<TestPod> => {
      const { wire = new Wire() } = options;
      const own = new MemoryStore(tables, { way: wire.way });
      const dataDir = options.dataDir ?? newDir();
      const opening = openPod(name, { ...options, wire, store: own, dataDir });
      await loading(wire, opening);
      const fleet = await whileAdvancing(clock, opening);
      return {
        name,
        fleet,
        wire,
        store: own,
        dataDir,
        get id() {
          return fleet.status.pod?.pod as PodId;
        },
        crash() {
          const image = crashImage(dataDir, newDir());
          wire.isCut = true;
          fleet.stopNow();
          return image;
        },
      };
    };
    const row = async (id: string): Promise<TaskRow> => {
      const [found] = await store.find([id as RunId]);
      expect(found, `task ${id}`).toBeDefined();
      return found!;
    };
    return {
      clock,
      tables,
      store,
      startPod,
      openPod,
      row,
      async history(id) {
        const { generation } = await row(id);
        const segments = await store.histories([{ task: id as RunId, generation }]);
        return segments.flatMap(({ events }) =>
          (JSON.parse(events) as { event: string }[]).map(({ event }) => event),
        );
      },
      async podStatus(id) {
        return (await store.pods()).find(({ pod }) => pod === id)?.status;
      },
    };
  };

  return {
    newDir,
    startFleet,
    /** Everything said under this name from now on. */
    hear<N extends EventName>(name: N): FleetqEvents[N][] {
      const heard: FleetqEvents[N][] = [];
      stops.push(listen(name, (event) => heard.push(event)));
      return heard;
    },
  };
}

/**
 * A pod loads modules before it looks at the clock, and asks the store right after. No time passes
 * meanwhile: how fast this host loads them must decide nothing.
 */
async function loading(wire: Wire, opening: Promise<unknown>): Promise<void> {
  const before = wire.asked.length;
  let isOpen = true;
  const end = () => {
    isOpen = false;
  };
  opening.then(end, end);
  while (isOpen && wire.asked.length === before) await sleep(1);
}

const STEP_MS = 10;
const REAL_MS_MAX = 120_000;
/** After so many steps it is the disk, or a module, that is waited for, and no timer. */
const STEP_COUNT_FAST = 100;

/** Lets time pass until the promise is settled, however long that takes. */
export async function whileAdvancing<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isOpen = true;
  const settled = promise.finally(() => {
    isOpen = false;
  });
  settled.catch(() => undefined);
  const giveUpAt = performance.now() + REAL_MS_MAX;
  for (let step = 0; isOpen && performance.now() < giveUpAt; step++) {
    await clock.advance(STEP_MS);
    if (step > STEP_COUNT_FAST) await sleep(1);
  }
  if (isOpen) throw new Error('nothing came of it');
  return settled;
}
