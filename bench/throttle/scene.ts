/** Pods, an API and what was seen of them, second by second. */
import { type Api, type ApiKind, type ApiShape, apiOf, type TellingKind } from './apis.ts';
import { BASELINES, type BaselineName } from './baselines.ts';
import type { Ended } from './limiter.ts';
import { OurFleet } from './ours.ts';
import { Pod } from './pod.ts';
import { World } from './world.ts';

export interface SceneOptions {
  readonly kind: ApiKind | TellingKind;
  readonly pods: number;
  readonly seed: number;
  readonly by: 'ours' | BaselineName;
  readonly beatMs: number;
  readonly throttle?: ConstructorParameters<typeof OurFleet>[2];
  readonly api?: Partial<ApiShape>;
  /** So many of them call; the others have nothing to do. */
  readonly busy?: number;
}

const SLOTS = 64;

interface Seen {
  sent: number;
  ok: number;
  throttled: number;
  timeout: number;
  failure: number;
  capacity: number;
}

export class Scene {
  readonly world: World;
  readonly api: Api;
  readonly pods: Pod[] = [];
  readonly fleet: OurFleet | undefined;
  readonly #options: SceneOptions;
  readonly #seen: Seen[] = [];
  readonly #okBy: number[][] = [];
  readonly #latencies: { readonly at: number; readonly ms: number }[] = [];

  constructor(options: SceneOptions) {
    this.#options = options;
    this.world = new World(options.seed);
    this.api = apiOf(options.kind, this.world, options.api);
    const charging = options.kind === 'charging' ? { refusalsCostQuota: true } : {};
    if (options.by === 'ours') {
      // What it takes to find a limit out is what is measured, but where one is declared.
      const throttle = { adaptive: true, ...charging, ...options.throttle };
      this.fleet = new OurFleet(this.world, options.beatMs, throttle);
    }
    this.join(options.pods);
  }

  join(count: number): void {
    const { by, busy } = this.#options;
    const log = {
      sent: (now: number) => void this.#second(now).sent++,
      ended: (kind: Ended, sentAt: number, now: number, pod: number) =>
        this.#ended(kind, sentAt, now, pod),
    };
    for (let added = 0; added < count; added++) {
      const slots = this.pods.length < (busy ?? Number.POSITIVE_INFINITY) ? SLOTS : 0;
      const pod = new Pod(this.pods.length, this.world, this.api, log, slots);
      this.pods.push(pod);
      const key = `pod-${String(pod.index).padStart(4, '0')}`;
      const limiter =
        by === 'ours'
          ? this.fleet!.join(
              key,
              () => pod.waiting,
              () => pod.go(),
            )
          : BASELINES[by]();
      pod.start(limiter);
    }
  }

  leave(count: number): void {
    for (const pod of this.pods.slice(-count)) {
      pod.isGone = true;
      this.fleet?.kill(`pod-${String(pod.index).padStart(4, '0')}`);
    }
  }

  runTo(seconds: number): void {
    for (let at = Math.floor(this.world.now / 1_000); at < seconds; at++) {
      this.#second(at * 1_000).capacity = this.api.perSecond;
      this.world.runUntil((at + 1) * 1_000);
    }
  }

  /** Shares over these seconds: of the true capacity, and of what was sent. */
  figures(from: number, until: number) {
    const seconds = this.#seen.slice(from, until);
    const sum = (key: keyof Seen) => seconds.reduce((all, second) => all + (second?.[key] ?? 0), 0);
    const sent = Math.max(1, sum('sent'));
    return {
      goodput: sum('ok') / sum('capacity'),
      rejected: sum('throttled') / sent,
      timeouts: sum('timeout') / sent,
      sent: sum('sent'),
      jain: this.#jain(from, until),
      p95Ms: this.#p95(from, until),
    };
  }

  seconds(from: number, until: number): readonly Readonly<Seen>[] {
    return Array.from({ length: until - from }, (_, index) => this.#second((from + index) * 1_000));
  }

  /** The most calls that were sent in a second, over what the API can take. */
  peak(from: number, until: number): number {
    const seconds = this.#seen.slice(from, until);
    return Math.max(...seconds.map((second) => (second?.sent ?? 0) / second.capacity));
  }

  /** The first second from which on a window of so many has at most this share of refusals. */
  cleanFrom(from: number, until: number, windowS: number, shareMax: number): number | undefined {
    for (let at = from; at + windowS <= until; at++) {
      if (this.figures(at, at + windowS).rejected <= shareMax) return at;
    }
    return undefined;
  }

  goodFrom(from: number, until: number, windowS: number, shareMin: number): number | undefined {
    for (let at = from; at + windowS <= until; at++) {
      if (this.figures(at, at + windowS).goodput >= shareMin) return at;
    }
    return undefined;
  }

  #ended(kind: Ended, sentAt: number, now: number, pod: number): void {
    const second = this.#second(now);
    second[kind]++;
    if (kind !== 'ok') return;
    const at = Math.floor(now / 1_000);
    this.#okBy[at] ??= [];
    this.#okBy[at]![pod] = (this.#okBy[at]![pod] ?? 0) + 1;
    this.#latencies.push({ at: now / 1_000, ms: now - sentAt });
  }

  #second(now: number): Seen {
    const at = Math.floor(now / 1_000);
    this.#seen[at] ??= {
      ...{ sent: 0, ok: 0, throttled: 0, timeout: 0, failure: 0 },
      capacity: this.api.perSecond,
    };
    return this.#seen[at]!;
  }

  #jain(from: number, until: number): number {
    const totals = this.pods.filter(({ isGone }) => !isGone).map(() => 0);
    for (const second of this.#okBy.slice(from, until)) {
      second?.forEach((count, pod) => {
        if (pod < totals.length) totals[pod]! += count;
      });
    }
    const sum = totals.reduce((all, count) => all + count, 0);
    const squares = totals.reduce((all, count) => all + count * count, 0);
    return squares === 0 ? 0 : (sum * sum) / (totals.length * squares);
  }

  #p95(from: number, until: number): number {
    const found = this.#latencies.filter(({ at }) => at >= from && at < until).map(({ ms }) => ms);
    found.sort((a, b) => a - b);
    return found[Math.floor(found.length * 0.95)] ?? 0;
  }
}
