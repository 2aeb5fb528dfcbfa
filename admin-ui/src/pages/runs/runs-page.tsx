/** The runs: filter, histogram, list. All of what is asked for is in the address. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showCount } from '../../format/words.ts';
import { go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import { useLiveState } from '../../services/live.tsx';
import { useSession } from '../../services/session.tsx';
import type { RunCount } from '../../services/types.ts';
import { useLoad } from '../../services/use-load.ts';
import { FilterField } from './filter-field.tsx';
import { readFilter } from './filter-text.ts';
import { RunsTable } from './runs-table.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { TimelineBand } from './timeline-band.tsx';
import { ROWS_MAX, type Rows, useRuns } from './use-runs.ts';

const VIEWS: readonly (readonly [name: string, filter: string])[] = [
  ['All', ''],
  ['Unfinished', 'is:unfinished'],
  ['Running', 'status:claimed,active'],
  ['Retrying', 'wait:retry'],
  ['Blocked', 'is:blocked'],
  ['Failed', 'status:failed'],
];
const ESCAPE = 'Escape';
/** So many changes of the list pass before it is counted again. */
const COUNT_EVERY = 5;

export function RunsPage() {
  const place = usePlace();
  useTitle('Runs');
  const filter = place.query.get('q') ?? '';
  const read = useMemo(() => readFilter(filter), [filter]);
  const isValid = read.kind === 'filter';
  const rows = useRuns(filter, isValid);
  const isLive = useLiveState() !== 'paused';
  // By its name: rows come and go above it.
  const [atId, setAtId] = useState<string>();
  const at = rows.rows.findIndex(({ id }) => id === atId);
  const setAt = (index: number) => setAtId(rows.rows[index]?.id);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const apply = (text: string) => go(withQuery(place, { q: text }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter has other rows
  useEffect(() => {
    setAtId(undefined);
    setSelected(new Set());
  }, [filter]);
  const toggle = useCallback((id: string) => {
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const last = rows.rows.length - 1;
  useKeys({
    j: () => setAt(Math.min(last, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    x: () => rows.rows[at] && toggle(rows.rows[at].id),
    [ESCAPE]: () => setSelected(new Set()),
  });
  const selectAll = () => {
    const isAll = rows.rows.every(({ id }) => selected.has(id));
    setSelected(new Set(isAll ? [] : rows.rows.map(({ id }) => id)));
  };
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Runs</h1>
        <Count filter={filter} isValid={isValid} changes={rows.changes} />
        <LiveBadge />
      </header>
      <FilterField value={filter} onApply={apply} />
      <nav className="views" aria-label="Views">
        {VIEWS.map(([name, view]) => (
          <Link
            key={name}
            to={withQuery(place, { q: view })}
            aria-current={filter === view ? 'true' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
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
            <List
              {...rows}
              filter={filter}
              at={at}
              setAt={setAt}
              selected={selected}
              toggle={toggle}
              selectAll={selectAll}
            />
          </Boundary>
        </>
      )}
      <SelectionBar
        rows={rows.rows.filter(({ id }) => selected.has(id))}
        onDone={() => setSelected(new Set())}
      />
    </main>
  );
}

interface ListProps extends Rows {
  readonly filter: string;
  readonly at: number;
  readonly setAt: (index: number) => void;
  readonly selected: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly selectAll: () => void;
}

function List(props: ListProps) {
  const { rows, cursor, error, isLoading, lookedBackTo, more, reload } = props;
  if (rows.length === 0 && error) return <Refusal error={error} onAgain={reload} />;
  if (rows.length === 0 && isLoading) return <Loading what="runs" />;
  if (rows.length === 0) return <Nothing filter={props.filter} lookedBackTo={lookedBackTo} />;
  return (
    <>
      <RunsTable
        rows={rows}
        rowCount={cursor === undefined ? rows.length + 1 : undefined}
        at={props.at}
        selected={props.selected}
        onAt={props.setAt}
        onSelect={props.toggle}
        onSelectAll={props.selectAll}
        onNearEnd={more}
      />
      <p className="list-foot quiet">
        {error ? (
          <>
            {error.message}.{' '}
            <button type="button" className="small" onClick={reload}>
              Try again
            </button>
          </>
        ) : rows.length >= ROWS_MAX ? (
          `The newest ${showCount(ROWS_MAX)} are shown: ` +
          'press in the histogram, or filter, to get further back.'
        ) : lookedBackTo !== undefined ? (
          <>
            Looked back to <Time at={lookedBackTo} /> in the time there was.
          </>
        ) : cursor === undefined ? (
          `${showCount(rows.length)} shown, these are all.`
        ) : (
          `${showCount(rows.length)} loaded, more follow as you scroll.`
        )}
      </p>
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

function Count({
  filter,
  isValid,
  changes,
}: {
  filter: string;
  isValid: boolean;
  changes: number;
}) {
  const { status } = useSession();
  const turn = Math.floor(changes / COUNT_EVERY);
  const isAsked = isValid && status.serves?.store !== false;
  const { data, reload } = useLoad(isAsked ? filter : undefined, (signal) =>
    get<RunCount>(`/runs/count${queryText({ filter })}`, signal),
  );
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn, reload]);
  if (!data) return null;
  return (
    <span className="count number">
      {data.isExact ? '' : '≥ '}
      {showCount(data.count)}
    </span>
  );
}
