/**
 * The store is away for longer than pods may count on their claims, for all of them or for a few, whose
 * runs are then taken by others. Meanwhile hosts start runs of their own. What machines let go on goes on
 * for as long as they say, and all of it comes together afterwards.
 */
import type { Cluster } from './cluster.ts';
import type { Link } from './network.ts';
import type { World } from './world.ts';

const COUNT_MAX = 3;
const AWAY_MS_MIN = 4_000;
const AWAY_MS_MAX = 11_000;
/** What local runs count from here, so that their numbers are nobody else's. */
const LOCAL_FROM = 20_000;
const LOCAL_COUNT = 5;
/** Most of the storm comes after it. */
const BEGUN_BY = 0.6;

export class Islands {
  readonly #world: World;
  readonly #cluster: Cluster;

  constructor(world: World, cluster: Cluster, stormMs: number) {
    this.#world = world;
    this.#cluster = cluster;
    const count = 1 + Math.floor(world.within(0, COUNT_MAX));
    for (let index = 0; index < count; index++) {
      const ms = world.within(AWAY_MS_MIN, AWAY_MS_MAX);
      world.schedule.at(world.within(0, stormMs * BEGUN_BY), () => this.#cutOff(ms));
    }
  }

  #cutOff(ms: number): void {
    const links = this.#lines().filter(({ isCut }) => !isCut);
    this.#world.say('store', `is away for ${ms.toFixed(0)} ms, for ${links.length} lines`);
    this.#world.count('islands');
    for (const link of links) link.isCut = true;
    this.#cluster.later(ms, () => {
      for (const link of links) link.isCut = false;
    });
    for (let index = 0; index < LOCAL_COUNT; index++) {
      this.#world.schedule.at(this.#world.nowMs + this.#world.within(0, ms), () => this.#start());
    }
  }

  /** That of the store itself, or those of every second pod. */
  #lines(): readonly Link[] {
    if (this.#world.random.fraction() < 0.4) return [this.#cluster.weather];
    const pods = this.#cluster.alive().filter((_, index) => index % 2 === 0);
    return pods.map(({ link }) => link);
  }

  #start(): void {
    const pods = this.#cluster.alive().filter((pod) => !pod.isSuspectsOnly && !pod.isFaulty);
    if (pods.length === 0) return;
    this.#world.pick(pods).startLocal(LOCAL_FROM + Math.floor(this.#world.within(0, 1_000)));
  }
}
