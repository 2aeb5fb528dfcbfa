/**
 * What goes wrong, how often, and when: spread by a seed over the time of the run, each on a pod that
 * no other fault is at work on. Only what really happened is counted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import type { TestPostgres } from '../support/postgres.ts';
import { below } from '../support/seeded-random.ts';
import type { PodHouse } from './pod-house.ts';
import type { StoreProxy } from './proxy.ts';
import type { Doses } from './sizes.ts';

type Fault = keyof Doses;

export interface FaultPorts {
  readonly houses: readonly PodHouse[];
  /** The producer's own way to the store: its answers are lost too. */
  readonly ownProxy: StoreProxy;
  readonly postgres: TestPostgres;
  readonly random: Random;
  readonly doses: Doses;
  readonly seconds: number;
}

const LOOK_MS = 50;
const DOWN_MS_MAX = 1_500;
/** Past the silence of three seconds, so that others have taken over when the pod comes back. */
const LONG_DOWN_MS = 5_000;
const FAULTY_MS = [5_000, 8_000] as const;
/** For so long the way is slow before it is cut. */
const SLOW_MS = 300;
const STORE_DOWN_MS_MAX = 1_500;
const ANSWER_MS_MAX = 4_000;

export class Faults {
  readonly #ports: FaultPorts;
  readonly counts: Record<Fault, number> = {
    kills: 0,
    pauses: 0,
    drains: 0,
    storeCrashes: 0,
    cutOffs: 0,
    inDoubt: 0,
  };
  disksLost = 0;
  storeKills = 0;
  #crashes = 0;
  #killings = 0;
  #isStoreDown = false;
  #isOver = false;

  constructor(ports: FaultPorts) {
    this.#ports = ports;
  }

  /** Resolves when every dose was given, or there is no more time for it. */
  async rage(): Promise<void> {
    const { seconds, doses } = this.#ports;
    const over = setTimeout(() => {
      this.#isOver = true;
    }, seconds * 2_000);
    await Promise.all(
      (Object.keys(doses) as Fault[]).map((fault) => this.#spread(fault, doses[fault])),
    );
    clearTimeout(over);
  }

  /** One kind of fault, evenly spread with jitter; one that did not come about is tried again. */
  async #spread(fault: Fault, dose: number): Promise<void> {
    const { random, seconds } = this.#ports;
    const begunMs = performance.now();
    const everyMs = (seconds * 1_000 * 0.92) / dose;
    const once = async (atMs: number) => {
      await sleep(atMs);
      while (!this.#isOver && !(await this.#act(fault))) await sleep(LOOK_MS);
    };
    const places = Array.from(
      { length: dose },
      (_, index) => index + 0.1 + 0.8 * random.fraction(),
    );
    await Promise.all(places.map((place) => once(begunMs + place * everyMs - performance.now())));
  }

  /** Whether it happened. */
  async #act(fault: Fault): Promise<boolean> {
    switch (fault) {
      case 'kills':
        // Some at any moment of their lives, some for sure while they are at work.
        this.#killings += 1;
        return this.#onFree((house) => this.#kill(house), this.#killings % 2 ? 'any' : 'working');
      case 'pauses':
        return this.#onFree((house) => this.#pause(house));
      case 'drains':
        return this.#onFree((house) => this.#drain(house));
      case 'cutOffs':
        return this.#onFree((house) => this.#cutOff(house));
      case 'storeCrashes':
        return this.#crashStore();
      case 'inDoubt':
        return this.#dropAnswer();
    }
  }

  /** Waits for a pod that nothing else is done to. */
  async #onFree(
    act: (house: PodHouse) => Promise<boolean>,
    which: 'any' | 'ready' | 'working' = 'ready',
  ): Promise<boolean> {
    const { houses, random } = this.#ports;
    while (!this.#isOver) {
      const free = houses.filter((house) => house.isFree && isFit(house, which));
      const house = free[below(random, Math.max(1, free.length))];
      if (!house) {
        await sleep(LOOK_MS);
        continue;
      }
      house.isFree = false;
      return act(house).finally(() => {
        house.isFree = true;
      });
    }
    return false;
  }

  async #kill(house: PodHouse): Promise<boolean> {
    const { random } = this.#ports;
    if (!(await house.kill())) {
      house.start();
      return false;
    }
    this.counts.kills += 1;
    if (this.counts.kills % 3 === 0) {
      house.loseDisk();
      this.disksLost += 1;
    }
    const isLong = random.fraction() < 1 / 4;
    await sleep(isLong ? LONG_DOWN_MS : random.fraction() * DOWN_MS_MAX);
    house.start();
    return true;
  }

  async #pause(house: PodHouse): Promise<boolean> {
    const wasPaused = await house.pause(this.#faultyMs());
    if (wasPaused) this.counts.pauses += 1;
    return wasPaused;
  }

  /** As in a deploy: the next process comes right after, or a moment later. */
  async #drain(house: PodHouse): Promise<boolean> {
    const wasDrained = await house.drain();
    if (wasDrained) this.counts.drains += 1;
    if (wasDrained) await sleep(this.#ports.random.fraction() * DOWN_MS_MAX);
    house.start();
    return wasDrained;
  }

  async #cutOff(house: PodHouse): Promise<boolean> {
    const { random } = this.#ports;
    house.proxy.delayMs = below(random, 3) * 40;
    await sleep(SLOW_MS);
    await house.cutOff(random.fraction() < 2 / 3 ? 'silence' : 'reset', this.#faultyMs());
    this.counts.cutOffs += 1;
    return true;
  }

  async #crashStore(): Promise<boolean> {
    const { postgres, random } = this.#ports;
    if (this.#isStoreDown) return false;
    this.#isStoreDown = true;
    const how = this.#crashes % 3 === 0 ? 'kill' : 'immediate';
    this.#crashes += 1;
    await postgres.crash(how);
    await sleep(random.fraction() * STORE_DOWN_MS_MAX);
    await postgres.start();
    this.#isStoreDown = false;
    this.counts.storeCrashes += 1;
    if (how === 'kill') this.storeKills += 1;
    return true;
  }

  async #dropAnswer(): Promise<boolean> {
    const { ownProxy, random } = this.#ports;
    const drop = async (proxy: StoreProxy) => {
      const wasDropped = await proxy.dropAnswer(ANSWER_MS_MAX);
      if (wasDropped) this.counts.inDoubt += 1;
      return wasDropped;
    };
    if (random.fraction() < 1 / 8) return drop(ownProxy);
    return this.#onFree((house) => drop(house.proxy));
  }

  #faultyMs(): number {
    const [from, to] = FAULTY_MS;
    return from + (to - from) * this.#ports.random.fraction();
  }
}

function isFit(house: PodHouse, which: 'any' | 'ready' | 'working'): boolean {
  if (which === 'any') return true;
  return house.isReady && (which === 'ready' || house.hasWorked);
}
