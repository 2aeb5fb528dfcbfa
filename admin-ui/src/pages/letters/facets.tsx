/** Dead letters by machine and by error: a press narrows the list to one, another lets it go. */
import { useEffect } from 'react';
import type { Term } from '../../../../src/query/index.ts';
import { Refusal } from '../../components/panel.tsx';
import { showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import type { ErrorGroup, ErrorGroups } from '../../services/many.ts';
import { useAskSoon } from '../../services/use-ask-soon.ts';
import { useLoad } from '../../services/use-load.ts';
import { textOf } from '../runs/filter-text.ts';

const GROUPS_MAX = 100;
const SHOWN_MAX = 5;
const LOOK_MS = 2_000;

interface FacetsProps {
  readonly filter: string;
  readonly terms: readonly Term[];
  /** How often the list has changed: then it is grouped again. */
  readonly changes: number;
  readonly onFilter: (text: string) => void;
}

interface Facet {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly count: number;
}

export function Facets({ filter, terms, changes, onFilter }: FacetsProps) {
  const path = `/errors${queryText({ filter, limit: GROUPS_MAX })}`;
  const { data, error, reload } = useLoad(filter, (signal) => get<ErrorGroups>(path, signal));
  const soon = useAskSoon(reload, LOOK_MS);
  useEffect(() => {
    if (changes > 0) soon();
  }, [changes, soon]);
  if (error) return <Refusal error={error} onAgain={reload} />;
  if (!data) return <div className="facets" aria-busy="true" />;
  if (data.groups.length === 0) return null;
  const errors = data.groups.map(({ fingerprint, name, message, machine, count }) => ({
    value: fingerprint,
    label: message === '' ? name : message,
    hint: machine,
    count,
  }));
  const of = { terms, onFilter };
  return (
    <div className="facets">
      <FacetList name="Machines" field="machine" facets={machinesOf(data.groups)} {...of} />
      <FacetList name="Errors" field="error" facets={errors} {...of} />
      {errors.length > SHOWN_MAX && (
        <Link className="facets-more" to={`/errors?q=${encodeURIComponent(filter)}`}>
          All {showCount(errors.length)} errors
        </Link>
      )}
    </div>
  );
}

function machinesOf(groups: readonly ErrorGroup[]): readonly Facet[] {
  const counts = new Map<string, number>();
  for (const { machine, count } of groups) counts.set(machine, (counts.get(machine) ?? 0) + count);
  return [...counts]
    .map(([machine, count]) => ({ value: machine, label: machine, count }))
    .sort((a, b) => b.count - a.count);
}

interface FacetListProps {
  readonly name: string;
  readonly field: 'machine' | 'error';
  readonly facets: readonly Facet[];
  readonly terms: readonly Term[];
  readonly onFilter: (text: string) => void;
}

function FacetList({ name, field, facets, terms, onFilter }: FacetListProps) {
  const most = Math.max(1, ...facets.map(({ count }) => count));
  const isOf = (term: Term) => term.kind === 'words' && term.field === field && !term.isNot;
  const chosen = terms.find(isOf);
  const others = terms.filter((term) => !isOf(term));
  const word = (value: string): Term => ({ kind: 'words', field, isNot: false, words: [value] });
  return (
    <section className="facet" aria-label={name}>
      <h2>{name}</h2>
      <ul>
        {facets.slice(0, SHOWN_MAX).map(({ value, label, hint, count }) => {
          const isChosen =
            chosen?.kind === 'words' && chosen.words.length === 1 && chosen.words[0] === value;
          return (
            <li key={value}>
              <button
                type="button"
                className="ghost"
                aria-pressed={isChosen}
                title={label}
                onClick={() => onFilter(textOf(isChosen ? others : [...others, word(value)]))}
              >
                <span className="facet-label">
                  {label}
                  {hint && <small className="quiet"> {hint}</small>}
                </span>
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(count / most) * 100} height="6" />
                </svg>
                <span className="number">{showCount(count)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
