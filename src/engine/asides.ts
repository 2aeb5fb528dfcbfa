/**
 * Runs that stand still here, each with its reason: the latest of each kind. A version that is taken
 * away may block a million sleeping runs; the reasons of earlier ones are found again in the journal.
 */
import type { RunId } from '../ground/index.ts';

export interface SetAside {
  readonly status: 'blocked' | 'quarantined';
  readonly reason: string;
}

export const ASIDE_COUNT_MAX = 10_000;

export class Asides {
  readonly #blocked = new Map<RunId, SetAside>();
  readonly #quarantined = new Map<RunId, SetAside>();
  /** Some were let go of: a run that is not here may stand still all the same. */
  hasForgotten = false;

  get(id: RunId): SetAside | undefined {
    return this.#quarantined.get(id) ?? this.#blocked.get(id);
  }

  has(id: RunId): boolean {
    return this.get(id) !== undefined;
  }

  set(id: RunId, aside: SetAside): void {
    this.delete(id);
    const kept = aside.status === 'blocked' ? this.#blocked : this.#quarantined;
    kept.set(id, aside);
    if (kept.size <= ASIDE_COUNT_MAX) return;
    const [oldest] = kept.keys();
    kept.delete(oldest!);
    this.hasForgotten = true;
  }

  delete(id: RunId): void {
    this.#blocked.delete(id);
    this.#quarantined.delete(id);
  }

  /** Of those that are kept. */
  get blockedCount(): number {
    return this.#blocked.size;
  }
}
