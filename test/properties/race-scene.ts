/**
 * One pod's settler and archiver at work, while a person cancels and a sweep takes its tasks to
 * another pod. Every call to the store, every answer, every timer and every step of a run waits for a
 * scheduler, which lets them go on in any order; some answers are lost on their way.
 */
import type * as fc from 'fast-check';
import { Archiver } from '../../src/fleet/archiver.ts';
import { HeldRun } from '../../src/fleet/held-run.ts';
import { Holdings } from '../../src/fleet/holdings.ts';
import type { Keeper } from '../../src/fleet/keeper.ts';
import { Settler } from '../../src/fleet/settler.ts';
import type { Clock } from '../../src/ground/index.ts';
import {
  type ClaimedTask,
  MemoryStore,
  MemoryTables,
  StoreUnreachableError,
  type Way,
} from '../../src/store/index.ts';
import { cancelTask } from '../store/acts.ts';
import {
  birthOf,
  claimRequest,
  completed,
  HOUR,
  hashAt,
  newTasks,
  podOf,
} from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

export const ALDER = podOf('alder');
export const BIRCH = podOf('birch');

/** What becomes of one of the runs, and how. */
export interface Plan {
  readonly recordCount: number;
  /** Whether it waits until the store has its records before it ends. */
  readonly isFlushed: boolean;
  readonly end: 'completed' | 'released' | 'parked';
}

export interface Scene {
  readonly direct: MemoryStore;
  readonly holdings: Holdings;
  readonly tasks: readonly ClaimedTask[];
  /** How often each run was over, by its place. */
  readonly overs: readonly number[];
  /** The numbers of the records that each run has written. */
  readonly written: readonly number[][];
  run(index: number): Promise<void>;
  cancel(index: number): Promise<string>;
  /** The pod is declared dead, and another one gets and ends what it held. */
  sweep(): Promise<void>;
  /** Resolves when nothing is left to be sent. */
  leave(): Promise<void>;
}

export async function raceScene(
  scheduler: fc.Scheduler,
  plans: readonly Plan[],
  losesAnswer: () => boolean,
): Promise<Scene> {
  const step = (name: string) => scheduler.schedule(Promise.resolve(), name);
  const tables = new MemoryTables({ clock: new FakeClock(), random: seededRandom(1) });
  const direct = new MemoryStore(tables);
  const clock = scheduledClock(step);
  const store = new MemoryStore(tables, { way: scheduledWay(step, losesAnswer) });
  for (const name of ['alder', 'birch']) await direct.register(birthOf(name));
  await direct.enqueue(newTasks(plans.length));
  const tasks = await direct.claim(claimRequest(ALDER, { countMax: plans.length }));

  const holdings = new Holdings();
  const overs = plans.map(() => 0);
  const settler = new Settler({
    store,
    clock,
    random: seededRandom(2),
    pod: ALDER,
    onOver: (over) => {
      for (const held of over) {
        overs[runs.indexOf(held)]! += 1;
        holdings.remove(held);
      }
    },
  });
  const onForked = (held: HeldRun) => {
    throw new Error(`the history of ${held.claim.task} has forked`);
  };
  const archiver = new Archiver({
    store,
    clock,
    random: seededRandom(3),
    holdings,
    everyMs: HOUR,
    onForked,
  });
  const keeper = {
    grew: () => {
      holdings.unflushed++;
    },
    flush: (held) => archiver.flush(held),
    settle: (held, settlement) => settler.push(held, settlement),
  } as Partial<Keeper> as Keeper;
  const start = { seq: -1, hash: '', state: undefined };
  const runs = tasks.map((task) => new HeldRun(task, start, keeper));
  for (const held of runs) holdings.put(held);
  const written = plans.map((): number[] => []);

  return {
    direct,
    holdings,
    tasks,
    overs,
    written,
    async run(index) {
      const [plan, held] = [plans[index]!, runs[index]!];
      for (let seq = 0; seq < plan.recordCount; seq++) {
        await step(`record ${seq} of ${index}`);
        written[index]!.push(seq);
        held.recorded(recordOf(held, seq));
      }
      if (plan.isFlushed) await held.flushed();
      if (plan.end === 'completed') held.ended({ outcome: 'completed', output: 'alder' } as never);
      else if (plan.end === 'parked') held.parked('sleep', 0);
      else held.released();
    },
    async cancel(index) {
      await step('a person cancels');
      return cancelTask(direct, tasks[index]!.task, 'asked');
    },
    async sweep() {
      await step('fence');
      await direct.fence(ALDER, BIRCH, 'proved');
      const taking = { from: ALDER, by: BIRCH, to: 'pool', crashed: 'all', spreadMs: 0 } as const;
      await step('take');
      await direct.take({ ...taking, countMax: 100 });
      await step('claim');
      const claimed = await direct.claim(claimRequest(BIRCH));
      for (const task of claimed) {
        await step('another pod ends it');
        await direct.settle(BIRCH, [completed(task, { result: '"birch"' })]);
      }
    },
    async leave() {
      await settler.idle();
      await archiver.flushNow();
      archiver.stop();
    },
  };
}

function recordOf(held: HeldRun, seq: number) {
  const { task, epoch } = held.claim;
  const data = '{"type":"DONE"}';
  return { seq, at: 0, epoch, event: 'DONE', state: 'main.work', data, hash: hashAt(task, seq) };
}

/** Both the request and its answer are under way for as long as the scheduler likes. */
function scheduledWay(step: (name: string) => Promise<unknown>, losesAnswer: () => boolean): Way {
  return async (verb, act) => {
    await step(`${verb} arrives`);
    const answer = act();
    await step(`${verb} is answered`);
    if (losesAnswer()) throw new StoreUnreachableError(`the answer of ${verb} was lost`);
    return answer;
  };
}

/** Timers go off when the scheduler says so, whatever they were set to; those of hours never do. */
function scheduledClock(step: (name: string) => Promise<unknown>): Clock {
  return {
    now: () => 0,
    monotonicMs: () => 0,
    soon: (act) => void step('soon').then(act),
    after(delayMs, act) {
      let isCancelled = delayMs >= HOUR;
      if (!isCancelled) void step(`after ${delayMs}`).then(() => isCancelled || act());
      return () => {
        isCancelled = true;
      };
    },
  };
}
