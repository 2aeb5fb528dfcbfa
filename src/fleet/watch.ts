/**
 * What one pod makes of the fleet it sees in the answers to its heartbeats: who leads, and who has
 * fallen silent. Pure: it is told what was seen and when, by this process's own monotonic clock.
 *
 * After an outage of the store every heartbeat looks old. So whoever sweeps must itself have been
 * heard without a break for twice the silence, and must have seen the same beat of the other pod
 * twice, almost a silence apart. How long a pod may be silent it has said itself, when it registered:
 * whoever watches may have been set otherwise.
 *
 * A pod that is far from leading is not shown the whole fleet. It sweeps nothing, and its watch of the others
 * begins when it is.
 */
import {
  type FleetSight,
  LOOKOUTS,
  leaderOf,
  mayLead,
  type PodGlimpse,
  type PodId,
} from '../store/index.ts';

export interface WatchOptions {
  readonly heartbeatMs: number;
  readonly silentMs: number;
}

/** Whoever has not been heard for so many heartbeats has missed one. */
const MISSED_BEATS = 1.5;

const APART_BEATS = 3;

interface Sighting {
  readonly seq: number;
  readonly sinceMs: number;
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #sightings = new Map<PodId, Sighting>();
  #deadSinceMs: ReadonlyMap<PodId, number> = new Map();
  #fleet: readonly PodGlimpse[] = [];
  #seesAll = false;
  #upCount = 0;
  #steadySinceMs: number | undefined;
  #lastMs: number | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** A heartbeat was acknowledged at `nowMs`, and showed this of the fleet. */
  see({ fleet, seesAll, headcount }: FleetSight, nowMs: number): void {
    const isBroken = this.#isBroken(nowMs);
    if (isBroken || this.#steadySinceMs === undefined) this.#steadySinceMs = nowMs;
    this.#lastMs = nowMs;
    this.#fleet = fleet;
    this.#upCount = headcount.up;
    // All that is missing is judged at one time, or more than half of it could look like less.
    const before = new Map(seesAll && this.#seesAll ? this.#sightings : []);
    this.#seesAll = seesAll;
    this.#sightings.clear();
    const dead = fleet.filter(({ status }) => status === 'dead').map(({ pod }) => pod);
    this.#deadSinceMs = new Map(dead.map((pod) => [pod, this.#deadSinceMs.get(pod) ?? nowMs]));
    for (const { pod, seq } of fleet) {
      const known = before.get(pod);
      const isSame = !isBroken && known?.seq === seq;
      this.#sightings.set(pod, isSame ? known : { seq, sinceMs: nowMs });
    }
  }

  /** The oldest pod that is up, has been heard of lately and can write its journal. */
  get leader(): PodId | undefined {
    return leaderOf(this.#fleet, this.#options.silentMs)?.pod;
  }

  /**
   * Whether it is for this pod to sweep now. The leader sweeps at once. The pod behind it sweeps what the
   * leader has left for a whole turn, and so on: a leader that cannot act delays recovery by one turn.
   * A pod behind the first three has not seen the fleet before it was overdue for all turns but three.
   */
  isTurnOf(pod: PodId, nowMs: number): boolean {
    if (!this.#seesAll) return false;
    const { silentMs, heartbeatMs } = this.#options;
    const place = this.#fleet
      .filter((one) => mayLead(one, silentMs))
      .findIndex((one) => one.pod === pod);
    if (place <= 0) return place === 0;
    const turns = Math.min(place, LOOKOUTS - 1);
    return this.#overdueMs(nowMs) >= turns * (silentMs + heartbeatMs);
  }

  /** For how long the pod has been there to be swept that has been so for longest. */
  #overdueMs(nowMs: number): number {
    const overdue = this.#fleet.map((glimpse) => {
      const deadMs = this.#deadSinceMs.get(glimpse.pod);
      return deadMs === undefined ? -this.#leftMs(glimpse, nowMs) : nowMs - deadMs;
    });
    return Math.max(...overdue);
  }

  /** As far as this pod is shown it. */
  get fleet(): readonly PodGlimpse[] {
    return this.#fleet;
  }

  /** How many pods are up, those that this one is not shown included. */
  get upCount(): number {
    return this.#upCount;
  }

  /** Whether this pod has been heard without a break for long enough to judge others. */
  isSteady(nowMs: number): boolean {
    if (this.#steadySinceMs === undefined || this.#isBroken(nowMs)) return false;
    return nowMs - this.#steadySinceMs >= 2 * this.#options.silentMs;
  }

  /** Pods that have been silent for too long, by the store's clock and by ours. */
  silent(nowMs: number): PodGlimpse[] {
    return this.#fleet.filter((glimpse) => this.#leftMs(glimpse, nowMs) <= 0);
  }

  /**
   * Pods that have been silent for too long, or are about to, while none has been so for longer than two
   * are apart that died at one blow: by a heartbeat, by one until this pod has seen it,
   * and by one until it leads.
   */
  fading(nowMs: number): PodGlimpse[] {
    const { heartbeatMs } = this.#options;
    const apartMs = MISSED_BEATS * heartbeatMs;
    const lefts = this.#fleet.map((glimpse) => this.#leftMs(glimpse, nowMs));
    if (Math.min(...lefts) < -APART_BEATS * heartbeatMs) return [];
    return this.#fleet.filter(({ silentMs }, at) => {
      return lefts[at]! <= apartMs && silentMs > apartMs;
    });
  }

  /** When to look again for a pod that is about to have been silent for too long. */
  nextSilenceMs(nowMs: number): number | undefined {
    const { heartbeatMs } = this.#options;
    // Whoever beat within the last two heartbeats is expected to go on.
    const left = this.#fleet
      .filter(({ silentMs }) => silentMs > MISSED_BEATS * heartbeatMs)
      .map((glimpse) => this.#leftMs(glimpse, nowMs))
      .filter((ms) => ms > 0);
    return left.length > 0 ? Math.min(...left) : undefined;
  }

  /** No answer has come for so long that the store may have been away, for others as well. */
  #isBroken(nowMs: number): boolean {
    return this.#lastMs === undefined || nowMs - this.#lastMs > 2 * this.#options.heartbeatMs;
  }

  #silenceMs({ silenceMs }: PodGlimpse): number {
    return silenceMs ?? this.#options.silentMs;
  }

  #leftMs(glimpse: PodGlimpse, nowMs: number): number {
    const { pod, status, silentMs } = glimpse;
    const isLive = status === 'up' || status === 'draining';
    const sighting = this.#sightings.get(pod);
    if (!isLive || !sighting || this.#lastMs === undefined) return Number.POSITIVE_INFINITY;
    const { heartbeatMs } = this.#options;
    const max = this.#silenceMs(glimpse);
    const storeLeftMs = max - (silentMs + nowMs - this.#lastMs);
    // Another's silence may be shorter than our own heartbeat, and one look proves nothing.
    const apartMs = Math.max(max - heartbeatMs, 2 * heartbeatMs);
    const ownLeftMs = sighting.sinceMs + apartMs - nowMs;
    return Math.max(storeLeftMs, ownLeftMs);
  }
}
