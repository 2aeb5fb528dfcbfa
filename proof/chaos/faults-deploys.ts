/**
 * New code under full load: pod by pod is drained and comes back with the next version of every
 * machine, and whoever is killed meanwhile comes back with it at once. Tasks are sent for the first
 * version all the while, so that runs in flight go on under code that was not there when they began.
 * Never back: what the new code has carried on would have to wait for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodHouse } from './pod-house.ts';

export interface DeployPorts {
  /** All of them: one that kept its code would keep its version alive. */
  readonly houses: readonly PodHouse[];
  readonly isOver: () => boolean;
}

const LOOK_MS = 50;

export class DeployFaults {
  readonly #ports: DeployPorts;
  #isAtIt = false;

  constructor(ports: DeployPorts) {
    this.#ports = ports;
  }

  /** True where every pod has been seen with the new code. */
  async roll(): Promise<boolean> {
    const { houses, isOver } = this.#ports;
    if (this.#isAtIt || isOver()) return false;
    this.#isAtIt = true;
    try {
      for (const house of houses) house.version += 1;
      for (const house of houses) await this.#replace(house);
      return !isOver();
    } finally {
      this.#isAtIt = false;
    }
  }

  async #replace(house: PodHouse): Promise<void> {
    const { isOver } = this.#ports;
    // One that is only just starting has nobody who would hear that it is to end.
    while (!(house.isFree && house.isReady) && !isOver()) await sleep(LOOK_MS);
    if (isOver() || house.isUpToDate) return;
    house.isFree = false;
    try {
      await house.drain();
      house.start();
    } finally {
      house.isFree = true;
    }
    while (!house.isUpToDate && !isOver()) await sleep(LOOK_MS);
  }
}
