/**
 * Keeps so many runs in flight: as many as have ended are given to the fleet again, of every machine and
 * version that there has ever been, whichever code is up just now. Its own book tells what was acknowledged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Random,
  type RunId,
  runIdMint,
  systemClock,
  systemRandom,
} from '../../src/ground/index.ts';
import type { NewTask, Store } from '../../src/store/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Route } from './roll-rules.ts';
import type { RollTables } from './roll-tables.ts';

export interface LoadOptions {
  readonly store: Store;
  readonly tables: RollTables;
  readonly random: Random;
  readonly inFlight: number;
  /** The longest rest between two steps of a run. */
  readonly restMsMax: number;
}

const BATCH_COUNT = 100;
const LOOK_MS = 400;
const HOUR_MS = 3_600_000;
const RARE = 0.1;

export class RollLoad {
  readonly #options: LoadOptions;
  readonly #mint = runIdMint(systemClock, systemRandom);
  readonly acknowledged = new Map<RunId, Route>();
  #usual: readonly Route[] = [];
  #rare: readonly Route[] = [];
  #isOver = false;
  #running: Promise<void> = Promise.resolve();
  /** How many were in flight when it was looked, at the least, once all were there. */
  leastInFlight = Number.POSITIVE_INFINITY;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /**
   * From now on tasks of these are given to the fleet; it must have had them. Of `rare` few: whoever
   * enqueues may be ahead of a deploy, or behind it, but most runs are to be of the code that is up.
   */
  offer(usual: readonly Route[], rare: readonly Route[]): void {
    this.#usual = usual;
    this.#rare = rare;
  }

  /** Resolves when as many as wanted are in flight; goes on until it is ended. */
  async begin(): Promise<void> {
    await this.#fill(this.#options.inFlight);
    this.#running = this.#goOn();
    this.#running.catch(() => undefined);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #goOn(): Promise<void> {
    const { tables, inFlight } = this.#options;
    while (!this.#isOver) {
      await sleep(LOOK_MS);
      const unfinished = await tables.unfinished();
      this.leastInFlight = Math.min(this.leastInFlight, unfinished);
      if (unfinished < inFlight) await this.#fill(inFlight - unfinished);
    }
  }

  async #fill(count: number): Promise<void> {
    for (let left = count; left > 0 && !this.#isOver; left -= BATCH_COUNT) {
      const tasks = Array.from({ length: Math.min(left, BATCH_COUNT) }, () => this.#task());
      const answers = await this.#options.store.enqueue(tasks.map(({ task }) => task));
      answers.forEach(({ id }, index) => void this.acknowledged.set(id, tasks[index]!.route));
    }
  }

  #task(): { readonly route: Route; readonly task: NewTask } {
    const { random, restMsMax } = this.#options;
    const isRare = this.#rare.length > 0 && random.fraction() < RARE;
    const routes = isRare ? this.#rare : this.#usual;
    const route = routes[below(random, routes.length)]!;
    const payload = { n: below(random, 10_000), restMs: below(random, restMsMax) };
    const task = {
      id: this.#mint(),
      ...route,
      queue: 'default',
      priority: below(random, 3),
      due: undefined,
      payload: JSON.stringify(payload),
      key: undefined,
      keyMs: HOUR_MS,
      retriesMax: undefined,
      deadlineMs: undefined,
      traceParent: undefined,
    };
    return { route, task };
  }
}
