/**
 * A history piece by piece, for whoever looks at part of it: how its segments lie, without what is in
 * them, and the records of one of them from a number on. So a long history is never in memory whole.
 */
import type { RunId } from '../ground/index.ts';
import type { Segment } from './tasks.ts';
import type { Claim } from './words.ts';

export type Outline = Omit<Segment, 'events'>;

export interface PartQuery extends Claim {
  /** Names the segment, with the claim. */
  readonly firstSeq: number;
  readonly fromSeq: number;
  /** No more than this, but one record in any case. */
  readonly bytesMax: number;
}

export interface HistoryParts {
  /** Every segment of these runs, by (task, epoch, firstSeq), without its events. */
  outlines(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Outline[]>;
  /** Texts of records, in their order; none where the segment is not there, or holds none of them. */
  recordsIn(part: PartQuery): Promise<string[]>;
}

export function outlineOf({ events: _, ...outline }: Segment): Outline {
  return outline;
}

/** Of texts in their order, as many as there is room for. */
export function* within(texts: Iterable<string>, bytesMax: number): Iterable<string> {
  let bytes = 0;
  for (const text of texts) {
    bytes += text.length;
    if (bytes > bytesMax && bytes > text.length) return;
    yield text;
  }
}

/** What a store can do that does not look into texts. Where it is no array it holds no record. */
export function recordsInText(
  events: string,
  { firstSeq, fromSeq, bytesMax }: PartQuery,
): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(events);
  } catch {
    return [];
  }
  if (!Array.isArray(parsed)) return [];
  const texts = function* () {
    for (const record of parsed.slice(Math.max(0, fromSeq - firstSeq))) {
      yield JSON.stringify(record);
    }
  };
  return [...within(texts(), bytesMax)];
}
