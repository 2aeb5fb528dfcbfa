/** Which mutants have their turn on a day: all of them, one handful after the other, and then anew. */

export function rotation<T>(all: readonly T[], count: number, day: number): T[] {
  const chosen: T[] = [];
  for (let index = 0; index < Math.min(count, all.length); index++) {
    chosen.push(all[(day * count + index) % all.length]!);
  }
  return chosen;
}

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / 86_400_000);
}
