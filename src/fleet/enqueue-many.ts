/**
 * Tasks by the thousand, out of whatever gives them one by one: a batch is read while the one before it
 * is on its way, and no more than that is in memory. Batches are committed one after the other, each of
 * them whole or not at all: what is there when one is refused is everything before it. A batch whose
 * answer was lost is sent again, by the same ids, and is there once.
 */
import {
  type Clock,
  describeError,
  FleetqError,
  pause,
  type Random,
  turn,
} from '../ground/index.ts';
import type { Plan } from '../machine/index.ts';
import type { CallerTx, EnqueueAnswer, NewTask } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { BadItemError, TaskKeyConflictError } from './errors.ts';
import { Ladder } from './ladder.ts';
import type { TaskOptions, Tasks } from './tasks.ts';

/** One statement is sent for so many; more of them at once are no faster, and hold more. */
export const MANY_BATCH_MAX = 1_000;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const ATTEMPTS_MAX = 6;

export interface Wanted {
  readonly input: unknown;
  readonly options: TaskOptions;
}

/** What became of one batch, in the order in which it was given. */
export interface ManyBatch {
  /** The number of its first one, from 0. */
  readonly first: number;
  readonly tasks: readonly { readonly id: string; readonly isNew: boolean }[];
}

export interface ManyReport {
  readonly count: number;
  /** How many were not there before. */
  readonly newCount: number;
}

export interface ManyOptions {
  readonly batchMax: number;
  /** Awaited before the next batch is sent: whoever cannot keep up is not run over. */
  readonly onBatch?: ((batch: ManyBatch) => unknown) | undefined;
  readonly tx?: CallerTx | undefined;
}

export interface ManyPorts {
  readonly tasks: Pick<Tasks, 'read' | 'put'>;
  readonly clock: Clock;
  readonly random: Random;
}

export async function enqueueMany(
  ports: ManyPorts,
  plan: Plan,
  items: Iterable<Wanted> | AsyncIterable<Wanted>,
  options: ManyOptions,
): Promise<ManyReport> {
  let [count, newCount] = [0, 0];
  const sending = async (batch: readonly NewTask[]) => {
    const first = count;
    const answers = await send(ports, plan, batch, first, options.tx);
    const tasks = answers.map(({ id, isNew }) => ({ id, isNew }));
    count += tasks.length;
    newCount += tasks.filter(({ isNew }) => isNew).length;
    await options.onBatch?.({ first, tasks });
  };
  let before: Promise<void> = Promise.resolve();
  try {
    for await (const batch of batchesOf(ports, plan, items, options.batchMax)) {
      await before;
      before = sending(batch);
      // It is awaited in its turn; until then nobody else has to hear of it.
      before.catch(() => undefined);
      // Nothing leaves the process while this one goes on reading: only now is the batch on its way.
      await turn(ports.clock);
    }
    await before;
  } catch (error) {
    // What is on its way may still arrive: whoever hears of a failure knows what is there.
    await before.catch(() => undefined);
    throw error instanceof BadItemError ? error.after(count) : error;
  }
  return { count, newCount };
}

async function* batchesOf(
  { tasks }: ManyPorts,
  plan: Plan,
  items: Iterable<Wanted> | AsyncIterable<Wanted>,
  batchMax: number,
): AsyncGenerator<NewTask[]> {
  let batch: NewTask[] = [];
  let [index, bytes] = [0, 0];
  for await (const { input, options } of items) {
    const task = await readItem(tasks, plan, input, options, index);
    index += 1;
    bytes += task.payload.length;
    batch.push(task);
    if (batch.length < batchMax && bytes < BATCH_BYTES_MAX) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function readItem(
  tasks: ManyPorts['tasks'],
  plan: Plan,
  input: unknown,
  options: TaskOptions,
  index: number,
): Promise<NewTask> {
  try {
    return await tasks.read(plan, input, options);
  } catch (cause) {
    throw new BadItemError(index, cause);
  }
}

async function send(
  { tasks, clock, random }: ManyPorts,
  plan: Plan,
  batch: readonly NewTask[],
  first: number,
  tx: CallerTx | undefined,
): Promise<readonly EnqueueAnswer[]> {
  const ladder = new Ladder();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tasks.put(plan, batch, undefined, tx);
    } catch (error) {
      if (error instanceof TaskKeyConflictError) {
        throw new BadItemError(first + error.conflict.index, error).after(first);
      }
      const mayPass = error instanceof FleetqError && error.verdict === 'retry';
      // In a transaction of the caller's only the caller can begin again.
      if (!mayPass || tx || attempt >= ATTEMPTS_MAX) throw error;
      tell('store.failed', () => ({ what: 'enqueue', error: describeError(error) }));
      const restMs = ladder.next(() => random.fraction());
      await pause(clock, restMs);
    }
  }
}
