/**
 * What has changed in the list of runs, newest glance per run, for so long as there is room. Who has
 * been told up to one change is told those after it, each run once; who is further behind than the log
 * reaches has to look at the list itself.
 */
import type { RunId } from '../../ground/index.ts';
import type { TaskGlance } from '../../store/index.ts';

/** A run as this process has it in hand: told with every record. */
export interface LiveGlance {
  readonly machine: string;
  readonly version: number;
  readonly generation: number | undefined;
  readonly status: 'active' | 'waiting' | 'blocked' | 'quarantined' | 'ended';
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly seq?: number | undefined;
  readonly attempt?: number | undefined;
  readonly dueAt?: number | undefined;
  readonly progress?: number | undefined;
  readonly at: number;
}

/** `run`: in the journal of this process. `task`: its row in the store. Either, or both. */
export interface Change {
  readonly id: RunId;
  readonly run?: LiveGlance | undefined;
  readonly task?: TaskGlance | undefined;
}

export interface Numbered {
  readonly number: number;
  readonly change: Change;
}

const CHANGES_MAX = 2_000;

export class ChangeLog {
  /** In the order of their last change. */
  readonly #changes = new Map<RunId, Numbered>();
  /** The number of the last change. */
  #last = 0;
  /** Who was told no further than this has missed something. */
  #floor = 0;

  get last(): number {
    return this.#last;
  }

  get(id: RunId): Change | undefined {
    return this.#changes.get(id)?.change;
  }

  note(change: Change): void {
    const before = this.#changes.get(change.id)?.change;
    this.#changes.delete(change.id);
    this.#changes.set(change.id, { number: ++this.#last, change: { ...before, ...change } });
    if (this.#changes.size <= CHANGES_MAX) return;
    const [oldest, { number }] = this.#changes.entries().next().value!;
    this.#changes.delete(oldest);
    this.#floor = number;
  }

  /** Something happened that nobody could follow. */
  loseTrack(): void {
    this.#changes.clear();
    this.#floor = ++this.#last;
  }

  /** What came after this change, oldest first; undefined where that is not known any more. */
  since(number: number): readonly Numbered[] | undefined {
    if (number < this.#floor || number > this.#last) return undefined;
    if (number === this.#last) return [];
    return [...this.#changes.values()].filter((entry) => entry.number > number);
  }
}
