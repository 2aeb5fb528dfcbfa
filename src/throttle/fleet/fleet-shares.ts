/**
 * A process as one of a fleet, for all APIs that the fleet shares: what it tells with its heartbeats, and
 * what it makes of what it reads in their answers. No call of an API asks the store for anything.
 */
import type { Json, Random } from '../../ground/index.ts';
import { ceilingsOf } from '../ceilings.ts';
import type { Throttle } from '../throttle.ts';
import { SHARED_APIS_MAX } from './chief.ts';
import { firstShareOf, isFree, partedCap } from './first-share.ts';
import { decodePublished, encodeReport, type PublishedRow } from './wire.ts';
import type { Published } from './words.ts';

/** Twice as long as anybody is thought to be there who is not heard, and what is settled is said again. */
const UNHEARD_MS = 60_000;

export interface HeardBeat {
  /** When the report was made that was sent with it. */
  readonly madeMs: number;
  readonly sentMs: number;
  readonly heardMs: number;
  readonly rows: readonly PublishedRow[];
  /** How many pods there are. */
  readonly podCount: number;
  /** Whether others are in the table that nobody has heard lately, and that are not taken for dead. */
  readonly areUnheard?: boolean;
}

export interface SharesPorts {
  readonly throttles: () => Iterable<Throttle>;
  /** The throttle of an API, if the fleet shares it. */
  readonly throttleOf: (api: string) => Throttle | undefined;
  readonly random: Random;
}

export class FleetShares {
  readonly #ports: SharesPorts;
  #life: { readonly key: string; readonly beatMs: number } | undefined;
  #podCount = 1;
  #areUnheard = false;
  /** The most that were there lately, also by what another life of this process has heard. */
  #lately = { podCount: 1, heardMs: Number.NEGATIVE_INFINITY };
  /** Heartbeats that were answered in this life. */
  #heardCount = 0;
  #caps = new Map<string, number>();
  /** APIs that were called here before anybody had published anything of them. */
  readonly #early = new Set<string>();
  #isLeaving = false;

  constructor(ports: SharesPorts) {
    this.#ports = ports;
  }

  /** From now on this process is the pod `key`; what another life of it had been given is not its own. */
  begin(key: string, beatMs: number, nowMs: number): void {
    this.#life = { key, beatMs };
    this.#heardCount = 0;
    this.#early.clear();
    for (const throttle of this.#ports.throttles()) this.admit(throttle, nowMs);
  }

  /** An API is called here for the first time. */
  admit(throttle: Throttle, nowMs: number): void {
    const { key, beatMs } = this.#life ?? {};
    if (key === undefined || beatMs === undefined || !throttle.isShared) return;
    throttle.lend(key, beatMs);
    if (!this.#caps.has(throttle.policy.name)) this.#early.add(throttle.policy.name);
    this.#begin(throttle, nowMs);
  }

  /** It wants nothing any more. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Of each API a few hundred bytes, of the hundred that are wanted most. */
  report(nowMs: number): Json {
    const shared = [...this.#ports.throttles()].filter(({ lease }) => lease !== undefined);
    shared.sort((a, b) => wantedBy(b) - wantedBy(a));
    const told = shared.slice(0, SHARED_APIS_MAX).map(({ policy, lease, waiting, routes }) => {
      // Whose runs have lately waited wants it, though between two of them none is here.
      const wanting = Math.max(waiting, Math.min(1, routes.size));
      const told = lease!.report(wanting, nowMs, this.#isLeaving);
      // Whoever leads may be a pod in which nothing was declared of it.
      const report = { ...told, waiting, ...ceilingsOf(policy) };
      return [policy.name, encodeReport(report)] as const;
    });
    // By entries: a name may be one that objects have of their own.
    return Object.fromEntries(told);
  }

  heard({ madeMs, sentMs, heardMs, rows, podCount, areUnheard = false }: HeardBeat): void {
    this.#podCount = Math.max(1, podCount);
    this.#areUnheard = areUnheard;
    this.#notePods(heardMs);
    this.#heardCount++;
    for (const { lease } of this.#ports.throttles()) lease?.told(madeMs, sentMs, heardMs);
    for (const row of rows.slice(0, SHARED_APIS_MAX)) {
      const published = decodePublished(row, heardMs);
      const cap = published?.learned.cap ?? row.pinned;
      if (cap === undefined) continue;
      this.#caps.set(row.api, cap);
      // Before its first heartbeat a pod knows nothing of what others have found out.
      if (this.#heardCount === 1) this.#early.delete(row.api);
      if (!published) continue;
      // Known before it is called here: so the leader counts this pod before it wants anything.
      const throttle = this.#ports.throttleOf(row.api);
      if (!throttle?.lease) continue;
      throttle.heed(published, { nowMs: heardMs, sentMs, chance: this.#ports.random.fraction() });
    }
    // Before it is counted, it has what a newcomer has by what is known now.
    for (const throttle of this.#ports.throttles()) {
      this.#begin(throttle, heardMs);
    }
  }

  /** A table that has gone back in time, or is empty, does not tell of all that are there. */
  #notePods(nowMs: number): void {
    const { podCount, heardMs } = this.#lately;
    if (this.#podCount < podCount && nowMs - heardMs < UNHEARD_MS) return;
    this.#lately = { podCount: this.#podCount, heardMs: nowMs };
  }

  #firstShare({ policy, published }: Throttle, nowMs: number): number {
    const beatMs = this.#life?.beatMs ?? 0;
    return firstShareOf(policy, {
      heardCount: this.#heardCount,
      podCount: this.#podsLately,
      cap: this.#caps.get(policy.name),
      // Until those who were counted have all of it.
      isDividing: (published?.ratesGrowAtMs ?? published?.growsAtMs ?? nowMs) - nowMs >= beatMs,
      wasEarly: this.#early.has(policy.name),
      followsOthers: this.#areUnheard || isRecent(published, nowMs),
    });
  }

  /** With what it may have of all that pods have together, as far as that is known here. */
  #begin(throttle: Throttle, nowMs: number): void {
    const { policy } = throttle;
    const cap = this.#caps.get(policy.name);
    const share = this.#firstShare(throttle, nowMs);
    if (isFree(policy, cap)) {
      // Each has all of it, and its part of a rate that headers may tell of.
      const whole = policy.inFlightMax * this.#podsLately;
      throttle.begin({ share, whole, alone: policy.inFlightMax }, nowMs);
    } else {
      const whole = Math.max(policy.start, partedCap(policy, cap) ?? policy.start);
      throttle.begin({ share, whole, alone: 1 }, nowMs);
    }
  }

  get #podsLately(): number {
    return Math.max(this.#podCount, this.#lately.podCount);
  }
}

/** Whether somebody was counted so lately that it may be there, unheard. */
function isRecent(published: Published | undefined, nowMs: number): boolean {
  return published !== undefined && published.podCount > 0 && nowMs - published.madeMs < UNHEARD_MS;
}

function wantedBy({ pool, waiting }: Throttle): number {
  return pool.inFlight + waiting;
}
