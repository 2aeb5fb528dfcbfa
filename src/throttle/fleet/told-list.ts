/**
 * What a pod has told of its demand, and when that can have been read. Reports are made more often than
 * they are sent, and an answer may be lost: so the latencies that came since the last report that is known
 * to have been taken are in every report, and of demands all are kept that somebody may go by.
 */
import type { LatencyCounts, Tally } from '../latencies.ts';

/** What whoever divides goes by. */
export interface Told {
  readonly demand: number;
  /** How often it said to beat. */
  readonly beatMs: number;
}

interface Made extends Told {
  readonly madeMs: number;
  readonly tally: Tally;
}

interface Taken extends Told {
  readonly madeMs: number;
  readonly sentMs: number;
  readonly heardMs: number;
}

const MADE_COUNT_MAX = 32;
const TAKEN_COUNT_MAX = 16;
const BUCKETS_MAX = 48;
/** So many round trips say how slow the store is just now. */
const ROUNDS = 4;

export class ToldList {
  #made: Made[] = [];
  #taken: Taken[] = [];

  get lastDemand(): number {
    return this.#taken.at(-1)?.demand ?? 0;
  }

  /** The longest of the last ways to the store and back. */
  get roundMs(): number {
    return Math.max(
      0,
      ...this.#taken.slice(-ROUNDS).map(({ sentMs, heardMs }) => heardMs - sentMs),
    );
  }

  /** Answers all that was not told yet. */
  made({ demand, beatMs }: Told, tally: Tally, madeMs: number): Tally {
    this.#made.push({ madeMs, demand, beatMs, tally });
    if (this.#made.length > MADE_COUNT_MAX) {
      const [oldest, next, ...rest] = this.#made;
      this.#made = [{ ...next!, tally: joined([oldest!.tally, next!.tally]) }, ...rest];
    }
    return joined(this.#made.map((one) => one.tally));
  }

  taken(madeMs: number, sentMs: number, heardMs: number): void {
    const found = this.#made.findLast((one) => one.madeMs <= madeMs);
    if (!found) return;
    // What was made before it was never sent, or has been replaced by this one.
    this.#made = this.#made.filter((one) => one.madeMs > madeMs);
    const { demand, beatMs } = found;
    this.#taken.push({ madeMs, demand, beatMs, sentMs, heardMs });
    if (this.#taken.length > TAKEN_COUNT_MAX) this.#taken.shift();
  }

  /**
   * What may have stood in the row at some time in between; nothing where there was no row, or where it was
   * so old by then, told so many heartbeats before, that it may not have counted.
   */
  readBetween(fromMs: number, untilMs: number, leaseBeats: number): Told[] {
    const surest = this.#taken.findLastIndex(({ heardMs }) => heardMs < fromMs);
    if (surest < 0) return [];
    const taken = this.#taken
      .slice(surest)
      .filter(({ sentMs }, at) => at === 0 || sentMs <= untilMs);
    const lost = this.#made.filter(({ madeMs }) => madeMs <= untilMs);
    const told = [...taken, ...lost];
    const leaseMs = leaseBeats * Math.min(...told.map(({ beatMs }) => beatMs));
    return this.#taken[surest]!.sentMs > untilMs - leaseMs ? told : [];
  }
}

function joined(tallies: readonly Tally[]): Tally {
  const counts = new Map<number, number>();
  let [latencyMsSum, answers] = [0, 0];
  for (const tally of tallies) {
    latencyMsSum += tally.latencyMsSum;
    answers += tally.answers;
    for (const [bucket, count] of tally.latencies) {
      counts.set(bucket, (counts.get(bucket) ?? 0) + count);
    }
  }
  return { latencies: bounded(counts), latencyMsSum, answers };
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
