/**
 * A transaction of the store in which a step persists: what its author writes, and what becomes of the
 * task by that, commit together. It is fenced by the claim in its last statement, so that an author who
 * takes time holds nobody up, and one whose claim is gone changes nothing.
 */
import { show } from '../ground/index.ts';
import { TransactionError } from './errors.ts';
import type { Flush, Settlement } from './tasks.ts';
import type { Claim, PodId } from './words.ts';

/** The run goes on, with this much on record. */
export interface Kept extends Claim {
  readonly to: 'claimed';
  readonly tail: Flush;
  readonly lastSeq: number;
  readonly lastHash: string;
}

/** What becomes of a task with a step that persists: it ends, or goes on. */
export type Persisted = Settlement | Kept;

/**
 * `stood`: all of it is final. `lost`: the claim does not stand, and nothing was written. `doubt`: it was
 * to be committed, and no answer came; `settled` says in the end which of the two it is.
 */
export type CommitAnswer = 'stood' | 'lost' | 'doubt';

/** `open`: it has not been committed, never will be, and the claim stands: it may be done again. */
export type DoubtAnswer = 'stood' | 'lost' | 'open';

export interface StoreTransaction {
  /** The connection it is on, for those who know what that is. */
  readonly native: unknown;
  /** A statement of the author's; rejects with what the driver has thrown. */
  query(text: string, values?: readonly unknown[]): Promise<unknown[]>;
  /**
   * Fences, settles and commits, on the server it is meant for. Rejects where nothing of it has happened,
   * nor will.
   */
  commit(pod: PodId, persisted: Persisted, timeline?: string): Promise<CommitAnswer>;
  /** Takes everything back, however often it is called; nothing where it is over. */
  rollback(): Promise<void>;
}

/** What may stand before the first word of a statement. */
const SPACE = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*[\s\S]*?\*/)*`;
const WORDS = [
  ...['begin', 'start', 'commit', 'end', 'abort', String.raw`prepare\s+transaction`],
  ...['reset', 'discard', 'pragma', 'attach', 'detach', 'vacuum'],
  String.raw`rollback(?!\s+(?:work\s+|transaction\s+)?to\b)`,
  String.raw`set(?!\s+(?:local|constraints)\b)`,
];
const CONTROL = new RegExp(`^${SPACE}(${WORDS.join('|')})\\b`, 'i');

/** Whoever ended the transaction by hand would have written without the task's record. */
export function refuseControl(text: string): void {
  const word = CONTROL.exec(text)?.[1];
  if (word === undefined) return;
  throw new TransactionError(`persist must not send ${show(word)} in its transaction`, {
    hint: 'it is begun, and committed with the record of the run, by FleetQ; throw to take it back',
  });
}

export function transactionOver(): TransactionError {
  return new TransactionError('the transaction of this persist is over', {
    hint: 'await every query of tx before persist returns',
  });
}

/** What takes a handle for what it is made of: see `enqueue` with the `tx` of a persist. */
const natives = new WeakMap<object, () => Promise<unknown>>();

export function knowNative(handle: object, native: () => Promise<unknown>): void {
  natives.set(handle, native);
}

/** The connection behind a handle that a persist was given; undefined for anything else. */
export function nativeOf(handle: object): Promise<unknown> | undefined {
  return natives.get(handle)?.();
}
