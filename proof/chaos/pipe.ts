/** One direction of a connection: in order, each piece as late as its way wants it. */
import type { Socket } from 'node:net';

/** How a piece of so many bytes comes through now. */
export interface Passage {
  /** Nothing comes through, for as long as this holds. */
  readonly isBlocked: () => boolean;
  /** Of a piece, or, with 0 bytes, of the end of the connection. */
  readonly delayMs: (bytes: number) => number;
  /** The way has kept something back. */
  readonly onTouched: () => void;
}

interface Piece {
  /** Undefined for the end. */
  readonly chunk: Buffer | undefined;
  readonly dueMs: number;
}

export class Pipe {
  readonly #to: Socket;
  readonly #passage: Passage;
  readonly #queue: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;

  constructor(to: Socket, passage: Passage) {
    this.#to = to;
    this.#passage = passage;
  }

  push(chunk: Buffer | undefined): void {
    const nowMs = performance.now();
    const delayMs = this.#passage.delayMs(chunk?.length ?? 0);
    if (delayMs > 0) this.#passage.onTouched();
    this.#queue.push({ chunk, dueMs: nowMs + delayMs });
    this.pump();
  }

  end(): void {
    this.push(undefined);
  }

  /** The way is open again: nothing waits any longer. */
  release(): void {
    const waiting = this.#queue.splice(0);
    this.#queue.push(...waiting.map(({ chunk }) => ({ chunk, dueMs: 0 })));
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (this.#passage.isBlocked()) {
        if (!this.#isHeld) this.#passage.onTouched();
        this.#isHeld = true;
        return;
      }
      this.#isHeld = false;
      const leftMs = next.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.pump(), leftMs);
        return;
      }
      this.#queue.shift();
      if (next.chunk === undefined) this.#to.destroySoon();
      else if (!this.#to.destroyed) this.#to.write(next.chunk);
    }
  }
}
