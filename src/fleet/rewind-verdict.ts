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

/** All that the store had said to have, where it has not all of it: what is there may have holes. */
export function missingOf(
  { claim, flushedSeq }: HeldRun,
  stored: readonly Segment[] | undefined,
  writtenOf: Written,
): Flush | undefined {
  if (flushedSeq < 0) return undefined;
  const written = writtenOf(claim.task).filter(({ seq }) => seq <= flushedSeq);
  if (written.length !== flushedSeq + 1) return undefined;
  if (hasAll(claim.task, stored, written.at(-1)!.hash)) return undefined;
  return segmentOf(claim, '', written);
}

/** What had been archived of a run before its last records came with its outcome. */
export function beforeOf(
  { tail, lastSeq, task, generation, epoch }: Settlement,
  writtenOf: Written,
): Flush | undefined {
  const count = tail ? tail.firstSeq : lastSeq + 1;
  if (count <= 0) return undefined;
  const written = writtenOf(task).filter(({ seq }) => seq < count);
  return written.length === count ? segmentOf({ task, generation, epoch }, '', written) : undefined;
}

/** Whether all is there that comes before the last records of this, or those too. */
export function hasBeginning(
  { task, tail, lastSeq, lastHash }: Settlement,
  stored: readonly Segment[] | undefined,
): boolean {
  if ((tail ? tail.firstSeq : lastSeq + 1) <= 0) return true;
  return hasAll(task, stored, lastHash) || (tail ? hasAll(task, stored, tail.prevHash) : false);
}

/** Whether its history leads through this record, from its beginning on. */
export function hasAll(task: RunId, stored: readonly Segment[] = [], hash: string): boolean {
  try {
    return rowsOf(task, stored, undefined).some((row) => row.hash === hash);
  } catch (error) {
    if (error instanceof BrokenHistoryError) return false;
    throw error;
  }
}
