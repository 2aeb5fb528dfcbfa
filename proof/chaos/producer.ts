/**
 * Gives tasks to the fleet at an even pace, and keeps its own book of what was acknowledged. An
 * enqueue whose answer did not come is sent again under its key until one does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import type { Fleet } from '../../src/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../../src/index.ts';
import type { NewTask } from '../../src/store/tasks.ts';
import { type Shape, shapeOf } from './shapes.ts';

export interface Acknowledged {
  readonly subject: string;
  readonly shape: Shape;
  readonly task: string;
}

const BATCH_COUNT = 50;
const BATCHES_AT_ONCE = 4;
const STEP_MS = 50;
const AGAIN_MS = 100;
const KEY_MS = 7 * 24 * 3_600_000;

export class Producer {
  readonly #client: Fleet;
  readonly #mint = runIdMint(systemClock, systemRandom);
  readonly acknowledged: Acknowledged[] = [];
  /** How many tasks were sent, answered or not. */
  sent = 0;
  again = 0;

  constructor(client: Fleet) {
    this.#client = client;
  }

  /**
   * So many in so much time, and more at the same pace until the last fault has struck: on a slow
   * machine that takes longer, and a fault that finds no work strikes nothing. Resolves when all of
   * them were acknowledged.
   */
  async produce(count: number, seconds: number, isEnough: () => boolean): Promise<void> {
    const begunMs = performance.now();
    const running = new Set<Promise<void>>();
    for (let next = 0; next < count || !isEnough(); ) {
      const share = (performance.now() - begunMs) / (seconds * 1_000);
      const due = Math.ceil(count * share);
      if (next >= due) await sleep(STEP_MS);
      else if (running.size >= BATCHES_AT_ONCE) await Promise.race(running);
      else {
        const to = Math.min(due, next + BATCH_COUNT);
        const indexes = Array.from({ length: to - next }, (_, place) => next + place);
        this.sent = to;
        const act: Promise<void> = this.#persist(indexes).finally(() => running.delete(act));
        running.add(act);
        next = to;
      }
    }
    await Promise.all(running);
  }

  /** Until the store has said that it has them: the first of them by itself, the rest as one. */
  async #persist([first, ...rest]: readonly number[]): Promise<void> {
    if (first !== undefined) await this.#again(() => this.#enqueueOne(first));
    if (rest.length > 0) await this.#again(() => this.#enqueueAll(rest));
  }

  async #again(act: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        const isAway = error instanceof StoreUnreachableError || error instanceof StoreBusyError;
        if (!isAway) throw error;
        this.again += 1;
        await sleep(AGAIN_MS);
      }
    }
  }

  async #enqueueOne(index: number): Promise<void> {
    const [subject, shape] = [`s${index}`, shapeOf(index)];
    const { id } = await this.#client.enqueueByName(shape, { subject }, { key: subject });
    this.acknowledged.push({ subject, shape, task: id });
  }

  async #enqueueAll(indexes: readonly number[]): Promise<void> {
    const answers = await this.#client.store.enqueue(indexes.map((index) => this.#task(index)));
    answers.forEach(({ id }, place) => {
      const index = indexes[place]!;
      this.acknowledged.push({ subject: `s${index}`, shape: shapeOf(index), task: id });
    });
  }

  #task(index: number): NewTask {
    const subject = `s${index}`;
    return {
      id: this.#mint(),
      machine: shapeOf(index),
      version: 1,
      queue: 'default',
      priority: 0,
      due: undefined,
      payload: JSON.stringify({ subject }),
      key: subject,
      keyMs: KEY_MS,
      retriesMax: undefined,
      deadlineMs: undefined,
      traceParent: undefined,
    };
  }
}
