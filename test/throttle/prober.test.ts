/** One pod that cannot reach an API, while the API is well for all others. */
import { expect, test } from 'vitest';
import { type Api, apiOf } from '../../bench/throttle/apis.ts';
import { OurLimiter } from '../../bench/throttle/ours.ts';
import { Pod } from '../../bench/throttle/pod.ts';
import { World } from '../../bench/throttle/world.ts';
import {
  FleetEstimate,
  type PodReport,
  type Published,
  policyOf,
} from '../../src/throttle/index.ts';

const BEAT_MS = 3_000;
const CUT_OFF_MS = 100_000;
const SLOTS = 64;

/** Pods of which the first is cut off from the API: its calls fail at once, or never end. */
class Fleet {
  readonly world = new World(7);
  readonly api = apiOf('inflight', this.world);
  readonly #okAt: number[] = [];
  #published: Published | undefined;

  constructor(podCount: number, failure: 'fails' | 'hangs') {
    const policy = policyOf('api', {});
    const estimate = new FleetEstimate(policy);
    const reports = new Map<string, PodReport>();
    const { world } = this;
    const look = () => {
      const tick = { nowMs: world.now, beatMs: BEAT_MS, chance: world.fraction() };
      this.#published = estimate.tick(reports, tick);
      world.at(world.now + BEAT_MS, look);
    };
    world.at(BEAT_MS / 2, look);
    for (let index = 0; index < podCount; index++) {
      const key = `pod-${index}`;
      const limiter = new OurLimiter(world, key, policy, BEAT_MS);
      const api = index === 0 ? this.#cutOff(failure) : this.api;
      const pod = new Pod(index, world, api, this.#log, SLOTS);
      pod.start(limiter);
      const beat = () => {
        reports.set(key, limiter.lease.report(pod.waiting, world.now));
        limiter.lease.told(world.now);
        if (this.#published) limiter.heed(this.#published, world.now);
        pod.go();
        world.at(world.now + BEAT_MS, beat);
      };
      world.at(world.fraction() * BEAT_MS, beat);
    }
  }

  #cutOff(failure: 'fails' | 'hangs'): Api {
    const call: Api['call'] = (answer) => {
      if (this.world.now < CUT_OFF_MS) return this.api.call(answer);
      if (failure === 'fails') this.world.at(this.world.now + 40, () => answer('failure'));
    };
    return { call } as Api;
  }

  get #log() {
    const ended = (kind: string) => {
      if (kind === 'ok') this.#okAt.push(this.world.now);
    };
    return { sent: () => undefined, ended };
  }

  /** Calls that were answered well in these seconds, as a share of what the API can take. */
  good(fromS: number, untilS: number): number {
    this.world.runUntil(untilS * 1_000);
    const count = this.#okAt.filter((ms) => ms >= fromS * 1_000 && ms < untilS * 1_000).length;
    return count / (untilS - fromS) / this.api.perSecond;
  }
}

test.each([2, 4])(
  'one of %i pods that cannot reach an API leaves its share to the others',
  (pods) => {
    const fleet = new Fleet(pods, 'fails');
    expect(fleet.good(60, 100)).toBeGreaterThan(0.9);
    expect(fleet.good(120, 240)).toBeGreaterThan(0.9);
  },
);

test.each(['fails', 'hangs'] as const)(
  'after an API was down for all, another pod finds out where the first one %s',
  (failure) => {
    const fleet = new Fleet(8, failure);
    expect(fleet.good(60, 100)).toBeGreaterThan(0.9);
    fleet.api.scale = 0;
    fleet.world.runUntil(130_000);
    fleet.api.scale = 1;
    expect(fleet.good(250, 300)).toBeGreaterThan(0.6);
  },
);
