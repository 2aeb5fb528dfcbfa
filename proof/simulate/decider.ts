/** Somebody who discards, once all is healed, dead letters whose success others wait for. */
import { pause } from '../../src/ground/index.ts';
import { isEnded } from '../../src/store/memory/tables.ts';
import type { Store } from '../../src/store/store.ts';
import { discardTask } from '../../test/store/acts.ts';
import type { Auditor } from './auditor.ts';
import { Link, storeFor } from './network.ts';
import { Process } from './process.ts';
import type { World } from './world.ts';

const EVERY_MS = 500;

export class Decider {
  readonly #world: World;
  readonly #process: Process;
  readonly #store: Store;

  constructor(world: World, auditor: Auditor, weather: Link) {
    this.#world = world;
    this.#process = new Process(world.schedule, 'decider', world.seedOf());
    const link = new Link();
    this.#store = storeFor({ world, auditor, process: this.#process, link, store: weather });
  }

  /** `isMore`: tasks still come in. */
  heal(isMore: () => boolean): void {
    const { schedule, nowMs } = this.#world;
    schedule.at(nowMs, () => void this.#decide(isMore), this.#process);
  }

  async #decide(isMore: () => boolean): Promise<void> {
    const { tables } = this.#world;
    while (isMore() || tables.tasksWhere((task) => !isEnded(task)).length > 0) {
      const followed = tables
        .tasksWhere(({ waitFor }) => waitFor === 'run')
        .flatMap(({ follows }) => tables.tasks.get(follows!.run) ?? []);
      const letters = new Set(followed.filter(({ status }) => status === 'failed'));
      for (const { taskId, generation } of letters) {
        await discardTask(this.#store, taskId, { generation }).catch(() => undefined);
        this.#world.count('followed letters discarded');
      }
      await pause(this.#process.clock, EVERY_MS);
    }
  }
}
