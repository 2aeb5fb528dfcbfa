/** What is done to the processes of pods: kill, pause and drain, one of them or all at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import { DRAIN_BUDGET_MS } from './orders.ts';
import type { PodHouse } from './pod-house.ts';

export interface PodPorts {
  readonly houses: readonly PodHouse[];
  readonly random: Random;
  readonly isOver: () => boolean;
}

type Fitness = 'any' | 'ready' | 'working';

const LOOK_MS = 50;
const DOWN_MS_MAX = 1_500;
/** Past the silence of three seconds, so that others have taken over when the pod comes back. */
const LONG_DOWN_MS = 5_000;
const PAUSE_MS = [5_000, 8_000] as const;
const ALL_WORKING_MS_MAX = 3_000;
/** Who loses its disk when all of them are killed: every second pod, all of them, none, and so on. */
const LOSING: readonly ((index: number) => boolean)[] = [
  (index) => index % 2 === 0,
  () => true,
  () => false,
];

export class PodFaults {
  readonly #ports: PodPorts;
  #isAllWanted = false;
  #singles = 0;
  #masses = 0;
  disksLost = 0;
  /** All SIGKILLs, of one pod or of all. */
  sigkills = 0;

  constructor(ports: PodPorts) {
    this.#ports = ports;
  }

  /** All of them are about to be killed: no other fault keeps a pod for long. */
  get isAllWanted(): boolean {
    return this.#isAllWanted;
  }

  kill(): Promise<boolean> {
    // Some at any moment of their lives, some for sure while they are at work.
    const which = this.#singles % 2 === 0 ? 'any' : 'working';
    return this.#onFree((house) => this.#kill(house), which);
  }

  async #kill(house: PodHouse): Promise<boolean> {
    const { random } = this.#ports;
    if (!(await house.kill())) {
      house.start();
      return false;
    }
    this.#singles += 1;
    this.sigkills += 1;
    if (this.#singles % 3 === 0) this.#loseDisk(house);
    const isLong = random.fraction() < 1 / 4;
    await sleep(isLong ? LONG_DOWN_MS : random.fraction() * DOWN_MS_MAX);
    house.start();
    return true;
  }

  #loseDisk(house: PodHouse): void {
    house.loseDisk();
    this.disksLost += 1;
  }

  /** As when the power of a room fails: all of them in the same moment, and all of them back. */
  killAll(): Promise<boolean> {
    return this.#onAll(async (houses) => {
      const killed = await Promise.all(houses.map((house) => house.kill()));
      const count = killed.filter((wasKilled) => wasKilled).length;
      this.sigkills += count;
      const isAll = count === houses.length;
      const losing = LOSING[this.#masses % LOSING.length]!;
      if (isAll) this.#masses += 1;
      houses.forEach((house, index) => {
        if (isAll && losing(index)) this.#loseDisk(house);
      });
      await sleep(this.#ports.random.fraction() * DOWN_MS_MAX);
      for (const house of houses) house.start();
      return isAll;
    });
  }

  pause(): Promise<boolean> {
    const [from, to] = PAUSE_MS;
    const ms = from + (to - from) * this.#ports.random.fraction();
    return this.#onFree((house) => house.pause(ms));
  }

  /** As in a deploy: the next process comes right after, or a moment later. */
  drain(): Promise<boolean> {
    return this.#onFree((house) => this.#replace(house, () => house.drain()));
  }

  /** The same by somebody who does not wait; mostly soon, for a drain does not take long. */
  drainRoughly(): Promise<boolean> {
    const graceMs = DRAIN_BUDGET_MS * this.#ports.random.fraction() ** 3;
    return this.#onFree((house) => this.#replace(house, () => house.drainRoughly(graceMs)));
  }

  async #replace(house: PodHouse, end: () => Promise<boolean>): Promise<boolean> {
    const hasEnded = await end();
    if (hasEnded) await sleep(this.#ports.random.fraction() * DOWN_MS_MAX);
    house.start();
    return hasEnded;
  }

  /** Where there is a pod that nothing else is done to. */
  async #onFree(
    act: (house: PodHouse) => Promise<boolean>,
    which: Fitness = 'ready',
  ): Promise<boolean> {
    const { houses, random, isOver } = this.#ports;
    if (isOver() || this.#isAllWanted) return false;
    const free = houses.filter((house) => house.isFree && isFit(house, which));
    const house = free[below(random, Math.max(1, free.length))];
    return house ? withHouses([house], () => act(house)) : false;
  }

  /** Waits until nothing is done to any pod, and, for a while, until all of them work. */
  async #onAll(act: (houses: readonly PodHouse[]) => Promise<boolean>): Promise<boolean> {
    const { houses, isOver } = this.#ports;
    if (this.#isAllWanted) return false;
    this.#isAllWanted = true;
    try {
      while (!isOver() && !houses.every(({ isFree }) => isFree)) await sleep(LOOK_MS);
      if (isOver()) return false;
      return await withHouses(houses, async () => {
        const lateMs = performance.now() + ALL_WORKING_MS_MAX;
        while (performance.now() < lateMs && !houses.every((house) => isFit(house, 'working'))) {
          await sleep(LOOK_MS);
        }
        return act(houses);
      });
    } finally {
      this.#isAllWanted = false;
    }
  }
}

async function withHouses(
  houses: readonly PodHouse[],
  act: () => Promise<boolean>,
): Promise<boolean> {
  for (const house of houses) house.isFree = false;
  try {
    return await act();
  } finally {
    for (const house of houses) house.isFree = true;
  }
}

function isFit(house: PodHouse, which: Fitness): boolean {
  if (which === 'any') return true;
  return house.isReady && (which === 'ready' || house.hasWorked);
}
