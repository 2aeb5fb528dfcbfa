/** Permits on their way: that one pod gives up and another does not have yet. */
export interface Move {
  readonly count: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export class Moves {
  #moves: Move[] = [];

  add(move: Move): void {
    this.#moves.push(move);
  }

  /** How many of them were on their way at some time in between; those before are forgotten. */
  between(fromMs: number, untilMs: number): number {
    this.#moves = this.#moves.filter((move) => move.untilMs > fromMs);
    const moves = this.#moves.filter((move) => move.fromMs < untilMs);
    return moves.reduce((all, { count }) => all + count, 0);
  }
}
