/**
 * Gives tasks to the fleet at an even pace, and keeps its own book of what was acknowledged. An
 * enqueue whose answer did not come is sent again under its key until one does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../../src/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../../src/index.ts';
import { type Shape, shapeOf } from './shapes.ts';

export interface Acknowledged {
  readonly subject: string;
  readonly shape: Shape;
  readonly task: string;
}

const AT_ONCE = 100;
const STEP_MS = 50;
const AGAIN_MS = 100;

export class Producer {
  readonly #client: Fleet;
  readonly acknowledged: Acknowledged[] = [];
  again = 0;

  constructor(client: Fleet) {
    this.#client = client;
  }

  /** Resolves when all of them were acknowledged; a store that stays away is an error in the end. */
  async produce(count: number, seconds: number): Promise<void> {
    const begunMs = performance.now();
    for (let next = 0; next < count; ) {
      const share = (performance.now() - begunMs) / (seconds * 1_000);
      const due = Math.min(count, Math.ceil(count * share));
      const batch: Promise<void>[] = [];
      for (; next < due && batch.length < AT_ONCE; next += 1) batch.push(this.#enqueue(next));
      await Promise.all(batch);
      if (batch.length < AT_ONCE) await sleep(STEP_MS);
    }
  }

  async #enqueue(index: number): Promise<void> {
    const subject = `s${index}`;
    const shape = shapeOf(index);
    for (;;) {
      try {
        const { id } = await this.#client.enqueueByName(shape, { subject }, { key: subject });
        this.acknowledged.push({ subject, shape, task: id });
        return;
      } catch (error) {
        const isAway = error instanceof StoreUnreachableError || error instanceof StoreBusyError;
        if (!isAway) throw error;
        this.again += 1;
        await sleep(AGAIN_MS);
      }
    }
  }
}
