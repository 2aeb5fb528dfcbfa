/** Where `fleetq dev` shows what happens. Without a terminal: a line for each thing worth one. */
import { isoTime, systemClock } from '../../ground/index.ts';
import type { Output } from '../output.ts';
import type { Board } from './board.ts';
import { type DevEvent, tellEvent } from './story.ts';

export interface View {
  open(): void;
  hear(event: DevEvent): void;
  say(text: string): void;
  /** Puts the terminal back, and says how it ended. */
  close(verdict: string): void;
}

export class LinesView implements View {
  readonly #output: Output;
  readonly #board: Board;

  constructor(output: Output, board: Board) {
    this.#output = output;
    this.#board = board;
  }

  open(): void {}

  hear(event: DevEvent): void {
    if (this.#output.isJson) {
      const at = isoTime(systemClock.now());
      return this.#output.line(JSON.stringify({ at, ...event }));
    }
    const text = tellEvent(event, (run) => run);
    if (text !== undefined) this.#output.line(text);
  }

  say(text: string): void {
    this.#output.note(text);
  }

  close(verdict: string): void {
    this.#output.note(`${totalsLine(this.#board)}; ${verdict}`);
  }
}

/** 'enqueued 40, completed 31, …': what is left on the screen at the end. */
export function totalsLine({ totals }: Board): string {
  const { enqueued, completed, handedOff, failed, takenOver } = totals;
  return (
    `enqueued ${enqueued}, completed ${completed}, handed off ${handedOff}, ` +
    `failed ${failed}, taken over ${takenOver}`
  );
}
