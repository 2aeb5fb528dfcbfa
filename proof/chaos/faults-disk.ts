/** A disk that is full until the journal on it stands still, and then has room again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import type { PodHouse } from './pod-house.ts';

export interface DiskPorts {
  readonly houses: readonly PodHouse[];
  readonly random: Random;
  readonly isOver: () => boolean;
}

const LOOK_MS = 50;
/** For the journal to notice; a pod without work writes little. */
const STALL_MS_MAX = 8_000;
const FULL_MS_MAX = 4_000;
const READY_MS_MAX = 60_000;

export class DiskFaults {
  readonly #ports: DiskPorts;

  constructor(ports: DiskPorts) {
    this.#ports = ports;
  }

  /**
   * On a new disk: an old one has a log that is written over, and is full for a long time before the
   * journal has to ask for more. Whatever else is done to the pod goes on while its disk is full.
   */
  async fill(): Promise<boolean> {
    const { houses, random, isOver } = this.#ports;
    const house = houses.find(({ disk, isReady, isFree }) => disk && isReady && isFree);
    if (!house?.disk || isOver() || !(await this.#renew(house))) return false;
    const before = house.stalls;
    if (!house.disk.fill()) return false;
    await until(() => house.stalls > before, STALL_MS_MAX);
    const hasStalled = house.stalls > before;
    if (hasStalled) await sleep(random.fraction() * FULL_MS_MAX);
    house.disk.makeRoom();
    return hasStalled;
  }

  async #renew(house: PodHouse): Promise<boolean> {
    house.isFree = false;
    try {
      await house.kill();
      house.loseDisk();
      house.start();
      await until(() => house.isReady && house.hasWorked, READY_MS_MAX);
      return house.isReady;
    } finally {
      house.isFree = true;
    }
  }
}

async function until(isSo: () => boolean, msMax: number): Promise<void> {
  const lateMs = performance.now() + msMax;
  while (!isSo() && performance.now() < lateMs) await sleep(LOOK_MS);
}
