/** Who did what, to which run, by which way: every change that people have made, newest first. */
import { type FormEvent, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { PagesFoot } from '../../components/pages-foot.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useTitle } from '../../components/use-title.ts';
import { go, Link, type Place, usePlace, withQuery } from '../../router/router.tsx';
import { queryText } from '../../services/api.ts';
import type { AuditPage, AuditRow } from '../../services/many.ts';
import { useMayDo, useSession } from '../../services/session.tsx';
import { useFresh } from '../../services/use-fresh.ts';
import { usePages } from '../../services/use-pages.ts';
import { ActivityTable } from './activity-table.tsx';
import '../../styles/activity.css';
import '../../styles/lists.css';

/** What is offered; any other word is taken as well. */
const WHATS = [
  ...['cancel', 'pause', 'resume', 'retry', 'reschedule', 'redrive', 'fork', 'discard'],
  ...['bulk', 'bulk.pause', 'bulk.resume', 'bulk.pace', 'bulk.cancel'],
  ...['start', 'drain', 'reveal', 'logout'],
];
const FIELDS = ['who', 'what', 'run'] as const;
type Field = (typeof FIELDS)[number];
const LABEL: Record<Field, string> = { who: 'Who', what: 'What', run: 'Run' };

/** One request may have changed many runs. */
const keyOf = ({ requestId, task, at }: AuditRow) => `${requestId} ${task ?? ''} ${at}`;
const read = ({ rows, cursor }: AuditPage) => ({ rows, cursor });

export function ActivityPage() {
  useTitle('Activity');
  const place = usePlace();
  const { who, status } = useSession();
  const isAdmin = useMayDo('admin');
  const asked = Object.fromEntries(
    FIELDS.map((field) => [field, place.query.get(field) ?? undefined]),
  ) as Record<Field, string | undefined>;
  const { run: task, ...rest } = asked;
  const hasStore = status.serves?.store !== false;
  const of = isAdmin && hasStore ? JSON.stringify(asked) : undefined;
  const pages = usePages<AuditPage, AuditRow>(of, {
    path: (cursor) => `/audit${queryText({ ...rest, task, cursor, limit: 100 })}`,
    read,
    keyOf,
  });
  // Not everything that people do is done to a run.
  useFresh(pages.reload, { isMoving: of !== undefined });
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Activity</h1>
        <LiveBadge />
      </header>
      {!isAdmin ? (
        <div className="nothing">
          <p>
            <strong>The activity log is for admins.</strong>
          </p>
          <p className="quiet">
            {who.name} has the role {who.role}.
          </p>
        </div>
      ) : !hasStore ? (
        <div className="nothing">
          <p>
            <strong>Without a store there is no audit log.</strong>
          </p>
          <p className="quiet">What people do is in the log of this process, as admin.acted.</p>
        </div>
      ) : (
        <>
          <Filters key={of} place={place} asked={asked} />
          <Boundary name="The log">
            <Rows pages={pages} isFiltered={FIELDS.some((field) => asked[field])} />
          </Boundary>
        </>
      )}
    </main>
  );
}

interface FiltersProps {
  readonly place: Place;
  readonly asked: Record<Field, string | undefined>;
}

function Filters({ place, asked }: FiltersProps) {
  const [typed, setTyped] = useState(asked);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = FIELDS.map((field) => [field, typed[field]?.trim()]);
    go(withQuery(place, Object.fromEntries(trimmed)));
  };
  useKeys({ '/': () => document.getElementById('activity-who')?.focus() });
  return (
    <search>
      <form className="activity-filters" onSubmit={apply}>
        {FIELDS.map((field) => (
          <label key={field}>
            {LABEL[field]}
            <input
              id={`activity-${field}`}
              value={typed[field] ?? ''}
              list={field === 'what' ? 'activity-whats' : undefined}
              placeholder={field === 'run' ? 'its id' : 'anything'}
              autoComplete="off"
              spellCheck={false}
              maxLength={100}
              onChange={(event) => setTyped({ ...typed, [field]: event.target.value })}
            />
          </label>
        ))}
        <datalist id="activity-whats">
          {WHATS.map((what) => (
            <option key={what} value={what} />
          ))}
        </datalist>
        <button type="submit" className="small primary">
          Show
        </button>
        {FIELDS.some((field) => asked[field]) && (
          <Link className="button small" to="/activity">
            All
          </Link>
        )}
      </form>
    </search>
  );
}

interface RowsProps {
  readonly pages: ReturnType<typeof usePages<AuditPage, AuditRow>>;
  readonly isFiltered: boolean;
}

function Rows({ pages, isFiltered }: RowsProps) {
  const { rows, cursor, error, isLoading, more, reload } = pages;
  if (rows.length === 0 && error) return <Refusal error={error} onAgain={reload} />;
  if (rows.length === 0 && isLoading) return <Loading what="the activity log" />;
  if (rows.length === 0) {
    return (
      <div className="nothing">
        <p>
          <strong>
            {isFiltered ? 'Nobody did anything like this.' : 'Nobody has changed anything yet.'}
          </strong>
        </p>
        {isFiltered && <Link to="/activity">Show all</Link>}
      </div>
    );
  }
  return (
    <>
      <ActivityTable rows={rows} isWhole={cursor === undefined} keyOf={keyOf} onNearEnd={more} />
      <PagesFoot {...pages} />
    </>
  );
}
