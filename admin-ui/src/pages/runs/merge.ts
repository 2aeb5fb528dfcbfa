/** What a list of runs becomes when some of them have changed. Pure. Newest first, by creation. */
import type { Run } from '../../services/types.ts';

/** As the server sorts: by creation, then by id, both downwards. */
export function isBefore(a: Run, b: Run): boolean {
  return a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt;
}

export interface Change {
  /** Those that were asked about: what is not among `found` does not fit the filter any more. */
  readonly asked: ReadonlySet<string>;
  readonly found: readonly Run[];
  /** Whether older ones have not been loaded: what belongs behind the end is left out. */
  readonly hasMore: boolean;
}

export function merge(rows: readonly Run[], { asked, found, hasMore }: Change): readonly Run[] {
  const fresh = new Map(found.map((run) => [run.id, run]));
  const known = new Set<string>();
  const kept = rows.flatMap((row) => {
    known.add(row.id);
    if (!asked.has(row.id)) return [row];
    const now = fresh.get(row.id);
    return now ? [now] : [];
  });
  const last = rows.at(-1);
  const added = found.filter(
    (run) => !known.has(run.id) && (!hasMore || last === undefined || isBefore(run, last)),
  );
  if (added.length === 0) return kept;
  return [...kept, ...added].sort((a, b) => (isBefore(a, b) ? -1 : 1));
}
