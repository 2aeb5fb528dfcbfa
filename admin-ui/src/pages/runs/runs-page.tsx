/** The runs: filter, histogram, list. All of what is asked for is in the address. */
import { useMemo } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { SelectionBar } from '../../components/selection-bar.tsx';
import { Time } from '../../components/time.tsx';
import { type Selection, useSelection } from '../../components/use-selection.ts';
import { useTitle } from '../../components/use-title.ts';
import { go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { queryText } from '../../services/api.ts';
import { useLiveState } from '../../services/live.tsx';
import { ActOnMany } from '../bulk/act-on-many.tsx';
import { FilterField } from './filter-field.tsx';
import { readFilter } from './filter-text.ts';
import { Count, ListFoot } from './list-foot.tsx';
import { RunsTable } from './runs-table.tsx';
import { TimelineBand } from './timeline-band.tsx';
import { useCount } from './use-count.ts';
import { type Rows, useRuns } from './use-runs.ts';
import { Views } from './views.tsx';

export function RunsPage() {
  const place = usePlace();
  useTitle('Runs');
  const filter = place.query.get('q') ?? '';
  const read = useMemo(() => readFilter(filter), [filter]);
  const isValid = read.kind === 'filter';
  const rows = useRuns(filter, isValid);
  const isLive = useLiveState() !== 'paused';
  const selection = useSelection(rows.rows, filter);
  const count = useCount(filter, { isValid, changes: rows.changes });
  const apply = (text: string) => go(withQuery(place, { q: text }));
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Runs</h1>
        <Count count={count} />
        <LiveBadge />
      </header>
      <FilterField value={filter} onApply={apply} />
      <Views place={place} filter={filter} isValid={isValid} />
      {read.kind === 'wrong' ? (
        <p className="refusal" role="alert">
          {read.error.message} <span className="quiet">{read.error.hint}</span>
        </p>
      ) : (
        <>
          <TimelineBand
            terms={read.terms}
            filter={filter}
            span={place.query.get('w') ?? undefined}
            isLive={isLive}
            onSpan={(span) => go(withQuery(place, { w: span }), 'replace')}
            onFilter={apply}
          />
          <Boundary name="The list">
            <List rows={rows} filter={filter} selection={selection} />
          </Boundary>
        </>
      )}
      <SelectionBar selection={selection} total={count}>
        <ActOnMany label="Act on them…" className="primary" filter={filter} selection={selection} />
        <CompareLink selection={selection} />
      </SelectionBar>
    </main>
  );
}

/** Two of them can be laid side by side. */
function CompareLink({ selection: { ids, isAll } }: { selection: Selection }) {
  if (isAll || ids.size !== 2) return null;
  const [a, b] = ids;
  return (
    <Link className="button small" to={`/compare${queryText({ a, b })}`}>
      Compare
    </Link>
  );
}

interface ListProps {
  readonly rows: Rows;
  readonly filter: string;
  readonly selection: Selection;
}

function List({ rows: found, filter, selection }: ListProps) {
  const { rows, cursor, error, isLoading, lookedBackTo, more, reload } = found;
  if (rows.length === 0 && error) return <Refusal error={error} onAgain={reload} />;
  if (rows.length === 0 && isLoading) return <Loading what="runs" />;
  if (rows.length === 0) return <Nothing filter={filter} lookedBackTo={lookedBackTo} />;
  return (
    <>
      <RunsTable
        rows={rows}
        rowCount={cursor === undefined ? rows.length + 1 : undefined}
        selection={selection}
        onNearEnd={more}
      />
      <ListFoot {...found} />
    </>
  );
}

function Nothing({ filter, lookedBackTo }: { filter: string; lookedBackTo: number | undefined }) {
  return (
    <div className="nothing">
      <p>
        <strong>{filter === '' ? 'There are no runs yet.' : 'No run fits this filter.'}</strong>
      </p>
      {lookedBackTo !== undefined && (
        <p className="quiet">
          It was looked back to <Time at={lookedBackTo} />: there may be older ones.
        </p>
      )}
      {filter === '' ? (
        <p className="quiet">
          Start one with <code>fleetq enqueue hello --input '{'{"name":"Ada"}'}'</code>
        </p>
      ) : (
        <Link to="/runs">Show all</Link>
      )}
    </div>
  );
}
