/**
 * Several calls at once on a real Postgres, over connections of their own: what came of them has to be
 * what came of them one after another, in some order, in the store of the simulation. Calls that may
 * pass over a locked row by design are sent again until they were not, as their callers do.
 */
import * as fc from 'fast-check';
import { StoreBusyError } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask, Settlement } from '../../src/store/tasks.ts';
import { cancelTask, discardTask, redriveTask, rescheduleTask } from '../../test/store/acts.ts';
import {
  birthOf,
  cancelled,
  claimRequest,
  completed,
  failed,
  HOUR,
  newTask,
  newTasks,
  parked,
  podOf,
  released,
  segment,
} from '../../test/store/factories.ts';
import { plainOf } from './twin-store.ts';

const AGAIN_MAX = 100;
const POD = podOf('alder');

/** What is there before the calls meet: two tasks in hand, one that waits, one that failed. */
export interface Ground {
  readonly held: readonly ClaimedTask[];
  readonly open: string;
  readonly ended: string;
}

export type Tasks = ReturnType<typeof newTasks>;

export function tasksOfOneCase(): Tasks {
  return [...newTasks(2, { priority: 2 }), newTask({ priority: 1 }), newTask()];
}

export async function prepare(store: Store, tasks: Tasks): Promise<Ground> {
  await store.register(birthOf('alder'));
  await store.enqueue(tasks.slice(0, 3));
  const claimed = await store.claim(claimRequest(POD, { countMax: 3 }));
  await store.settle(POD, [failed(claimed[2]!, { tail: segment(claimed[2]!, 0, 1) })]);
  await store.enqueue(tasks.slice(3));
  return { held: claimed.slice(0, 2), open: tasks[3]!.id, ended: claimed[2]!.task };
}

/** One call, chosen by three numbers; every number means something. */
export type Choice = readonly [kind: number, which: number, how: number];
export const choices = fc.array(fc.tuple(fc.nat(9), fc.nat(1), fc.nat(5)), {
  minLength: 2,
  maxLength: 3,
});

const WAYS: readonly ((claim: ClaimedTask) => Settlement)[] = [
  (claim) => completed(claim, { tail: segment(claim, 0, 2) }),
  (claim) => failed(claim, { tail: segment(claim, 0, 1), retriesAdd: 1 }),
  (claim) => released(claim, { tail: segment(claim, 0, 0) }),
  (claim) => parked(claim, 'sleep', HOUR, { tail: segment(claim, 0, 3) }),
  (claim) => cancelled(claim),
  (claim) => completed(claim, { tail: segment(claim, 0, 1, 'other') }),
];

export function callOf([kind, which, how]: Choice, ground: Ground, name: string) {
  const claim = ground.held[which]!;
  const ids = [claim.task, ground.open, ground.ended] as const;
  const task = ids[how % 3] as typeof claim.task;
  const seen = { generation: 1 };
  return async (store: Store): Promise<unknown> => {
    switch (kind) {
      case 0:
      case 1:
        return settled(store, WAYS[how]!(claim));
      case 2:
        return cancelTask(store, task, name);
      case 3:
        return redriveTask(store, task, seen, { isFresh: which === 0 });
      case 4:
        return discardTask(store, task, seen);
      case 5:
        return rescheduleTask(store, task, { afterMs: which * HOUR });
      case 6:
        return store.archive([segment(claim, 0, how)]);
      case 7:
        return store.beat({ pod: POD, seq: 0, nonce: name, lsn: 0, report: {} });
      case 8:
        return store.markDraining(POD);
      default:
        return fenced(store);
    }
  };
}

async function settled(store: Store, settlement: Settlement): Promise<unknown> {
  for (let count = 0; count < AGAIN_MAX; count++) {
    const [answer] = await store.settle(POD, [settlement]);
    if (answer?.kind !== 'locked') return answer;
  }
  throw new Error('a row stayed locked');
}

async function fenced(store: Store): Promise<unknown> {
  for (let count = 0; count < AGAIN_MAX; count++) {
    try {
      return await store.fence(POD, podOf('sweeper'), 'proved');
    } catch (error) {
      if (!(error instanceof StoreBusyError)) throw error;
    }
  }
  throw new Error('the row of a pod stayed locked');
}

/** What each call was told, and what is there afterwards. */
export async function outcome(store: Store, answers: readonly unknown[], tasks: Tasks) {
  const rows = (await store.list({ countMax: 10 })).sort((a, b) => (a.id < b.id ? -1 : 1));
  const runs = tasks.flatMap(({ id }) => [1, 2].map((generation) => ({ task: id, generation })));
  const histories = (await store.histories(runs)).map((one) => ({
    ...one,
    events: JSON.parse(one.events),
  }));
  return plainOf({ answers, rows, pods: await store.pods(), histories });
}

/** Every order of so many things, as their indices. */
export function ordersOf(count: number): number[][] {
  if (count === 0) return [[]];
  return ordersOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => order.toSpliced(at, 0, count - 1)),
  );
}
