/**
 * Virtual time. Everything that happens in a simulation is an event here, and the next one happens
 * only when nothing is left to do about the one before it: so a seed has one order of events.
 *
 *   event ─→ act ─→ every promise it settles, and what they lead to ─→ time moves ─→ next event
 */
import type { Cancel } from '../../src/ground/index.ts';

/** Whose event it is: one that has died has no more of them, one that is paused has them later. */
export interface Gate {
  readonly isDead: boolean;
  readonly isPaused: boolean;
  /** Takes an event that came due while it was paused. */
  hold(act: () => void): void;
}

interface Happening {
  readonly dueMs: number;
  readonly order: number;
  readonly act: () => void;
  readonly gate: Gate | undefined;
  isCancelled: boolean;
}

/** A simulation that goes on for longer than this is stuck in a moment. */
const EVENT_COUNT_MAX = 3_000_000;

export class Schedule {
  readonly #heap: Happening[] = [];
  #order = 0;
  nowMs = 0;
  eventCount = 0;
  /** Whose code is being executed. */
  current: Gate | undefined;

  at(dueMs: number, act: () => void, gate?: Gate): Cancel {
    const order = this.#order++;
    const event = { dueMs: Math.max(this.nowMs, dueMs), order, act, gate, isCancelled: false };
    this.#push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Until `isOver`, asked after every event, or until this time. */
  run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    return onLoop(() => {
      while (!isOver()) {
        const next = this.#heap[0];
        if (!next || next.dueMs > untilMs) break;
        this.#pop();
        this.#happen(next);
      }
      if (!isOver()) this.nowMs = Math.max(this.nowMs, untilMs);
    });
  }

  #happen(next: Happening): void {
    const { gate } = next;
    if (next.isCancelled || gate?.isDead) return;
    if (gate?.isPaused) {
      gate.hold(() => {
        if (!next.isCancelled) next.act();
      });
      return;
    }
    this.nowMs = next.dueMs;
    if (++this.eventCount > EVENT_COUNT_MAX) throw new Error('the simulation does not end');
    this.current = gate;
    next.act();
    settle();
    this.current = undefined;
  }

  #push(event: Happening): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

/** Follows every promise until none is left: what Node.js itself does after each callback. */
const settle = (process as unknown as { readonly _tickCallback: () => void })._tickCallback;

/** In a turn of the real loop, since promises are followed only outside of promises. */
function onLoop(act: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(act());
      } catch (error) {
        reject(error);
      }
    });
  });
}
