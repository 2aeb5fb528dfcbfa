/** A store that refuses to take pods while one of them is killed, and comes back to register again and again. */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import { until } from './faults-disk.ts';
import type { PodHouse } from './pod-house.ts';
import { refusePods, takePods } from './store-room.ts';

export interface JoinPorts {
  readonly houses: readonly PodHouse[];
  readonly random: Random;
  readonly url: string;
  readonly isOver: () => boolean;
}

/** So many that threads which are left behind cannot be taken for those that a pod needs. */
const REFUSALS_MIN = 7;
const THREADS_MORE_MAX = 3;
const REFUSED_MS_MAX = 30_000;
const JOINED_MS_MAX = 60_000;
/** What the thread of a heart needs to end. */
const SETTLE_MS = 1_000;

export class JoinFaults {
  readonly #ports: JoinPorts;
  #isAtIt = false;
  /** In words: what a pod had too many of. */
  readonly wrongs: string[] = [];

  constructor(ports: JoinPorts) {
    this.#ports = ports;
  }

  async refuse(): Promise<boolean> {
    const { houses, random, isOver } = this.#ports;
    const free = houses.filter((one) => one.isFree && one.isReady && one.hasWorked);
    const house = free[below(random, Math.max(1, free.length))];
    if (!house || isOver() || this.#isAtIt) return false;
    this.#isAtIt = true;
    house.isFree = false;
    try {
      return await this.#refuse(house);
    } finally {
      house.isFree = true;
      this.#isAtIt = false;
    }
  }

  async #refuse(house: PodHouse): Promise<boolean> {
    const { url } = this.#ports;
    const [refused, registered] = [house.heard('refused'), house.heard('registered')];
    const refusals = () => house.heard('refused') - refused;
    // Of the process before, which has all that a pod needs: the next one starts its threads one by one.
    const before = threadsOf(house.pid);
    await refusePods(url);
    try {
      await house.kill();
      house.start();
      await until(() => refusals() >= REFUSALS_MIN, REFUSED_MS_MAX);
    } finally {
      await takePods(url);
    }
    const { pid } = house;
    const tries = refusals();
    await until(() => house.heard('registered') > registered, JOINED_MS_MAX);
    await sleep(SETTLE_MS);
    const after = threadsOf(house.pid);
    const isJoined = house.heard('registered') > registered && house.pid === pid;
    if (tries < REFUSALS_MIN || !isJoined || before === undefined || after === undefined)
      return false;
    if (after > before + THREADS_MORE_MAX) {
      this.wrongs.push(
        `${house.name}: ${before} threads grew to ${after} by ${tries} refused registrations`,
      );
    }
    return true;
  }
}

/** Undefined where there is no such process, or the system does not show it. */
function threadsOf(pid: number | undefined): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return undefined;
  }
}
