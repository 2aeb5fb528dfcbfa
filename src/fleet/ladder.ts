/**
 * How long a claimer that found nothing, met rivals or failed waits before it looks again. The bands
 * are wide enough that pods which began together drift apart.
 */
const BANDS_MS: readonly (readonly [number, number])[] = [
  [50, 50],
  [100, 150],
  [200, 300],
  [400, 650],
  [850, 1_000],
];

export class Ladder {
  readonly #scale: number;
  #rung = 0;

  /** `topMs`: the longest wait, where a store would rather be asked less often. */
  constructor(topMs = 1_000) {
    this.#scale = Math.max(1, topMs / 1_000);
  }

  /** The wait after another look in vain. */
  next(chance: () => number): number {
    const [from, to] = BANDS_MS[this.#rung]!;
    const isTop = this.#rung === BANDS_MS.length - 1;
    if (!isTop) this.#rung++;
    return (from + (to - from) * chance()) * (isTop ? this.#scale : 1);
  }

  /** Something was found. */
  reset(): void {
    this.#rung = 0;
  }
}
