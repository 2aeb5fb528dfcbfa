/** What a held run needs of the life it belongs to. */
import type { Settlement } from '../store/index.ts';
import type { HeldRun } from './held-run.ts';
import type { Persisting } from './persisting.ts';

export interface Keeper {
  /** It was taken for dead, or has ended: another life of this pod may hold its runs. */
  readonly isDead: boolean;
  /** Whether phases may begin; `aloneMs`: of runs that may go on for so long without the store. */
  isCurrent(aloneMs?: number): boolean;
  whenCurrent(held: HeldRun): Promise<boolean>;
  /** Records have been added that the store does not have. */
  grew(held: HeldRun): void;
  /** Resolves when the store has what is there now. */
  flush(held: HeldRun): Promise<void>;
  settle(held: HeldRun, settlement: Settlement): void;
  /** For steps that persist in the store. */
  readonly persisting: Persisting;
  /** No version that is here goes on with it, or no key opens it. */
  blocked(held: HeldRun, reason: string, waitsFor?: 'key'): void;
}
