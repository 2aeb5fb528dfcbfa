/**
 * A run's records on their way to the shared tables and back. A segment holds consecutive records of
 * one epoch; a reader takes an epoch's records only up to where the next epoch's chain begins, so
 * that whatever a former owner flushes late cannot fork the history. Where two have flushed late, the
 * chain tells from which of them the next one went on; and where an owner has settled without a record
 * of its own, since there was nothing left to do, the task's row names the record that it settled at.
 *
 *   epoch 1   0 1 2 3 4 ┊5 6        a late flush: cut off, where
 *   epoch 2             ┊5 6 7      the next owner went on from 4
 *
 *   epoch 1   0 1 2 3 4             settled at 4 by the owner of epoch 5, as it found it;
 *   epoch 3    ┊1 2                 a late flush that does not lead through 4 counts for nothing
 */
import type { WrittenRecord } from '../engine/index.ts';
import type { RunId } from '../ground/index.ts';
import type { EventRow } from '../journal/index.ts';
import type { Claim, ClaimedTask, Head, Segment } from '../store/index.ts';
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

/**
 * Which of these records is the first that the store has not; undefined where it has others in their
 * place. What a former owner has flushed late is no others: whoever wrote here went on from before that.
 */
export function firstToSend(
  written: readonly EventRow[],
  head: Head | undefined,
): number | undefined {
  if (!head) return 0;
  if (written[head.lastSeq]?.hash === head.lastHash) return head.lastSeq + 1;
  const later = written.findIndex(({ epoch }) => epoch > head.epoch);
  return later < 0 ? undefined : later;
}

/** What one owner has written of a run: records without a hole, behind one that was there before. */
interface Chain {
  readonly epoch: number;
  readonly firstSeq: number;
  readonly prevHash: string;
  readonly rows: readonly EventRow[];
}

/**
 * The rows of one run, in order and without forks; their hashes are still to be verified. Read from
 * the last owner back: each went on from one record, and whatever its predecessors wrote beside that,
 * early or late, counts for nothing. `settledAt` is the hash that the task's row has: a settlement is
 * fenced and a flush is not, so nobody counts as the last owner who did not go on from there. Of an
 * earlier generation the segment that keeps its outcome knows that hash.
 */
export function rowsOf(
  task: RunId,
  segments: readonly Segment[],
  settledAt: string | undefined,
): EventRow[] {
  const chains = chainsOf(task, segments).reverse();
  const through = segments.find(isOutcome)?.lastHash ?? settledAt;
  if (!through) return pathOf(task, chains);
  for (let from = 0; from < chains.length; from++) {
    const path = pathOf(task, chains.slice(from));
    if (path.some(({ hash }) => hash === through)) return path;
  }
  throw new BrokenHistoryError(task, 'the record it was settled at is not there');
}

/**
 * How its last owner left it, by its row and by its history. That one before was cut off is the first
 * thing that an owner records: whoever finds records of a later epoch has nothing to count, though
 * they may have come after the row was written. Who wrote those has left in order.
 */
export function interruptionOf(
  { interruption, cutEpoch, lastSeq }: ClaimedTask,
  rows: readonly EventRow[],
): ClaimedTask['interruption'] {
  const last = rows.at(-1);
  // Nobody has left it there in order, nor cut anybody off: who did is lost with a server of the store.
  if (interruption === undefined && last && last.seq > lastSeq) return 'cut';
  if (interruption !== 'cut' || cutEpoch === undefined || !last) return interruption;
  // It was settled after that: an older pod has taken it since, which leaves the number standing.
  if ((rows[lastSeq]?.epoch ?? 0) > cutEpoch) return interruption;
  return last.epoch > cutEpoch ? 'left' : 'cut';
}

/** From the first of these back to the beginning; the latest comes first. */
function pathOf(task: RunId, chains: readonly Chain[]): EventRow[] {
  const parts: (readonly EventRow[])[] = [];
  let next: Chain | undefined;
  let reached = 0;
  for (const chain of chains) {
    if (next?.firstSeq === 0) break;
    const count: number = next ? next.firstSeq - chain.firstSeq : chain.rows.length;
    if (next && chain.rows[count - 1]?.hash !== next.prevHash) {
      reached = Math.max(reached, chain.firstSeq + chain.rows.length);
      continue;
    }
    parts.push(chain.rows.slice(0, count));
    next = chain;
    reached = 0;
  }
  if (next && next.firstSeq > 0) {
    const { epoch, firstSeq } = next;
    throw new BrokenHistoryError(
      task,
      reached < firstSeq
        ? `epoch ${epoch} begins at ${firstSeq}, after a gap`
        : `epoch ${epoch} does not go on from record ${firstSeq - 1}`,
    );
  }
  return parts.reverse().flat();
}

/** By epoch. */
function chainsOf(task: RunId, segments: readonly Segment[]): Chain[] {
  const chains: (Chain & { rows: EventRow[] })[] = [];
  for (const segment of ordered(segments)) {
    const { epoch, firstSeq, prevHash } = segment;
    if (chains.at(-1)?.epoch !== epoch) chains.push({ epoch, firstSeq, prevHash, rows: [] });
    const chain = chains.at(-1)!;
    // A flush that was lost on its way leaves a hole: what comes after it is of no use.
    if (firstSeq > chain.firstSeq + chain.rows.length) continue;
    for (const row of parse(task, segment)) put(task, chain, row);
  }
  return chains;
}

function ordered(segments: readonly Segment[]): Segment[] {
  return segments
    .filter((segment) => !isOutcome(segment))
    .sort((a, b) => a.epoch - b.epoch || a.firstSeq - b.firstSeq);
}

export function isOutcome({ state }: Pick<Segment, 'state'>): boolean {
  return state === OUTCOME_STATE;
}

function put(
  task: RunId,
  { rows, firstSeq }: { rows: EventRow[]; firstSeq: number },
  row: EventRow,
): void {
  const known = rows[row.seq - firstSeq];
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
  return parsed.map((value: unknown, index) => rowOf(task, value, segment.firstSeq + index));
}

/** A record as a segment holds it. */
export function rowOf(task: RunId, value: unknown, seq: number): EventRow {
  const record = Object(value) as EventRow;
  if (record.seq !== seq) throw new BrokenHistoryError(task, `record ${seq} is missing`);
  const { at, epoch, event, state, data, hash } = record;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  // Whatever else is wrong with it, its hash will not fit.
  return { lsn: 0, run: task, seq, at, epoch, event, state, data: text, hash };
}
