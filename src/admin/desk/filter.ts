/** The grammar of filters over the journal of this process, looked through in slices with a bound. */
import { factsOfRun, type RunSummary } from '../../engine/index.ts';
import { EVERYTHING, type Filter, matches, parseFilter } from '../../query/index.ts';
import type { RunReader } from '../fleet-port.ts';
import { type ListQuery, listRuns } from '../list-runs.ts';

/**
 * Where errors are masked no text is looked for in what they say: letter by letter it would be told. Nor
 * is a fingerprint one of that: who has guessed what an error says could see it there.
 */
export function filterOf(text: string | undefined, isMasked: boolean): Filter {
  if (text === undefined) return EVERYTHING;
  const filter = parseFilter(text);
  if (!isMasked) return filter;
  const terms = filter.terms.map((term) =>
    term.kind === 'text' || (term.kind === 'words' && term.field === 'error')
      ? { ...term, isOfNames: true }
      : term,
  );
  return { terms };
}

/** A filter that hardly any run fits must not read the whole journal in one go. */
const SLICE_COUNT = 200;
const SLICES_MAX = 25;

export interface LocalPage {
  readonly runs: readonly RunSummary[];
  /** The last run that was looked at; undefined where there is nothing behind it. */
  readonly cursor: string | undefined;
}

export function localPage(
  journal: RunReader,
  filter: Filter,
  { now, query }: { readonly now: number; readonly query: ListQuery },
): LocalPage {
  const { countMax } = query;
  if (filter.terms.length === 0) {
    const runs = listRuns(journal, query);
    return { runs, cursor: runs.length < countMax ? undefined : runs.at(-1)?.id };
  }
  const found: RunSummary[] = [];
  let before = query.before;
  for (let slice = 0; slice < SLICES_MAX; slice++) {
    const seen = listRuns(journal, { ...query, before, countMax: SLICE_COUNT });
    for (const run of seen) {
      if (matches(filter, factsOfRun(run), now)) found.push(run);
      if (found.length === countMax) return { runs: found, cursor: run.id };
    }
    if (seen.length < SLICE_COUNT) return { runs: found, cursor: undefined };
    before = seen.at(-1)!.id;
  }
  return { runs: found, cursor: before };
}
