/** What a pod holds right now, by task: the local side of the store's claims. */
import type { RunId } from '../ground/index.ts';
import type { Claim } from '../store/index.ts';
import type { HeldRun } from './held-run.ts';

export class Holdings {
  readonly #held = new Map<RunId, HeldRun>();
  readonly #mirrored = new Set<RunId>();
  /** Claims that did not stand when they were settled, and since when that is known. */
  readonly #doubted = new Map<RunId, number>();
  /** Whoever wants to know which claims are let go of meanwhile. */
  readonly #observers = new Set<Set<string>>();
  /** Records that the store does not have, over all runs in hand. */
  unflushed = 0;

  #hasHeld = false;

  /** Whether anything is in hand, or was since this was last asked. */
  wasBusy(): boolean {
    const wasBusy = this.#hasHeld || this.size > 0 || this.unflushed > 0;
    this.#hasHeld = false;
    return wasBusy;
  }

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
    this.#hasHeld = true;
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

  /**
   * These claims did not stand. Perhaps others have the tasks; perhaps this pod was taken for dead, and
   * gets them back before anybody else: then what its disk has of them must still be there.
   */
  doubt(lost: Iterable<HeldRun>, nowMs: number): void {
    for (const { claim } of lost) this.#doubted.set(claim.task, nowMs);
  }

  /** A heartbeat sent at `sentMs` was taken, so the pod lives: what it had lost before is lost. */
  certain(sentMs: number): RunId[] {
    const certain: RunId[] = [];
    for (const [task, sinceMs] of this.#doubted) {
      if (sinceMs >= sentMs) continue;
      this.#doubted.delete(task);
      if (!this.#held.has(task)) certain.push(task);
    }
    return certain;
  }

  /** How long ago the oldest record was written that the store does not have; 0 where it has all. */
  archiveLagMs(now: number): number {
    let oldest = now;
    for (const held of this.#held.values()) oldest = Math.min(oldest, held.unflushedSince ?? now);
    return now - oldest;
  }

  all(): IterableIterator<HeldRun> {
    return this.#held.values();
  }
}

/** A claim in one word: the same task under another epoch is another claim. */
export function nameOf({ task, epoch }: Pick<Claim, 'task' | 'epoch'>): string {
  return `${task}\n${epoch}`;
}
