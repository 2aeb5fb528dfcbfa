/**
 * How long calls take: counts in buckets that grow by a twentieth each, over the last calls. Two halves
 * take turns, so that what is old is forgotten without being remembered one by one. Only answers count:
 * a refusal comes fast, and would make the API look faster the less it does.
 */
const GROWTH = Math.log(1.05);
const BUCKET_COUNT = 288;

/** `[bucket, count]` of what came since the last time: small enough to be sent with a heartbeat. */
export type LatencyCounts = readonly (readonly [number, number])[];

export class Latencies {
  /** It looks at the last so many calls, to twice as many. */
  countMin: number;
  #current = new Uint32Array(BUCKET_COUNT);
  #former = new Uint32Array(BUCKET_COUNT);
  #currentCount = 0;
  #formerCount = 0;

  constructor(countMin: number) {
    this.countMin = countMin;
  }

  record(ms: number): void {
    this.recordBucket(bucketOf(ms));
  }

  recordBucket(bucket: number): void {
    this.#current[bucket]!++;
    this.#currentCount++;
    if (this.#currentCount >= this.countMin) this.#turn();
  }

  /** All of them before the halves take turns: half a batch would be its commonest, or its rarest. */
  recordCounts(counts: LatencyCounts): void {
    for (const [bucket, count] of counts) {
      this.#current[bucket]! += count;
      this.#currentCount += count;
    }
    if (this.#currentCount >= this.countMin) this.#turn();
  }

  #turn(): void {
    const emptied = this.#former.fill(0);
    this.#former = this.#current;
    this.#formerCount = this.#currentCount;
    this.#current = emptied;
    this.#currentCount = 0;
  }

  get count(): number {
    return this.#currentCount + this.#formerCount;
  }

  /** The latency that `share` of the calls stayed below; undefined where there were none. */
  quantile(share: number): number | undefined {
    let left = share * this.count;
    if (this.count === 0) return undefined;
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
      const here = this.#current[bucket]! + this.#former[bucket]!;
      if (here > 0 && left <= here) return msOf(bucket + left / here - 1);
      left -= here;
    }
    return msOf(BUCKET_COUNT - 1);
  }

  /** By the mean of logarithms: tails hardly move it, and it does not jump where calls are of two kinds. */
  get typicalMs(): number | undefined {
    if (this.count === 0) return undefined;
    let sum = 0;
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
      sum += (this.#current[bucket]! + this.#former[bucket]!) * (bucket - 0.5);
    }
    return msOf(sum / this.count);
  }

  forget(): void {
    this.#current.fill(0);
    this.#former.fill(0);
    this.#currentCount = 0;
    this.#formerCount = 0;
  }
}

export interface Tally {
  readonly latencies: LatencyCounts;
  readonly latencyMsSum: number;
  readonly answers: number;
  /** Calls that ended otherwise, and not because the API is ill. */
  readonly others: number;
}

/** What has been recorded since it was last taken. */
export class LatencyTally {
  readonly #counts = new Map<number, number>();
  #msSum = 0;
  #count = 0;
  #others = 0;

  other(): void {
    this.#others++;
  }

  record(ms: number, bucket: number = bucketOf(ms)): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#msSum += ms;
    this.#count++;
  }

  take(): Tally {
    const [latencyMsSum, answers, others] = [this.#msSum, this.#count, this.#others];
    const taken = { latencies: [...this.#counts], latencyMsSum, answers, others };
    this.#counts.clear();
    this.#msSum = 0;
    this.#count = 0;
    this.#others = 0;
    return taken;
  }
}

export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(BUCKET_COUNT - 1, Math.ceil(Math.log(ms) / GROWTH));
}

function msOf(bucket: number): number {
  return Math.exp(bucket * GROWTH);
}
