/** Wall clocks that are set, or run at another pace, for a while; counted once the pod has seen it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { PodHouse } from './pod-house.ts';
import { WRONG_TIMES } from './wrong-clock.ts';

export interface ClockPorts {
  readonly houses: readonly PodHouse[];
  readonly random: Random;
  readonly isOver: () => boolean;
}

const LOOK_MS = 50;
const SEEN_MS_MAX = 10_000;
const WRONG_MS = [1_000, 8_000] as const;

export class ClockFaults {
  readonly #ports: ClockPorts;
  #jumps = 0;

  constructor(ports: ClockPorts) {
    this.#ports = ports;
  }

  async jump(): Promise<boolean> {
    const { houses, random, isOver } = this.#ports;
    const free = houses.filter(
      (house) => house.clock && house.isClockFree && house.isReady && house.skewMs === 0,
    );
    const house = free[below(random, Math.max(1, free.length))];
    if (!house?.clock || isOver()) return false;
    house.isClockFree = false;
    try {
      house.clock.set(WRONG_TIMES[this.#jumps % WRONG_TIMES.length]!);
      const lateMs = performance.now() + SEEN_MS_MAX;
      while (house.skewMs === 0 && performance.now() < lateMs) await sleep(LOOK_MS);
      const wasSeen = house.skewMs !== 0;
      if (wasSeen) this.#jumps += 1;
      const [from, to] = WRONG_MS;
      if (wasSeen) await sleep(from + (to - from) * random.fraction());
      return wasSeen;
    } finally {
      house.clock.right();
      house.isClockFree = true;
    }
  }
}
