/** A span of time in parts of equal length, and what was counted in each. */
import { StoreOptionsError } from '../errors.ts';
import type { Bucket, HistogramQuery } from '../reader.ts';
import type { Parts } from './source.ts';

export const BUCKETS_MAX = 1_000;

type Counts = Bucket['byStatus'];
/** By the number of the part. */
export type Histo = Map<number, Counts>;

/** Parts are whole milliseconds long, so that every store puts a row into the same one. */
export function partsOf({ fromMs, untilMs, buckets }: HistogramQuery): Parts {
  const isSpan = Number.isFinite(fromMs) && Number.isFinite(untilMs) && fromMs < untilMs;
  if (!isSpan || !Number.isSafeInteger(buckets) || buckets < 1 || buckets > BUCKETS_MAX) {
    throw new StoreOptionsError(
      `a histogram wants a time, a later one, and 1 to ${BUCKETS_MAX} buckets; ` +
        `got ${fromMs}, ${untilMs} and ${buckets}`,
    );
  }
  const from = Math.ceil(fromMs);
  return { fromMs: from, widthMs: Math.max(1, Math.ceil((Math.ceil(untilMs) - from) / buckets)) };
}

export function spread(query: HistogramQuery, { fromMs, widthMs }: Parts, counts: Histo): Bucket[] {
  const buckets: Bucket[] = [];
  const untilMs = Math.ceil(query.untilMs);
  for (let part = 0; fromMs + part * widthMs < untilMs; part += 1) {
    const begin = fromMs + part * widthMs;
    const byStatus = counts.get(part) ?? {};
    buckets.push({ fromMs: begin, untilMs: Math.min(begin + widthMs, untilMs), byStatus });
  }
  return buckets;
}
