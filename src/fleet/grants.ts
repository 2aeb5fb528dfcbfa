/**
 * Limits of APIs that the fleet has together, by heartbeats and nothing else: what this pod calls goes out
 * with them, what was divided comes back with their answers. Whoever leads finds out what the APIs take, and
 * says how it is divided, in one statement after its own heartbeat.
 */
import { type Clock, describeError, type Json, type Random } from '../ground/index.ts';
import type { PodId, ReportGlimpse, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import {
  Chief,
  HEARD_BEATS,
  LEASE_BEATS,
  SHARED_APIS_MAX,
  type Sight,
  type Throttles,
} from '../throttle/index.ts';
import { Allowance } from './allowance.ts';
import type { Heard, News } from './beat-loop.ts';

export interface GrantsPorts {
  readonly pod: PodId;
  readonly throttles: Throttles;
  readonly store: Pick<Store, 'publishThrottles' | 'throttles'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeatMs: number;
}

/** What a pod says of itself. */
interface OwnNews {
  readonly lsn: number;
  readonly report: Readonly<Record<string, Json>>;
}

/** Reports that may still be on their way. */
const MADE_COUNT_MAX = 16;

export class Grants {
  readonly #ports: GrantsPorts;
  readonly allowance: Allowance;
  readonly #chief: Chief;
  readonly #made = new Map<number, Json>();
  #isPublishing = false;
  /** When the last words were there, or had failed. */
  #publishedMs = Number.NEGATIVE_INFINITY;
  #heardMs: number | undefined;
  /** The last time in which nothing was heard: how long it was, and when it was over. */
  #deaf = { ms: 0, untilMs: Number.NEGATIVE_INFINITY };

  constructor(ports: GrantsPorts) {
    this.#ports = ports;
    this.allowance = new Allowance(ports.throttles);
    this.#chief = new Chief((api) => ports.throttles.policyOf(api));
  }

  /** The pod is registered: what an earlier life of this process was given is not its own. */
  begin(): void {
    const { pod, throttles, clock, heartbeatMs } = this.#ports;
    throttles.shares.begin(pod, heartbeatMs, clock.monotonicMs());
  }

  /** The same news, with what is to be told of all APIs. */
  withApis({ lsn, report }: OwnNews, leads: boolean): News {
    const madeMs = this.#ports.clock.monotonicMs();
    const throttles = this.#ports.throttles.shares.report(madeMs);
    this.#made.set(madeMs, throttles);
    const [oldest] = this.#made.keys();
    if (this.#made.size > MADE_COUNT_MAX) this.#made.delete(oldest!);
    return { lsn, report: { ...report, throttles }, madeMs, leads };
  }

  heard(heard: Heard, { isLeader }: { readonly isLeader: boolean }): void {
    const { answer, sentMs, heardMs, madeMs } = heard;
    if (answer.kind !== 'taken' || madeMs === undefined) return;
    const { heard: podCount, up } = answer.headcount;
    const areUnheard = up > podCount;
    const rows = answer.throttles;
    this.#noteHeard(sentMs);
    this.#ports.throttles.shares.heard({ madeMs, sentMs, heardMs, rows, podCount, areUnheard });
    if (isLeader && answer.reports) this.#lead(heard, this.#withOwn(heard, answer.reports));
    else if (!isLeader) this.#chief.forget();
  }

  /** A pod that has heard nothing knows nothing of who is gone: it may have been the store. */
  #noteHeard(sentMs: number): void {
    const silentMs = sentMs - (this.#heardMs ?? sentMs);
    if (silentMs > HEARD_BEATS * this.#ports.heartbeatMs) {
      this.#deaf = { ms: silentMs, untilMs: sentMs };
    }
    this.#heardMs = sentMs;
  }

  #deafMs(nowMs: number): number {
    const { ms, untilMs } = this.#deaf;
    return nowMs - untilMs < LEASE_BEATS * this.#ports.heartbeatMs ? ms : 0;
  }

  /** Its own row may show the report before: a statement does not see what it writes. */
  #withOwn({ madeMs }: Heard, reports: readonly ReportGlimpse[]): ReportGlimpse[] {
    const { pod, clock } = this.#ports;
    const others = reports.filter((report) => report.pod !== pod);
    const throttles = this.#made.get(madeMs!);
    const ageMs = clock.monotonicMs() - madeMs!;
    return [...others, { pod, ageMs, throttles }];
  }

  #lead({ answer, sentMs }: Heard, reports: readonly ReportGlimpse[]): void {
    if (answer.kind !== 'taken' || this.#isPublishing) return;
    const { throttles: rows } = answer;
    const isEarly = sentMs < this.#publishedMs;
    const areAll = rows.length < SHARED_APIS_MAX || !this.#chief.lacks({ rows, reports });
    if (areAll) return this.#publish({ rows, reports, isEarly });
    // There are more than heartbeats tell of; a word that does not go on from the last one is not written.
    this.#isPublishing = true;
    this.#ports.store
      .throttles()
      .finally(() => {
        this.#isPublishing = false;
      })
      .then((all) => this.#publish({ rows: all, reports, isEarly: false }))
      .catch((error) =>
        tell('store.failed', () => ({ what: 'throttles', error: describeError(error) })),
      );
  }

  #publish(seen: Pick<Sight, 'rows' | 'reports' | 'isEarly'>): void {
    const { clock, random, heartbeatMs, store } = this.#ports;
    const nowMs = clock.monotonicMs();
    const chance = () => random.fraction();
    const deafMs = this.#deafMs(nowMs);
    const words = this.#chief.look({ ...seen, nowMs, beatMs: heartbeatMs, chance, deafMs });
    if (words.length === 0) return;
    this.#isPublishing = true;
    store
      .publishThrottles(words)
      .catch((error) =>
        tell('store.failed', () => ({ what: 'publishThrottles', error: describeError(error) })),
      )
      .finally(() => {
        this.#isPublishing = false;
        this.#publishedMs = clock.monotonicMs();
        this.#chief.written(words, this.#publishedMs);
      });
  }
}
