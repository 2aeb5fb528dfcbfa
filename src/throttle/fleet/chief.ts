/**
 * What whoever leads does for all APIs, each time it has read what pods tell: it estimates, divides, and says
 * what is to be published. A row that is not as it left it was written by another leader, or by a person:
 * then it goes on from that.
 */

import {
  areSame,
  type Ceilings,
  ceilingsOf,
  leastOf,
  less,
  pinnedUnder,
  under,
} from '../ceilings.ts';
import type { ThrottlePolicy } from '../policy.ts';
import { FleetEstimate } from './fleet-estimate.ts';
import { sharedApis } from './shared-apis.ts';
import {
  decodeReport,
  encodePublished,
  type FleetSum,
  formerOf,
  type PublishedRow,
  toldUntil,
} from './wire.ts';
import type { PodReport, Published } from './words.ts';

/** What stands in the row of a pod. */
export interface ReportRow {
  readonly pod: string;
  readonly ageMs: number;
  /** By API. */
  readonly throttles: unknown;
}

export interface Sight {
  readonly rows: readonly PublishedRow[];
  readonly reports: readonly ReportRow[];
  readonly nowMs: number;
  readonly beatMs: number;
  readonly chance: () => number;
  /** For so long nobody was heard here until a moment ago. */
  readonly deafMs?: number | undefined;
  /** It was asked for before the last words were written: they may not be among the rows. */
  readonly isEarly?: boolean | undefined;
}

/** To be written where the row has `epoch`, and then has the next one. */
export interface Word {
  readonly api: string;
  readonly epoch: number;
  readonly state: string;
}

/** APIs that a fleet shares; more are left to each pod's own care. */
export const SHARED_APIS_MAX = 100;
/** Where nothing changes it is said again so often, so that people see that somebody is there. */
const SAY_AGAIN_MS = 30_000;
const SETTLE_BEATS = 4;
const SUM_SECONDS = 10;

interface Held {
  readonly estimate: FleetEstimate;
  readonly ceilings: Ceilings;
  epoch: number;
  /** What stands in the row, if it is its own. */
  state: string | undefined;
  said: Said | undefined;
  saidMs: number;
  changedMs: number;
}

/** What pods go by. */
interface Said {
  readonly gist: string;
  /** Of each pod, in their order. */
  readonly demands: readonly (string | number)[];
}

export class Chief {
  readonly #policy: (api: string) => ThrottlePolicy;
  readonly #held = new Map<string, Held>();
  #shared: ReadonlySet<string> = new Set();
  /** By how much a pod's seconds are behind ours: as it was at first, since it jitters. */
  readonly #behind = new Map<string, number>();

  constructor(policy: (api: string) => ThrottlePolicy) {
    this.#policy = policy;
  }

  /** Somebody else leads. */
  forget(): void {
    this.#held.clear();
    this.#behind.clear();
  }

