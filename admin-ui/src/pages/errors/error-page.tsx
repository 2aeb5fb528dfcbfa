/** One group of failures: what it says, when it came, which runs it has, and a new try for all of them. */
import { useMemo } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { plural, showCount } from '../../format/words.ts';
import { backTo, go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import { useLiveState } from '../../services/live.tsx';
import type { ErrorGroup, ErrorGroups } from '../../services/many.ts';
import type { Run, RunCount, RunPage } from '../../services/types.ts';
import { useFresh } from '../../services/use-fresh.ts';
import { useLoad } from '../../services/use-load.ts';
import { ActOnMany } from '../bulk/act-on-many.tsx';
import type { DeedName } from '../bulk/deeds.ts';
import { ErrorPanel } from '../run/error-panel.tsx';
import { readFilter } from '../runs/filter-text.ts';
import { TimelineBand } from '../runs/timeline-band.tsx';
import '../../styles/acts.css';
import '../../styles/errors.css';
import '../../styles/lists.css';

const SHOWN_MAX = 20;
const LOOK_MS = 2_000;
const DEEDS: readonly DeedName[] = ['redrive', 'discard'];

export function ErrorPage({ id }: { id: string }) {
  const filter = `error:${id}`;
  const isFit = /^[0-9a-f]{16}$/.test(id);
  const found = useLoad(isFit ? id : undefined, (signal) =>
    get<ErrorGroups>(`/errors${queryText({ filter, limit: 1 })}`, signal),
  );
  useFresh(found.reload, { lookMs: LOOK_MS });
  useKeys({ ['Escape']: () => go(backTo('/errors')) });
  const group = found.data?.groups[0];
  useTitle(group ? group.name || group.message : 'Error');
  return (
    <main className="detail-page">
      <div className="page-head">
        <Link to={backTo('/errors')} className="back">
          <Icon sign="back" />
          Errors
        </Link>
        <LiveBadge />
      </div>
      {!group && <h1>Error</h1>}
      {!isFit ? (
        <p className="refusal">A fingerprint has sixteen hexadecimal digits, and this has not.</p>
      ) : found.error && !found.data ? (
        <Refusal error={found.error} onAgain={found.reload} />
      ) : group ? (
        <Told group={group} filter={filter} />
      ) : found.data ? (
        <div className="nothing">
          <p>
            <strong>Nothing has failed this way, or it is no longer kept.</strong>
          </p>
          <Link to="/errors">All errors</Link>
        </div>
      ) : (
        <Loading what="the error" />
      )}
    </main>
  );
}

function Told({ group, filter }: { group: ErrorGroup; filter: string }) {
  const letters = `${filter} is:dead-letter`;
  const { data: open, reload } = useLoad(letters, (signal) =>
    get<RunCount>(`/runs/count${queryText({ filter: letters })}`, signal),
  );
  useFresh(reload, { lookMs: LOOK_MS });
  return (
    <>
      <header className="detail-title error-title">
        <h1>{group.message === '' ? group.name : group.message}</h1>
      </header>
      <dl className="facts">
        <Fact name="Runs" text={showCount(group.count)} />
        <Fact name="Machine" text={group.machine} />
        <Fact name="Error" text={group.name || '–'} />
        <Fact name="Ended as" text={group.outcome} />
        <div>
          <dt>First</dt>
          <dd>
            <Time at={group.firstAt} />
          </dd>
        </div>
        <div>
          <dt>Last</dt>
          <dd>
            <Time at={group.lastAt} />
          </dd>
        </div>
        <div>
          <dt>Fingerprint</dt>
          <dd>
            <code>{group.fingerprint}</code>
          </dd>
        </div>
      </dl>
      <div className="orders">
        {open && open.count > 0 && (
          <ActOnMany
            label={`Redrive ${open.isExact ? '' : '≥ '}${plural(open.count, 'dead letter')}…`}
            className="primary"
            filter={letters}
            whats={DEEDS}
          />
        )}
        <Link className="button small" to={`/runs?q=${encodeURIComponent(filter)}`}>
          All runs that failed this way
        </Link>
        <Link className="button small" to={`/dead-letters?q=${encodeURIComponent(filter)}`}>
          Its dead letters
        </Link>
      </div>
      <Over filter={filter} />
      <div className="error-columns">
        <Latest filter={filter} />
        <Example id={group.example} />
      </div>
    </>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

/** Over time, by when the runs were created. A press leads to those of that time. */
function Over({ filter }: { filter: string }) {
  const place = usePlace();
  const isLive = useLiveState() !== 'paused';
  const terms = useMemo(() => {
    const read = readFilter(filter);
    return read.kind === 'filter' ? read.terms : [];
  }, [filter]);
  return (
    <Boundary name="The histogram">
      <TimelineBand
        terms={terms}
        filter={filter}
        span={place.query.get('w') ?? undefined}
        isLive={isLive}
        onSpan={(span) => go(withQuery(place, { w: span }), 'replace')}
        onFilter={(text) => go(`/runs?q=${encodeURIComponent(text)}`)}
      />
    </Boundary>
  );
}

function Latest({ filter }: { filter: string }) {
  const path = `/runs${queryText({ filter, limit: SHOWN_MAX })}`;
  const { data, error, reload } = useLoad(path, (signal) => get<RunPage>(path, signal));
  useFresh(reload, { lookMs: LOOK_MS });
  return (
    <Panel title="The newest of them">
      {error && !data ? (
        <Refusal error={error} onAgain={reload} />
      ) : !data ? (
        <Loading what="runs" />
      ) : (
        <ul className="latest">
          {data.runs.map((run) => (
            <li key={run.id}>
              <Link to={`/runs/${encodeURIComponent(run.id)}`} title={run.id}>
                {run.key ?? `…${run.id.slice(-8)}`}
              </Link>
              <Status run={run} />
              <Time at={run.finishedAt ?? run.updatedAt} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Its error whole: causes, stack. */
function Example({ id }: { id: string }) {
  const path = `/runs/${encodeURIComponent(id)}`;
  const { data, error, reload } = useLoad(path, (signal) => get<Run>(path, signal));
  if (error) return <Refusal error={error} onAgain={reload} />;
  if (!data) return <Loading what="the newest of them" />;
  return <ErrorPanel run={data} />;
}
