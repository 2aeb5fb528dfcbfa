/**
 * Whether calls that overlapped can be put into one order that explains every answer, as if each had
 * happened at one instant between its call and its answer (Wing and Gong). A call whose answer never
 * came may have happened at any time since, up to an end, or not at all.
 *
 *   A ├──────┤                 B may go before A or after it,
 *        B ├────────┤          C comes after both
 *                      C ├──┤
 */

export interface Call<Op> {
  readonly op: Op;
  readonly fromMs: number;
  readonly toMs: number;
  /** It may have come to nothing. */
  readonly isOptional?: boolean | undefined;
}

export interface Model<State, Op> {
  readonly start: State;
  /** The states the operation may lead to with the answer it got; none where it cannot have got it. */
  readonly next: (state: State, op: Op) => readonly State[];
  /** Equal for equal states. */
  readonly keyOf: (state: State) => string;
}

export type Linearity = 'linear' | 'broken' | 'undecided';

/** Longer histories are not for a search. */
export const CALLS_MAX = 60;
const LOOKS_MAX = 200_000;

export function linearityOf<State, Op>(
  calls: readonly Call<Op>[],
  { start, next, keyOf }: Model<State, Op>,
): Linearity {
  if (calls.length > CALLS_MAX) return 'undecided';
  const sorted = [...calls].sort((a, b) => a.fromMs - b.fromMs);
  const indexes = sorted.map((_, index) => index);
  const seen = new Set<string>();
  const open: { readonly done: bigint; readonly state: State }[] = [{ done: 0n, state: start }];
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const found = open.pop();
    if (!found) return 'broken';
    const { done, state } = found;
    const left = indexes.filter((index) => (done & (1n << BigInt(index))) === 0n);
    if (left.every((index) => sorted[index]!.isOptional)) return 'linear';
    // Whatever is answered before another is called comes first.
    const owed = left.filter((index) => !sorted[index]!.isOptional);
    const firstEnd = Math.min(...owed.map((index) => sorted[index]!.toMs));
    const lastBegin = sorted.findLast((_, index) => !left.includes(index))?.fromMs ?? -Infinity;
    for (const index of left.toReversed()) {
      const call = sorted[index]!;
      if (call.fromMs > firstEnd || call.toMs < lastBegin) continue;
      const after = done | (1n << BigInt(index));
      for (const reached of next(state, call.op)) {
        const key = `${after} ${keyOf(reached)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        open.push({ done: after, state: reached });
      }
    }
  }
  return 'undecided';
}
