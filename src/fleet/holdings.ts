/** What a pod holds right now, by task: the local side of the store's claims. */
import type { RunId } from '../ground/index.ts';
import type { Claim } from '../store/index.ts';
import type { HeldRun } from './held-run.ts';

export class Holdings {
  readonly #held = new Map<RunId, HeldRun>();
  readonly #mirrored = new Set<RunId>();
  /** Whoever wants to know which claims are let go of meanwhile. */
  readonly #observers = new Set<Set<string>>();
  /** Records that the store does not have, over all runs in hand. */
  unflushed = 0;

  get size(): number {
    return this.#held.size;
  }

  /** Without the pictures of runs that were started here: they take no place from others. */
  get claimedCount(): number {
    return this.#held.size - this.#mirrored.size;
  }

  get(task: RunId): HeldRun | undefined {
    return this.#held.get(task);
  }

  /** Whether this very claim is in hand; another epoch of the same task is another matter. */
  has(task: RunId, epoch: number): boolean {
    return this.#held.get(task)?.epoch === epoch;
  }

  put(held: HeldRun): void {
    const { task } = held.claim;
    this.#held.set(task, held);
    if (held.isMirror) this.#mirrored.add(task);
    else this.#mirrored.delete(task);
  }

  /** It is over; a later claim on the same task stays. */
  remove(held: HeldRun): void {
    this.unflushed -= held.archived(Number.MAX_SAFE_INTEGER);
    const { task } = held.claim;
    if (this.#held.get(task) === held) {
      this.#held.delete(task);
      this.#mirrored.delete(task);
    }
    for (const gone of this.#observers) gone.add(nameOf(held.claim));
  }

  /** Does `act` with the names of all claims that are let go of while it goes on. */
  async observing<T>(act: (gone: ReadonlySet<string>) => Promise<T>): Promise<T> {
    const gone = new Set<string>();
    this.#observers.add(gone);
    try {
      return await act(gone);
    } finally {
      this.#observers.delete(gone);
    }
  }

  all(): IterableIterator<HeldRun> {
    return this.#held.values();
  }
}

/** A claim in one word: the same task under another epoch is another claim. */
export function nameOf({ task, epoch }: Pick<Claim, 'task' | 'epoch'>): string {
  return `${task}\n${epoch}`;
}
