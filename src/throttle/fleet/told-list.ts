/**
 * What a pod has told. Reports are made more often than they are sent, and an answer may be lost: so the
 * latencies that came since the last report that is known to have been taken are in every report, as is
 * what ended late, and whatever was told is kept for as long as whoever divides may go by it.
 */

import { joinedLate } from '../record/late.ts';
import type { LatencyCounts, Tally } from '../record/latencies.ts';
import type { Second } from '../record/seconds.ts';
import { type Counted, hashOf, tokenOf } from './counted.ts';

/** What a pod wants of permits, and of a declared rate. */
export interface Wanted {
  readonly demand: number;
  readonly parts: number;
}

/** What whoever divides goes by. */
export interface Told extends Wanted {
  /** How often it said to beat. */
  readonly beatMs: number;
}

/** What came since the last report. */
export interface News extends Tally {
  readonly late: readonly Second[];
}

interface Counting extends Told {
  /** Names it among all reports of its pod. */
  readonly mark: number;
}

interface Made extends Counting {
  readonly madeMs: number;
}

const TALLY_COUNT_MAX = 32;
/** Heartbeats in vain make some, too: the one that counted before an outage is to be found after it. */
const MADE_COUNT_MAX = 128;
const BUCKETS_MAX = 48;
/** So many round trips say how slow the store is just now. */
const ROUNDS = 4;

/** A store so slow that its answers come late is beaten as if it were done more seldom. */
const ROUNDS_A_BEAT = 1.5;
const BEATS_A_BEAT_MAX = 10;

export class ToldList {
  #made: Made[] = [];
  #tallies: { readonly madeMs: number; readonly tally: News }[] = [];
  #rounds: number[] = [];
  lastDemand = 0;
  /** The last report that is known to have been taken. */
  takenMark = 0;

  /** The longest of the last ways to the store and back. */
  get roundMs(): number {
    return Math.max(0, ...this.#rounds);
  }

  /** How often a pod that beats so is heard. */
  paceMs(beatMs: number): number {
    const paceMs = Math.max(beatMs, ROUNDS_A_BEAT * this.roundMs);
    return Math.round(Math.min(paceMs, BEATS_A_BEAT_MAX * beatMs));
  }

  /** Calls that were sent before this second may have been told of. */
  get toldUntil(): number {
    return Math.floor((this.#made.at(-1)?.madeMs ?? 0) / 1_000);
  }

  /** Answers its name, and all that was not told yet. */
  made(
    { demand, parts, beatMs }: Told,
    tally: News,
    madeMs: number,
  ): News & { readonly mark: number } {
    const mark = Math.max((this.#made.at(-1)?.mark ?? 0) + 1, Math.floor(madeMs));
    this.#made.push({ mark, madeMs, demand, parts, beatMs });
    if (this.#made.length > MADE_COUNT_MAX) this.#made.shift();
    this.#tallies.push({ madeMs, tally });
    if (this.#tallies.length > TALLY_COUNT_MAX) {
      const [oldest, next, ...rest] = this.#tallies;
      this.#tallies = [{ ...next!, tally: joined([oldest!.tally, next!.tally]) }, ...rest];
    }
    return { ...joined(this.#tallies.map((one) => one.tally)), mark };
  }

  /** The report that was made then was sent, and taken. */
  taken(madeMs: number, sentMs: number, heardMs: number): void {
    const found = this.#made.findLast((one) => one.madeMs <= madeMs);
    if (!found) return;
    // What was made before it was never sent, or has been replaced by this one.
    this.#tallies = this.#tallies.filter((one) => one.madeMs > madeMs);
    this.lastDemand = found.demand;
    this.takenMark = found.mark;
    this.#rounds = [...this.#rounds, heardMs - sentMs].slice(-ROUNDS);
  }

  /** What `key` was counted by, if it was; and the most often that it has said to beat since. */
  countedIn(counted: Counted, key: string): Counting | undefined {
    const hash = hashOf(key);
    let beatMs = Number.POSITIVE_INFINITY;
    for (const { mark, demand, parts, ...made } of this.#made.toReversed()) {
      beatMs = Math.min(beatMs, made.beatMs);
      if (counted.has(tokenOf(hash, mark))) return { demand, parts, beatMs, mark };
    }
    return undefined;
  }

  /** The least that it has wanted since that report. */
  leastSince(mark: number): Wanted {
    const made = this.#made.filter((one) => one.mark >= mark);
    const least = (key: keyof Wanted) => Math.min(...made.map((one) => one[key]));
    return { demand: least('demand'), parts: least('parts') };
  }
}

function joined(tallies: readonly News[]): News {
  const counts = new Map<number, number>();
  let [latencyMsSum, answers, others] = [0, 0, 0];
  for (const tally of tallies) {
    latencyMsSum += tally.latencyMsSum;
    answers += tally.answers;
    others += tally.others;
    for (const [bucket, count] of tally.latencies) {
      counts.set(bucket, (counts.get(bucket) ?? 0) + count);
    }
  }
  const late = joinedLate(tallies.map((tally) => tally.late));
  return { latencies: bounded(counts), latencyMsSum, answers, others, late };
}

/** Where there are too many for a heartbeat, neighbours stand for each other. */
function bounded(counts: ReadonlyMap<number, number>): LatencyCounts {
  let width = 1;
  let found = [...counts];
  while (found.length > BUCKETS_MAX) {
    width *= 2;
    const wider = new Map<number, number>();
    for (const [bucket, count] of counts) {
      const at = Math.floor(bucket / width) * width;
      wider.set(at, (wider.get(at) ?? 0) + count);
    }
    found = [...wider];
  }
  return found;
}
