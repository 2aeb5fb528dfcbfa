/**
 * A span leaves this process when what it tells can no longer be lost with it: when the store has the
 * record, or the disk where there is no store. Else a trace would have attempts that nobody who takes
 * the run over has ever heard of. What a handler's own code has traced waits for the record that its
 * phase stands on, since only then can others name that phase, should this process die in it.
 */
const HELD_COUNT_MAX = 50_000;

interface Waiting {
  readonly seq: number;
  readonly release: () => void;
}

export class Gate {
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #archived = new Map<string, number>();
  #count = 0;

  /** Of this run everything up to that record is safe. */
  open(run: string, seq: number): void {
    this.#archived.set(run, Math.max(seq, this.#archived.get(run) ?? -1));
    const waiting = this.#waiting.get(run);
    if (!waiting) return;
    const later: Waiting[] = [];
    this.#waiting.set(run, later);
    for (const one of waiting) {
      if (one.seq > seq) later.push(one);
      else this.#release(one);
    }
    if (later.length === 0) this.#waiting.delete(run);
  }

  /** Nothing of the run is waited for any more: it is in the store as it is, or ends here. */
  close(run: string, isSafe: boolean): void {
    if (isSafe) this.open(run, Number.MAX_SAFE_INTEGER);
    this.#count -= this.#waiting.get(run)?.length ?? 0;
    this.#waiting.delete(run);
    this.#archived.delete(run);
  }

  /** Whether `seq` of the run is safe; runs that nobody has opened the gate for are not held. */
  isSafe(run: string, seq: number): boolean {
    const archived = this.#archived.get(run);
    return archived === undefined || seq <= archived;
  }

  pass(run: string, seq: number, release: () => void): void {
    // To tell too early is better than to run out of memory, or to tell nothing.
    if (this.isSafe(run, seq) || this.#count >= HELD_COUNT_MAX) return release();
    this.#count += 1;
    const waiting = this.#waiting.get(run);
    if (waiting) waiting.push({ seq, release });
    else this.#waiting.set(run, [{ seq, release }]);
  }

  /** Whatever is held: for a process that ends in order, and hands its runs over. */
  get heldCount(): number {
    return this.#count;
  }

  #release({ release }: Waiting): void {
    this.#count -= 1;
    release();
  }
}
