/**
 * How long a pod was on its own: from the deadline that its last heartbeat gave it until the next one
 * that was taken, or that told it that it is dead. One that cannot join, or join again, is on its own from
 * when that failed.
 */
interface Beat {
  readonly result: 'taken' | 'refused' | 'failed';
  readonly sentMs: number;
  readonly heardMs: number;
  readonly deadlineMs: number | undefined;
}

export class Island {
  #overMs = 0;
  /** What was told last: time on an island is never taken back. */
  #toldMs = 0;
  #deadlineMs: number | undefined;
  #sentMs: number | undefined;

  hear({ result, sentMs, heardMs, deadlineMs }: Beat): void {
    if (result === 'failed') return;
    this.#end(heardMs);
    this.#deadlineMs = deadlineMs;
    this.#sentMs = result === 'taken' ? sentMs : undefined;
  }

  /** It could not join. */
  miss(nowMs: number): void {
    this.#deadlineMs ??= nowMs;
  }

  /** It is no pod any more. */
  leave(nowMs: number): void {
    this.#end(nowMs);
    this.#sentMs = undefined;
  }

  /** How long it has been on its own by now; 0 while it is not. */
  aloneMsAt(nowMs: number): number {
    return this.#deadlineMs === undefined ? 0 : Math.max(0, nowMs - this.#deadlineMs);
  }

  secondsAt(nowMs: number): number {
    this.#toldMs = Math.max(this.#toldMs, this.#overMs + this.aloneMsAt(nowMs));
    return this.#toldMs / 1_000;
  }

  /** Since the last heartbeat that was taken was sent; undefined where there is none. */
  lagMsAt(nowMs: number): number | undefined {
    return this.#sentMs === undefined ? undefined : Math.max(0, nowMs - this.#sentMs);
  }

  #end(nowMs: number): void {
    if (this.#deadlineMs !== undefined) this.#overMs += Math.max(0, nowMs - this.#deadlineMs);
    this.#deadlineMs = undefined;
  }
}
