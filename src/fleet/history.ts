/**
 * A run's records on their way to the shared tables and back. A segment holds consecutive records of
 * one epoch; a reader takes an epoch's records only up to where the next epoch's chain begins, so
 * that whatever a former owner flushes late cannot fork the history.
 *
 *   epoch 1   0 1 2 3 4 ┊5 6        a late flush: cut off, where
 *   epoch 2             ┊5 6 7      the next owner went on from 4
 */
import type { WrittenRecord } from '../engine/index.ts';
import type { RunId } from '../ground/index.ts';
import type { EventRow } from '../journal/index.ts';
import type { Claim, Segment } from '../store/index.ts';
import { BrokenHistoryError } from './errors.ts';

/** The state of the segment in which a redrive keeps the outcome of an earlier generation. */
const OUTCOME_STATE = 'outcome';

/** How an event begins that no codec has changed. */
const PLAIN = '{"type":"';

export function segmentOf(
  claim: Claim,
  prevHash: string,
  records: readonly WrittenRecord[],
): Segment | undefined {
  const [first, last] = [records[0], records.at(-1)];
  if (!first || !last) return undefined;
  return {
    task: claim.task,
    generation: claim.generation,
    epoch: claim.epoch,
    firstSeq: first.seq,
    lastSeq: last.seq,
    prevHash,
    lastHash: last.hash,
    state: last.state,
    events: `[${records.map(textOf).join(',')}]`,
  };
}

/** By hand: names, states and hashes hold nothing that needs escaping, and there are many of them. */
function textOf({ seq, at, epoch, event, state, data, hash }: WrittenRecord): string {
  // As the engine wrote it, or as a codec's text, which has to come back to the letter.
  const value = data.startsWith(PLAIN) ? data : JSON.stringify(data);
  return (
    `{"seq":${seq},"at":${at},"epoch":${epoch},"event":"${event}","state":"${state}",` +
    `"hash":"${hash}","data":${value}}`
  );
}

/** The rows of one run, in order and without forks; their hashes are still to be verified. */
export function rowsOf(task: RunId, segments: readonly Segment[]): EventRow[] {
  const rows: EventRow[] = [];
  let epoch = -1;
  for (const segment of ordered(segments)) {
    if (segment.epoch !== epoch) {
      cutAt(task, rows, segment);
      epoch = segment.epoch;
    }
    // A flush that was lost on its way leaves a hole: what comes after it is of no use.
    if (segment.firstSeq > rows.length) continue;
    for (const row of parse(task, segment)) put(task, rows, row);
  }
  return rows;
}

function ordered(segments: readonly Segment[]): Segment[] {
  return segments
    .filter(({ state }) => state !== OUTCOME_STATE)
    .sort((a, b) => a.epoch - b.epoch || a.firstSeq - b.firstSeq);
}

/** A new owner went on from here: what its predecessor wrote beyond counts for nothing. */
function cutAt(task: RunId, rows: EventRow[], { firstSeq, prevHash, epoch }: Segment): void {
  rows.length = Math.min(rows.length, firstSeq);
  if (rows.length < firstSeq) {
    throw new BrokenHistoryError(task, `epoch ${epoch} begins at ${firstSeq}, after a gap`);
  }
  if ((rows.at(-1)?.hash ?? '') !== prevHash) {
    throw new BrokenHistoryError(task, `epoch ${epoch} does not go on from record ${firstSeq - 1}`);
  }
}

function put(task: RunId, rows: EventRow[], row: EventRow): void {
  const known = rows[row.seq];
  if (known === undefined) rows.push(row);
  else if (known.hash !== row.hash) {
    throw new BrokenHistoryError(task, `there are two records ${row.seq}`);
  }
}

function parse(task: RunId, segment: Segment): EventRow[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(segment.events);
  } catch (cause) {
    throw new BrokenHistoryError(task, `segment ${segment.firstSeq} is not JSON`, { cause });
  }
  if (!Array.isArray(parsed) || parsed.length !== segment.lastSeq - segment.firstSeq + 1) {
    throw new BrokenHistoryError(task, `segment ${segment.firstSeq} does not hold its records`);
  }
  return parsed.map((value: unknown, index) => {
    const { data, ...rest } = Object(value) as Record<string, unknown>;
    if (rest.seq !== segment.firstSeq + index) {
      throw new BrokenHistoryError(task, `record ${segment.firstSeq + index} is missing`);
    }
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    // Whatever else is wrong with it, its hash will not fit.
    return { ...rest, lsn: 0, run: task, data: text } as unknown as EventRow;
  });
}
