/** What failed for good: by machine and error, one by one, and what to do about it. */
import { useMemo } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { SelectionBar } from '../../components/selection-bar.tsx';
import { Time } from '../../components/time.tsx';
import { type Selection, useSelection } from '../../components/use-selection.ts';
import { useTitle } from '../../components/use-title.ts';
import { showCount } from '../../format/words.ts';
import { go, Link, usePlace, withQuery } from '../../router/router.tsx';
import type { RunCount } from '../../services/types.ts';
import { ActOnMany } from '../bulk/act-on-many.tsx';
import type { DeedName } from '../bulk/deeds.ts';
import { FilterField } from '../runs/filter-field.tsx';
import { readFilter } from '../runs/filter-text.ts';
import { Count, ListFoot } from '../runs/list-foot.tsx';
import { useCount } from '../runs/use-count.ts';
import { type Rows, useRuns } from '../runs/use-runs.ts';
import { Facets } from './facets.tsx';
import { Inspect } from './inspect.tsx';
import { LettersTable } from './letters-table.tsx';
import '../../styles/lists.css';
import '../../styles/letters.css';

const LETTERS = 'is:dead-letter';
const VIEWS: readonly (readonly [name: string, filter: string])[] = [
  ['All', ''],
  ['Last hour', 'finished:<1h'],
  ['Gave up retrying', 'outcome:exhausted'],
  ['Aborted', 'outcome:aborted'],
  ['Timed out', 'outcome:timedOut'],
  ['Crash loop', 'outcome:crashLoop'],
];
const DEEDS: readonly DeedName[] = ['redrive', 'discard'];

export function LettersPage() {
  const place = usePlace();
  useTitle('Dead letters');
  const filter = place.query.get('q') ?? '';
  const read = useMemo(() => readFilter(filter), [filter]);
  const isValid = read.kind === 'filter';
  const whole = `${LETTERS} ${filter}`.trim();
  const rows = useRuns(whole, isValid);
  const selection = useSelection(rows.rows, whole);
  const count = useCount(whole, { isValid, changes: rows.changes });
  const apply = (text: string) => go(withQuery(place, { q: text, at: undefined }));
  const at = place.query.get('at') ?? undefined;
  const inspect = (id: string | undefined) => go(withQuery(place, { at: id }), 'replace');
  const current = rows.rows[selection.at];
  useKeys({
    ...(current ? { i: () => inspect(current.id === at ? undefined : current.id) } : {}),
    ...(at ? { ['Escape']: () => inspect(undefined) } : {}),
  });
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Dead letters</h1>
        <Count count={count} />
        <LiveBadge />
      </header>
      <FilterField
        value={filter}
        onApply={apply}
        label="Filter dead letters"
        example="machine:… outcome:exhausted finished:<2h “text of an error”"
      />
      <div className="views-row">
        <nav className="views" aria-label="Views">
          {VIEWS.map(([name, view]) => (
            <Link
              key={name}
              to={withQuery(place, { q: view, at: undefined })}
              aria-current={filter === view ? 'true' : undefined}
            >
              {name}
            </Link>
          ))}
        </nav>
        {isValid && selection.ids.size === 0 && !selection.isAll && (count?.count ?? 0) > 0 && (
          <ActOnMany label={redriveText(count)} filter={whole} whats={DEEDS} className="primary" />
        )}
      </div>
      {read.kind === 'wrong' ? (
        <p className="refusal" role="alert">
          {read.error.message} <span className="quiet">{read.error.hint}</span>
        </p>
      ) : (
        <>
          <Boundary name="The groups">
            <Facets filter={whole} terms={read.terms} changes={rows.changes} onFilter={apply} />
          </Boundary>
          <div className="letters-columns" data-open={at !== undefined || undefined}>
            <Boundary name="The list">
              <List rows={rows} filter={filter} selection={selection} at={at} onInspect={inspect} />
            </Boundary>
            {at !== undefined && (
              <Inspect
                key={at}
                id={at}
                onClose={() => inspect(undefined)}
                onDone={() => inspect(undefined)}
              />
            )}
          </div>
        </>
      )}
      <SelectionBar selection={selection} total={count}>
        <ActOnMany
          label="Act on them…"
          className="primary"
          filter={whole}
          whats={DEEDS}
          selection={selection}
        />
      </SelectionBar>
    </main>
  );
}

function redriveText(count: RunCount | undefined): string {
  if (!count) return 'Redrive all…';
  return `Redrive all ${count.isExact ? '' : '≥ '}${showCount(count.count)}…`;
}

interface ListProps {
  readonly rows: Rows;
  readonly filter: string;
  readonly selection: Selection;
  readonly at: string | undefined;
  readonly onInspect: (id: string) => void;
}

function List({ rows: found, filter, selection, at, onInspect }: ListProps) {
  const { rows, cursor, error, isLoading, lookedBackTo, more, reload } = found;
  if (rows.length === 0 && error) return <Refusal error={error} onAgain={reload} />;
  if (rows.length === 0 && isLoading) return <Loading what="dead letters" />;
  if (rows.length === 0) return <Nothing filter={filter} lookedBackTo={lookedBackTo} />;
  return (
    <div className="letters-list">
      <LettersTable
        rows={rows}
        rowCount={cursor === undefined ? rows.length + 1 : undefined}
        selection={selection}
        inspected={at}
        onInspect={onInspect}
        onNearEnd={more}
      />
      <ListFoot {...found} />
    </div>
  );
}

function Nothing({ filter, lookedBackTo }: { filter: string; lookedBackTo: number | undefined }) {
  return (
    <div className="nothing">
      <p>
        <strong>
          {filter === '' ? 'Nothing has failed for good.' : 'No dead letter fits this filter.'}
        </strong>
      </p>
      {lookedBackTo !== undefined && (
        <p className="quiet">
          It was looked back to <Time at={lookedBackTo} />: there may be older ones.
        </p>
      )}
      {filter === '' ? (
        <p className="quiet">A run that has used up its attempts, or was aborted, comes here.</p>
      ) : (
        <Link to="/dead-letters">Show all</Link>
      )}
    </div>
  );
}
