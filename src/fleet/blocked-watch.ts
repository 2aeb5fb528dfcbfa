/**
 * Counts, on the pod that leads, the tasks that nobody can go on with: once in a while, since it is for
 * people and their alerts. What others would count is the same, so they do not.
 */
import { type Clock, describeError } from '../ground/index.ts';
import type { Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { countBlocked } from './blocked.ts';
import type { Life } from './life.ts';

export interface BlockedWatchPorts {
  readonly store: Pick<Store, 'pods' | 'known' | 'inFlight'>;
  readonly clock: Clock;
  readonly everyMs: number;
}

export class BlockedWatch {
  readonly #ports: BlockedWatchPorts;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #count: number | undefined;

  constructor(ports: BlockedWatchPorts) {
    this.#ports = ports;
  }

  /** Undefined where another pod leads, or nobody has looked yet. */
  get count(): number | undefined {
    return this.#count;
  }

  /** After every heartbeat. Whoever comes to lead looks at once. */
  look(life: Life): void {
    const { clock, everyMs } = this.#ports;
    if (life.watch.leader !== life.id) {
      this.#count = undefined;
      this.#lastMs = Number.NEGATIVE_INFINITY;
      return;
    }
    const nowMs = clock.monotonicMs();
    if (this.#isLooking || nowMs - this.#lastMs < everyMs || !life.isReady) return;
    this.#lastMs = nowMs;
    this.#isLooking = true;
    countBlocked(this.#ports.store)
      .then((count) => {
        this.#count = count;
      })
      .catch((error) => {
        tell('store.failed', () => ({ what: 'blocked', error: describeError(error) }));
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }
}
