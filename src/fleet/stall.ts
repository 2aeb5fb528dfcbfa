/**
 * A pod that cannot write its journal: a full disk, a damaged file. It takes nothing and does not lead, and
 * what it holds waits for a silence, since most stalls pass. One that lasts ends the pod's life by itself:
 * the next in order sweeps it, which counts no crash, and the process comes back as another pod.
 */
import { describeError, pause } from '../ground/index.ts';
import { tell } from '../telemetry/events.ts';
import { fenceProven } from './fence-proven.ts';
import type { Life } from './life.ts';
import type { LifePorts } from './life-ports.ts';

const FENCE_MS = 1_000;
const LOOK_MS = 500;

export class Stall {
  readonly #ports: LifePorts;
  #sinceMs: number | undefined;

  constructor(ports: LifePorts) {
    this.#ports = ports;
  }

  /** Resolves when records are taken again, or the life has ended. */
  async whenOver(life: Life): Promise<void> {
    while (this.#isOn && !life.isDead) await pause(this.#ports.clock, LOOK_MS);
  }

  get #isOn(): boolean {
    return this.#ports.journal.stalledBy !== undefined;
  }

  /** After every heartbeat. */
  look(life: Life): void {
    const nowMs = this.#ports.clock.monotonicMs();
    this.#sinceMs = this.#isOn ? (this.#sinceMs ?? nowMs) : undefined;
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs < this.#ports.times.silentMs) return;
    if (life.holdings.claimedCount === 0 || life.isDraining) return;
    life.die();
    void this.#leave();
  }

  async #leave(): Promise<void> {
    const { id: pod, store, clock, onDead } = this.#ports;
    const why = 'its journal cannot be written, so other pods take its runs';
    tell('pod.died', () => ({ pod, why }));
    try {
      await fenceProven(pod, { store, clock, by: pod, budgetMs: FENCE_MS });
    } catch (error) {
      // The pod falls silent, and is swept for that.
      tell('store.failed', () => ({ what: 'fence', error: describeError(error) }));
    }
    onDead(why);
  }
}
