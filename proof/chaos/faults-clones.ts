/**
 * A second process on a clone of a pod's volume, under a supervisor, while the original lives on. It has to
 * find that out, and then does nothing. Where the original falls silent meanwhile, the clone may go on for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { runOn } from '../../test/support/postgres.ts';
import { LIMITS } from './judge.ts';
import type { PodHouse } from './pod-house.ts';

export interface ClonePorts {
  readonly houses: readonly PodHouse[];
  readonly random: Random;
  readonly url: string;
  readonly isOver: () => boolean;
  /** Starts a process on a clone of this one's volume. */
  readonly clone: (house: PodHouse) => Promise<PodHouse>;
}

const LOOK_MS = 100;
const RIVAL_MS_MAX = 15_000;
/** It stays for a while once it knows, so that it could do something. */
const STAYS_MS = [1_500, 5_000] as const;
/** Heartbeats of the original that were accepted: all that are there at a look. */
const BEATS = `
  select (extract(epoch from chaos_true(last_heartbeat)) * 1000)::float8 as at
    from pod_health where name = $1 and dead_by is null`;
/** When a clone came into the fleet, once for each time. */
const BIRTHS = `
  select (extract(epoch from chaos_true(birth_timestamp)) * 1000)::float8 as at
    from pod_health where name = $1 order by 1`;
/** From the moment in which the store is asked for rivals to the registration, the beats are rounded too. */
const SLACK_MS = 500;

export class CloneFaults {
  readonly #ports: ClonePorts;
  #isAtIt = false;
  /** In words: what clones did that they may not. */
  readonly wrongs: string[] = [];

  constructor(ports: ClonePorts) {
    this.#ports = ports;
  }

  /** True where the clone has found out that its original lives, or went on as if it did not. */
  async start(): Promise<boolean> {
    const { houses, isOver, clone } = this.#ports;
    const house = houses.find((one) => one.volume && one.isFree && one.isReady && one.hasWorked);
    if (!house || isOver() || this.#isAtIt) return false;
    this.#isAtIt = true;
    house.isFree = false;
    try {
      const second = await clone(house);
      try {
        return await this.#watch(house, second);
      } finally {
        await second.close();
      }
    } finally {
      house.isFree = true;
      this.#isAtIt = false;
    }
  }

  async #watch(house: PodHouse, clone: PodHouse): Promise<boolean> {
    const [from, to] = STAYS_MS;
    const staysMs = from + (to - from) * this.#ports.random.fraction();
    const beats = new Set<number>();
    let endMs = performance.now() + RIVAL_MS_MAX;
    let hasMet = false;
    while (performance.now() < endMs) {
      for (const at of await this.#ask(BEATS, house)) beats.add(at);
      if (!hasMet && clone.heard('rival') > 0) {
        [hasMet, endMs] = [true, performance.now() + staysMs];
      }
      await sleep(LOOK_MS);
    }
    const wrongs = this.wrongs.length;
    await this.#judge(house, clone, beats);
    return hasMet || this.wrongs.length > wrongs;
  }

  async #judge(house: PodHouse, clone: PodHouse, beats: ReadonlySet<number>): Promise<void> {
    const joined = clone.heard('registered');
    if (joined === 0 && clone.hasWorked) {
      this.wrongs.push(`${clone.name} has begun a phase, and is no pod`);
    }
    if (joined === 0) return;
    for (const birth of await this.#ask(BIRTHS, clone)) {
      // What came later may be the next process of the original, which has found the clone at work.
      const last = Math.max(...[...beats].filter((at) => at <= birth));
      const silentMs = Math.round(birth - last);
      if (silentMs < LIMITS.silenceMs - SLACK_MS) {
        this.wrongs.push(`${clone.name} joined ${silentMs} ms after a heartbeat of ${house.name}`);
      }
    }
  }

  /** Nothing where the store is down. */
  async #ask(text: string, { name }: PodHouse): Promise<number[]> {
    const rows = await runOn<{ at: number }>(this.#ports.url, text, [name]).catch(() => []);
    return rows.map(({ at }) => at);
  }
}
