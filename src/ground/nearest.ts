/** "Did you mean …?": the known word that a mistyped one is nearest to. */

/** The nearest of `known`, if it is near enough to be worth a suggestion. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase().slice(0, 100);
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, wanted.length / 3) ? best.candidate : undefined;
}

/** How many letters have to be put in, taken out or changed. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
