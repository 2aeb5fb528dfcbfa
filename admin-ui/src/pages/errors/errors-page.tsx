/** Failures put together by what is the same about them, the most frequent first. */
import { useMemo, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { useTitle } from '../../components/use-title.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { showCount } from '../../format/words.ts';
import { go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import type { ErrorGroup, ErrorGroups } from '../../services/many.ts';
import { useFresh } from '../../services/use-fresh.ts';
import { type Loaded, useLoad } from '../../services/use-load.ts';
import { FilterField } from '../runs/filter-field.tsx';
import { readFilter } from '../runs/filter-text.ts';
import { Reach } from './reach.tsx';
import '../../styles/errors.css';
import '../../styles/lists.css';

const GROUPS_MAX = 500;
/** To group many failures takes a while. */
const LOOK_MS = 3_000;
const [ROW_HEIGHT, ROW_HEIGHT_NARROW, HEAD_HEIGHT] = [44, 62, 32];
const VIEWS: readonly (readonly [name: string, filter: string])[] = [
  ['All', ''],
  ['Last hour', 'finished:<1h'],
  ['Last day', 'finished:<1d'],
  ['Dead letters', 'is:dead-letter'],
];

export function ErrorsPage() {
  const place = usePlace();
  useTitle('Errors');
  const filter = place.query.get('q') ?? '';
  const read = useMemo(() => readFilter(filter), [filter]);
  const isValid = read.kind === 'filter';
  const path = `/errors${queryText({ filter, limit: GROUPS_MAX })}`;
  const found = useLoad(isValid ? path : undefined, (signal) => get<ErrorGroups>(path, signal));
  useFresh(found.reload, { lookMs: LOOK_MS });
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Errors</h1>
        {found.data && (
          <span className="count number">
            {found.data.groups.length >= GROUPS_MAX ? '≥ ' : ''}
            {showCount(found.data.groups.length)}
          </span>
        )}
        <LiveBadge />
      </header>
      <FilterField
        value={filter}
        label="Filter errors"
        example="machine:… outcome:aborted finished:<2h “text of an error”"
        onApply={(text) => go(withQuery(place, { q: text }))}
      />
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
        <Boundary name="The list">
          <Groups found={found} filter={filter} />
        </Boundary>
      )}
    </main>
  );
}

function Groups({ found, filter }: { found: Loaded<ErrorGroups>; filter: string }) {
  const { data, error, reload } = found;
  if (!data && error) return <Refusal error={error} onAgain={reload} />;
  if (!data) return <Loading what="errors" />;
  if (data.groups.length === 0) return <Nothing filter={filter} />;
  return (
    <>
      <Table groups={data.groups} />
      <p className="list-foot quiet">
        {error ? (
          <>
            {error.message}.{' '}
            <button type="button" className="small" onClick={reload}>
              Try again
            </button>
          </>
        ) : data.lookedBackTo !== undefined ? (
          <>
            Looked back to <Time at={data.lookedBackTo} /> in the time there was.
          </>
        ) : data.groups.length >= GROUPS_MAX ? (
          `The ${showCount(GROUPS_MAX)} most frequent are shown: filter for the others.`
        ) : (
          `${showCount(data.groups.length)} shown, these are all.`
        )}
      </p>
    </>
  );
}

const fingerprintOf = ({ fingerprint }: ErrorGroup) => fingerprint;

function Table({ groups }: { groups: readonly ErrorGroup[] }) {
  const [atOne, setAt] = useState<string>();
  const at = groups.findIndex(({ fingerprint }) => fingerprint === atOne);
  const move = (step: number) =>
    setAt(groups[Math.max(0, Math.min(groups.length - 1, at + step))]?.fingerprint);
  useKeys({ j: () => move(1), k: () => move(-1) });
  const most = groups[0]?.count ?? 1;
  const span = useMemo(
    () => ({
      from: Math.min(...groups.map(({ firstAt }) => firstAt)),
      until: Math.max(...groups.map(({ lastAt }) => lastAt)),
    }),
    [groups],
  );
  return (
    <VirtualTable
      label="Errors, the most frequent first"
      className={['table-scroll', 'runs errors']}
      rows={groups}
      rowCount={groups.length + 1}
      rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
      headHeight={HEAD_HEIGHT}
      at={at}
      isFocusing
      keyOf={fingerprintOf}
      head={<Head />}
      row={(group, index) => (
        <tr data-index={index} data-current={index === at || undefined} aria-rowindex={index + 2}>
          <td className="col-count">
            <span className="number">{showCount(group.count)}</span>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect width={Math.max(2, (group.count / most) * 100)} height="4" />
            </svg>
          </td>
          <td className="col-said">
            <Link
              to={`/errors/${group.fingerprint}`}
              title={group.message}
              onFocus={() => setAt(group.fingerprint)}
            >
              {group.message === '' ? group.name : group.message}
            </Link>
            <small className="quiet">
              {group.name}
              {group.name !== '' && ' · '}
              <span className="said-machine">{group.machine} · </span>
              {group.outcome}
            </small>
          </td>
          <td className="col-machine">{group.machine}</td>
          <td className="col-reach">
            <Reach group={group} {...span} />
          </td>
          <td className="col-created">
            <Time at={group.firstAt} />
          </td>
          <td className="col-last">
            <Time at={group.lastAt} />
          </td>
        </tr>
      )}
    />
  );
}

function Head() {
  return (
    <>
      <th scope="col" className="col-count">
        Runs
      </th>
      <th scope="col" className="col-said">
        Error
      </th>
      <th scope="col" className="col-machine">
        Machine
      </th>
      <th scope="col" className="col-reach">
        From first to last
      </th>
      <th scope="col" className="col-created">
        First
      </th>
      <th scope="col" className="col-last">
        Last
      </th>
    </>
  );
}

function Nothing({ filter }: { filter: string }) {
  return (
    <div className="nothing">
      <p>
        <strong>{filter === '' ? 'Nothing has failed.' : 'No failure fits this filter.'}</strong>
      </p>
      {filter !== '' && <Link to="/errors">Show all</Link>}
    </div>
  );
}
