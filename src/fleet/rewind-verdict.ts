/** What a server that took over has of something that the one before had said to have. */
import type { WrittenRecord } from '../engine/index.ts';
import type { RunId } from '../ground/index.ts';
import type { Claim, Flush, PodId, Segment, Settlement, TaskRow } from '../store/index.ts';
import { BrokenHistoryError } from './errors.ts';
import type { HeldRun } from './held-run.ts';
import { rowsOf, segmentOf } from './history.ts';
import type { Acknowledged } from './memory.ts';

/** A run's records on this disk. */
export type Written = (run: RunId) => readonly WrittenRecord[];

export type Verdict = 'stands' | 'held' | 'open' | 'overtaken';

/** What the store has of something that it had said to have. */
export function verdictOf(row: TaskRow, settlement: Settlement, pod: PodId): Verdict {
  const { generation, epoch } = settlement;
  const isTerminal = 'outcome' in settlement;
  if (row.generation > generation) return 'stands';
  if (row.epoch === epoch && row.claimedBy === pod) return 'held';
  // Giving it back has raised the epoch; an end has not.
  if (!isTerminal) return isOpen(row, settlement) ? 'open' : 'stands';
  const isOwnEnd = row.epoch === epoch && row.lastHash === settlement.lastHash;
  if (isOwnEnd && row.outcome === settlement.outcome) return 'stands';
  return isOpen(row, settlement) ? 'open' : 'overtaken';
}

export function isOpen(row: TaskRow | undefined, { generation, epoch }: Claim): boolean {
  const isFree = row?.status === 'pending' || row?.status === 'waiting';
  return row !== undefined && isFree && row.generation === generation && row.epoch < epoch;
}

/**
 * As this pod may settle it. What an earlier life of its process was told is written again under the next
 * epoch, which nobody was ever given: one that ends a task keeps it, and any other leaves it open there.
 */
export function inherited({ settlement, pod }: Acknowledged, by: PodId): Settlement {
  if (pod === by) return settlement;
  const { tail } = settlement;
  const epoch = settlement.epoch + 1;
  return { ...settlement, epoch, tail: tail && { ...tail, epoch } };
}

/**
 * All that the store had said to have, where it has not all of it: what is there may have holes.
 * Undefined where that is not here either.
 */
export function lackOf(
  held: HeldRun,
  stored: readonly Segment[] | undefined,
  writtenOf: Written,
): readonly Flush[] | undefined {
  const { claim, flushedSeq, flushedHash } = held;
  if (flushedSeq < 0 || hasAll(claim.task, stored, flushedHash)) return [];
  return partsTo(flushedSeq, flushedHash, held, writtenOf);
}

/** What had been archived of a run before its last records came with its outcome. */
export function beforeOf(
  { tail, lastSeq, lastHash }: Settlement,
  held: HeldRun,
  writtenOf: Written,
): readonly Flush[] {
  const [seq, hash] = tail ? [tail.firstSeq - 1, tail.prevHash] : [lastSeq, lastHash];
  return (seq >= 0 && partsTo(seq, hash, held, writtenOf)) || [];
}

/**
 * What leads to this record. Whatever a run was settled with as it was found is on other disks, if on
 * any: it is what the store had, under the epochs of those who wrote it. This disk may have some of the
 * run from an earlier time, which is of no use then.
 */
function partsTo(
  lastSeq: number,
  lastHash: string,
  { claim, read }: HeldRun,
  writtenOf: Written,
): readonly Flush[] | undefined {
  if (read) return hasAll(claim.task, read, lastHash) ? read : undefined;
  const written = writtenOf(claim.task).filter(({ seq }) => seq <= lastSeq);
  const isAll = written.length === lastSeq + 1 && written.at(-1)!.hash === lastHash;
  return isAll ? [segmentOf(claim, '', written)!] : undefined;
}

/** Whether all is there that comes before the last records of this, or those too. */
export function hasBeginning(
  { task, tail, lastSeq, lastHash }: Settlement,
  stored: readonly Segment[] | undefined,
): boolean {
  if ((tail ? tail.firstSeq : lastSeq + 1) <= 0) return true;
  return hasAll(task, stored, lastHash) || (tail ? hasAll(task, stored, tail.prevHash) : false);
}

/** Whether a history is there that leads through this record, from its beginning on. */
export function hasAll(task: RunId, stored: readonly Segment[] = [], hash: string): boolean {
  try {
    return rowsOf(task, stored, hash).some((row) => row.hash === hash);
  } catch (error) {
    if (error instanceof BrokenHistoryError) return false;
    throw error;
  }
}
