/** Queues as people see and change them, and machines that stand still for a while. */
import type { RunId } from '../ground/index.ts';
import type { Note } from './acts.ts';
import type { PodId, TaskStatus } from './words.ts';

/** A queue that has open tasks, a limit, or is paused. */
export interface QueueRow {
  readonly queue: string;
  readonly pending: number;
  readonly waiting: number;
  /** Held by pods now, without local runs, which no limit counts. */
  readonly claimed: number;
  /** When the first of those that are pending is due, or was; undefined where none is. */
  readonly dueAt: number | undefined;
  /** At most so many are claimed at once; undefined where there is no limit. */
  readonly limit: number | undefined;
  readonly isPaused: boolean;
  readonly pausedBy: string | undefined;
  readonly pausedAt: number | undefined;
}

export interface PausedMachine {
  readonly machine: string;
  readonly pausedBy: string | undefined;
  readonly pausedAt: number;
}

/** What becomes of a queue or of a machine. */
export type FlowDeed =
  | { readonly what: 'queue.limit'; readonly queue: string; readonly limit: number | undefined }
  | { readonly what: 'queue.pause' | 'queue.resume'; readonly queue: string }
  | { readonly what: 'machine.pause' | 'machine.resume'; readonly machine: string };

export interface FlowChange {
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
  readonly deed: FlowDeed;
  /** For whoever reads the audit log. */
  readonly reason?: string | undefined;
  readonly isDryRun?: boolean | undefined;
}

/** The row that it leaves in the audit log. */
export function noteOfFlow({ requestId, who, via, deed, reason }: FlowChange): Note {
  const detail = { ...deed, via, ...(reason === undefined ? {} : { reason }) };
  return { requestId, who, what: deed.what, detail };
}

/** `already`: it was so before. `isRepeated`: this request was here before, and changed nothing now. */
export interface FlowAnswer {
  readonly kind: 'done' | 'already';
  readonly isRepeated: boolean;
}

/** Of the queue or machine as it is: whether the deed changes anything. */
export interface FlowState {
  readonly limit: number | undefined;
  readonly isPaused: boolean;
}

export function changesFlow(deed: FlowDeed, { limit, isPaused }: FlowState): boolean {
  if (deed.what === 'queue.limit') return deed.limit !== limit;
  return isPaused === deed.what.endsWith('.resume');
}

export const LIMIT_MAX = 1_000_000;

/** What may be in the way of one task besides itself. */
export interface Gate {
  /** Its queue, where that has a limit or is paused. */
  readonly queue: Omit<QueueRow, 'pending' | 'waiting' | 'dueAt'> | undefined;
  /** Who has what is claimed of it, the most first; told where the queue has a limit. */
  readonly claimedBy: readonly { readonly pod: PodId; readonly count: number }[];
  readonly pausedMachine: PausedMachine | undefined;
  /** Whose turn it is of its serial key, where that is another. */
  readonly holder: { readonly id: RunId; readonly status: TaskStatus } | undefined;
}

/** The task whose gate it is. */
export interface Gated {
  readonly id: RunId;
  readonly machine: string;
  readonly queue: string;
  readonly serialKey?: string | undefined;
}

/** More pods that hold tasks of one queue are not told. */
export const GATE_PODS_MAX = 10;
