/** The lines of the live table: a run keeps its line until it has ended and the line is needed. */
import type { RunSummary } from '../../engine/index.ts';

type Placed = Pick<RunSummary, 'id' | 'finishedAt'>;

/** Every run stays where it is; a new one takes the line of whichever ended first. */
export function place<R extends Placed>(
  lines: readonly R[],
  found: readonly R[],
  countMax: number,
): R[] {
  const latest = new Map(found.map((run) => [run.id, run]));
  const placed = lines.slice(0, countMax).map((run) => latest.get(run.id) ?? run);
  const known = new Set(placed.map((run) => run.id));
  // One that ended and gave its line away does not come back.
  const newest: string =
    placed
      .map((run) => run.id)
      .sort()
      .at(-1) ?? '';
  const fresh = [...latest.values()]
    .filter((run) => !known.has(run.id) && (run.finishedAt === undefined || run.id > newest))
    .sort(byId);
  for (const run of fresh) {
    if (placed.length < countMax) {
      placed.push(run);
      continue;
    }
    const free = firstEnded(placed);
    if (free === undefined) break;
    placed[free] = run;
  }
  return placed;
}

function byId(a: Placed, b: Placed): number {
  return a.id < b.id ? -1 : 1;
}

function firstEnded(lines: readonly Placed[]): number | undefined {
  let first: number | undefined;
  for (const [index, { finishedAt }] of lines.entries()) {
    if (finishedAt === undefined) continue;
    if (first === undefined || finishedAt < (lines[first]?.finishedAt ?? 0)) first = index;
  }
  return first;
}
