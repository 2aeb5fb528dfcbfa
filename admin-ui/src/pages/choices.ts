/** What a few letters may mean, the likeliest first. Pure. */
export interface Choice {
  readonly kind: 'page' | 'view' | 'machine' | 'run' | 'search' | 'do';
  readonly name: string;
  /** Where it leads; else it acts. */
  readonly to?: string;
  readonly act?: () => void;
}

const SHOWN_MAX = 12;
/** ULIDs and UUIDs. */
const RUN_ID = /^([0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

export function choicesFor(text: string, all: readonly Choice[]): readonly Choice[] {
  const wanted = text.trim();
  if (wanted === '') return all.slice(0, SHOWN_MAX);
  const ranked = all
    .map((choice) => ({ choice, rank: rankOf(choice.name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .map(({ choice }) => choice)
    .slice(0, SHOWN_MAX);
  const search: Choice = {
    kind: 'search',
    name: `Search runs: ${wanted}`,
    to: `/runs?q=${encodeURIComponent(wanted)}`,
  };
  if (!RUN_ID.test(wanted)) return [...ranked, search];
  const to = `/runs/${encodeURIComponent(wanted)}`;
  return [{ kind: 'run', name: `Open run ${wanted}`, to }, ...ranked, search];
}

/** As it begins, as a word of it begins, within it, its letters in order; else not at all. */
function rankOf(name: string, wanted: string): number {
  if (name.startsWith(wanted)) return 0;
  const at = name.indexOf(wanted);
  if (at > 0) return /[\w]/.test(name[at - 1]!) ? 2 : 1;
  let from = 0;
  for (const letter of wanted) {
    from = name.indexOf(letter, from) + 1;
    if (from === 0) return Number.POSITIVE_INFINITY;
  }
  return 3;
}
