/** Permits on their way: that one pod gives up and another does not have yet. */
export interface Move {
  readonly count: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** More are not asked for at once: while a limit is fixed nobody asks at all. */
const MOVES_MAX = 64;

export class Moves {
  #moves: Move[] = [];

  add(move: Move): void {
    this.#moves = [...this.#moves, move].slice(-MOVES_MAX);
  }

  get size(): number {
    return this.#moves.length;
  }

  /** How many of them were on their way at some time in between; those before are forgotten. */
  between(fromMs: number, untilMs: number): number {
    this.#moves = this.#moves.filter((move) => move.untilMs > fromMs);
    const moves = this.#moves.filter((move) => move.fromMs < untilMs);
    return moves.reduce((all, { count }) => all + count, 0);
  }
}
