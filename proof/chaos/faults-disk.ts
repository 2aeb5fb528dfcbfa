/**
 * Disks that fail under a pod: one that is full until the journal on it stands still, for a moment or so long
 * that the pod leaves the fleet, and then has room again; one on which a page of the journal has gone bad.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import { damageJournal } from './journal-page.ts';
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
/** Past the silence of three seconds several times over. */
const LONG_FULL_MS = [10_000, 16_000] as const;
const READY_MS_MAX = 60_000;
/** How long a pod runs on, on a damaged journal; where it meets the damage it stands still. */
const DAMAGED_MS_MAX = 3_000;
const STALLED_MS_MAX = 5_000;
const FILLED_MS_MAX = 5_000;

export class DiskFaults {
  readonly #ports: DiskPorts;
  #isFilling = false;

  constructor(ports: DiskPorts) {
    this.#ports = ports;
  }

  /** Whatever else is done to the pod goes on while its disk is full. */
  fill(): Promise<boolean> {
    return this.#onNewDisk((house) => this.#fill(house, [0, FULL_MS_MAX]));
  }

  /**
   * With nothing else done to the pod; true where it stood still all the while. It leaves the fleet, unless what
   * it kept in reserve on the disk was enough to end all that it held.
   */
  fillLong(): Promise<boolean> {
    return this.#onNewDisk(async (house) => {
      const { pid } = house;
      const moves = house.heard('recovered');
      house.isFree = false;
      try {
        const hasStalled = await this.#fill(house, LONG_FULL_MS);
        return hasStalled && house.pid === pid && house.heard('recovered') === moves;
      } finally {
        house.isFree = true;
      }
    });
  }

  /**
   * An old one has a log that is written over, and is full for a long time before the journal has to ask
   * for more.
   */
  async #onNewDisk(act: (house: PodHouse) => Promise<boolean>): Promise<boolean> {
    const { houses, isOver } = this.#ports;
    const house = houses.find(({ disk, isReady, isFree }) => disk && isReady && isFree);
    if (!house || isOver() || this.#isFilling) return false;
    this.#isFilling = true;
    try {
      return (await this.#renew(house)) && (await act(house));
    } finally {
      this.#isFilling = false;
    }
  }

  /** True where the journal stood still for it. */
  async #fill(house: PodHouse, [from, to]: readonly [number, number]): Promise<boolean> {
    const stalls = house.heard('stalled');
    const hasStalled = () => house.heard('stalled') > stalls;
    if (!house.disk?.fill()) return false;
    try {
      await until(hasStalled, STALL_MS_MAX);
      if (hasStalled()) await sleep(from + (to - from) * this.#ports.random.fraction());
      return hasStalled();
    } finally {
      house.disk.makeRoom();
    }
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

  /** The pod runs on until it stands still, and is killed; true where it, or its next start, met the damage. */
  async damage(): Promise<boolean> {
    const { houses, random, isOver } = this.#ports;
    const free = houses.filter((house) => house.isFree && house.isReady);
    const house = free[below(random, Math.max(1, free.length))];
    if (!house || isOver()) return false;
    house.isFree = false;
    try {
      await this.#settleFilled(house);
      if (!house.isReady || !damageJournal(house.dataDir)) return false;
      const [stalls, damages] = [house.heard('stalled'), house.heard('damaged')];
      const hasStalled = () => house.heard('stalled') > stalls;
      await until(hasStalled, random.fraction() * DAMAGED_MS_MAX);
      // Some are started again at once, some after they have left the fleet.
      if (hasStalled()) await sleep(random.fraction() * STALLED_MS_MAX);
      await house.kill();
      house.start();
      await until(() => house.isReady, READY_MS_MAX);
      return house.isReady && house.heard('damaged') > damages;
    } finally {
      house.isFree = true;
    }
  }

  /** Most of a journal is in its WAL; what an earlier process has closed in order is in the file alone. */
  async #settleFilled(house: PodHouse): Promise<void> {
    const filled = house.heard('filled');
    house.ask('fill');
    await until(() => house.heard('filled') > filled, FILLED_MS_MAX);
    await house.drain();
    house.start();
    await until(() => house.isReady && house.hasWorked, READY_MS_MAX);
  }
}

export async function until(isSo: () => boolean, msMax: number): Promise<void> {
  const lateMs = performance.now() + msMax;
  while (!isSo() && performance.now() < lateMs) await sleep(LOOK_MS);
}