  /** Whether there is something to be said of an API without what was said of it last. */
  lacks({ rows, reports }: Pick<Sight, 'rows' | 'reports'>): boolean {
    const seen = new Set(rows.map(({ api }) => api));
    return sharedApis(reports, SHARED_APIS_MAX, this.#shared).some((api) => !seen.has(api));
  }

  look(seen: Sight): Word[] {
    // On the ring they are asked for in this order, for every API.
    const reports = seen.reports.toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
    const sight = { ...seen, reports };
    const rows = new Map(sight.rows.map((row) => [row.api, row]));
    const words: Word[] = [];
    const pods = new Set(sight.reports.map(({ pod }) => pod));
    for (const pod of this.#behind.keys()) if (!pods.has(pod)) this.#behind.delete(pod);
    this.#shared = new Set(sharedApis(sight.reports, SHARED_APIS_MAX, this.#shared));
    for (const api of this.#shared) {
      const word = this.#lookAt(api, rows.get(api), sight);
      if (word) words.push(word);
    }
    return words;
  }

  /** What was said of these is there by now, or never will be. */
  written(words: readonly Word[], nowMs: number): void {
    for (const { api } of words) this.#held.get(api)?.estimate.written(nowMs);
  }

  #lookAt(api: string, row: PublishedRow | undefined, sight: Sight): Word | undefined {
    const { nowMs, beatMs, chance, deafMs } = sight;
    if (sight.isEarly && (row?.epoch ?? 0) < (this.#held.get(api)?.epoch ?? 0)) return undefined;
    const reports = this.#reportsOf(api, sight);
    const ceilings = leastOf(ceilingsOf(this.#policy(api)), reports.values());
    const held = this.#heldOf(api, row, ceilings, nowMs);
    const pinned = pinnedUnder(row?.pinned, ceilings.ceiling);
    const published = held.estimate.tick(reports, {
      nowMs,
      beatMs,
      chance: chance(),
      pinned,
      deafMs,
    });
    const toldPerSecond = toldOf(reports);
    const gist = gistOf({ ...published, toldPerSecond });
    const said = { gist, demands: demandsOf(reports) };
    if (!isSame(said, held.said) || isAsked(reports)) held.changedMs = nowMs;
    // What comes of a change is said, too, for a while: people look at it then.
    const isSettled = nowMs - held.changedMs > SETTLE_BEATS * beatMs;
    if (isSettled && nowMs - held.saidMs < SAY_AGAIN_MS) {
      held.estimate.unsaid();
      return undefined;
    }
    const sum = sumOf(reports, nowMs);
    const { epoch } = held;
    const state = encodePublished({ ...published, ...ceilings, toldPerSecond }, sum);
    held.epoch++;
    held.state = state;
    held.said = said;
    held.saidMs = nowMs;
    return { api, epoch, state };
  }

  #heldOf(api: string, row: PublishedRow | undefined, ceilings: Ceilings, nowMs: number): Held {
    const epoch = row?.epoch ?? 0;
    const held = this.#held.get(api);
    // Of two words for one epoch one was written: it need not be ours, however alike they are.
    const isOurs = held?.epoch === epoch && held.state === row?.state;
    // What other ceilings change it goes on from as another leader would.
    if (isOurs && areSame(held.ceilings, ceilings)) return held;
    const policy = under(this.#policy(api), ceilings);
    const former = row && formerOf(row, nowMs, policy.start);
    const estimate = new FleetEstimate(policy, former);
    const { state } = row ?? {};
    const begun = {
      estimate,
      ceilings,
      epoch,
      state,
      said: undefined,
      saidMs: nowMs,
      changedMs: nowMs,
    };
    this.#held.set(api, begun);
    return begun;
  }

  #reportsOf(api: string, { reports, nowMs }: Sight): Map<string, PodReport> {
    const found = new Map<string, PodReport>();
    for (const { pod, ageMs, throttles } of reports) {
      const json = (throttles as Record<string, unknown> | undefined)?.[api];
      if (json === undefined) continue;
      const until = toldUntil(json);
      if (until === undefined) continue;
      const atMs = nowMs - ageMs;
      const behind = this.#behindOf(pod, Math.floor(atMs / 1_000) - until);
      const report = decodeReport(json, atMs, until + behind);
      if (report) found.set(pod, report);
    }
    return found;
  }

  #behindOf(pod: string, seconds: number): number {
    const known = this.#behind.get(pod);
    if (known !== undefined && Math.abs(known - seconds) <= 1) return known;
    this.#behind.set(pod, seconds);
    return seconds;
  }
}

type Reports = ReadonlyMap<string, PodReport>;

/** A rate that is told anew with every answer is news where it has changed by a tenth or so. */
function gistOf({ division, breaker, learned, pausedMs, toldPerSecond }: Published): string {
  const told = toldPerSecond?.toPrecision(1);
  return JSON.stringify([division, breaker, learned.cap, learned.good, pausedMs > 0, told]);
}

/** All were told of the same room: the least of it is the newest. */
export function toldOf(reports: Reports): number | undefined {
  let least: number | undefined;
  for (const { perSecondHint } of reports.values()) least = less(least, perSecondHint);
  return least;
}

function demandsOf(reports: Reports): (string | number)[] {
  const found: (string | number)[] = [];
  for (const [pod, { demand }] of reports) found.push(pod, demand);
  return found;
}

/** The same again: nobody gets anything else by it. */
function isSame({ gist, demands }: Said, former: Said | undefined): boolean {
  if (gist !== former?.gist || demands.length !== former.demands.length) return false;
  return demands.every((one, at) => one === former.demands[at]);
}

function isAsked(reports: Reports): boolean {
  for (const { wantsWord } of reports.values()) if (wantsWord) return true;
  return false;
}

function sumOf(reports: Reports, nowMs: number): FleetSum {
  const from = Math.floor(nowMs / 1_000) - SUM_SECONDS;
  const sum = { demand: 0, inFlight: 0, waiting: 0, sent: 0, ok: 0, throttled: 0, failed: 0 };
  for (const report of reports.values()) {
    sum.demand += report.demand;
    sum.inFlight += report.inFlight;
    sum.waiting += report.waiting;
    for (const { at, sent, ok, throttled, failed, timedOut } of report.seconds) {
      if (at < from) continue;
      sum.sent += sent;
      sum.ok += ok;
      sum.throttled += throttled;
      sum.failed += failed + timedOut;
    }
  }
  return sum;
}
