/** One bulk operation: how far it is and at what pace, what became of its runs, and how to stop it. */
import type { ReactNode } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Span, Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { plural, showCount } from '../../format/words.ts';
import { backTo, go, Link } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { Bulk } from '../../services/many.ts';
import { useSession } from '../../services/session.tsx';
import { useFresh } from '../../services/use-fresh.ts';
import { useLoad } from '../../services/use-load.ts';
import {
  deedText,
  isMoving,
  isOver,
  OUTCOME_ABOUT,
  OUTCOME_LABEL,
  OUTCOMES,
} from './bulk-words.ts';
import { Orders } from './orders.tsx';
import { BulkState, howFar, ProgressBar } from './progress.tsx';
import '../../styles/acts.css';
import '../../styles/bulk.css';
import '../../styles/lists.css';

export function BulkPage({ id }: { id: string }) {
  const path = `/bulk/${encodeURIComponent(id)}`;
  const { data, error, reload } = useLoad(id, (signal) => get<Bulk>(path, signal));
  useTitle(data ? `${data.what}, many runs` : 'Bulk operation');
  useFresh(reload, { isMoving: data !== undefined && isMoving(data) });
  useKeys({ ['Escape']: () => go(backTo('/bulk')) });
  return (
    <main className="detail-page">
      <div className="page-head">
        <Link to={backTo('/bulk')} className="back">
          <Icon sign="back" />
          Bulk operations
        </Link>
        <LiveBadge />
      </div>
      {!data && <h1>Bulk operation</h1>}
      {error && <Refusal error={error} onAgain={reload} />}
      {data ? <Told bulk={data} onDone={reload} /> : !error && <Loading what="the operation" />}
    </main>
  );
}

function Told({ bulk, onDone }: { bulk: Bulk; onDone: () => void }) {
  return (
    <>
      <header className="detail-title">
        <h1>{deedText(bulk)}</h1>
        <BulkState bulk={bulk} />
      </header>
      <p className="bulk-filter">
        <code>{bulk.filter}</code>{' '}
        <Link to={`/runs?q=${encodeURIComponent(bulk.filter)}`}>Runs that fit now</Link>
      </p>
      {bulk.isStalled && (
        <p className="refusal">
          The run that was at it has ended without it: nobody goes on. Look at why, and resume it.
        </p>
      )}
      <Orders bulk={bulk} onDone={onDone} />
      <section className="panel bulk-progress" aria-label="Progress">
        <p className="bulk-far">
          <strong className="number">{howFar(bulk)}</strong>
          <Pace bulk={bulk} />
        </p>
        <ProgressBar bulk={bulk} />
        <dl className="tally">
          {OUTCOMES.map((outcome) => (
            <div key={outcome} data-outcome={outcome} title={OUTCOME_ABOUT[outcome]}>
              <dt>{OUTCOME_LABEL[outcome]}</dt>
              <dd className="number">{showCount(bulk[outcome])}</dd>
            </div>
          ))}
        </dl>
      </section>
      <Facts bulk={bulk} />
      <Refusals bulk={bulk} />
      <Elsewhere id={bulk.id} />
    </>
  );
}

/** Said of what goes on, and of what is over by how long it took. */
function Pace({ bulk }: { bulk: Bulk }) {
  const { rate, leftMs, status, createdAt, endedAt } = bulk;
  if (isOver(bulk)) {
    return (
      <span className="quiet">
        in <Span from={createdAt} until={endedAt} />
      </span>
    );
  }
  return (
    <span className="quiet">
      at {showCount(rate)} a second
      {leftMs !== undefined && status === 'running' && `, about ${showSpan(leftMs)} left`}
    </span>
  );
}

function Facts({ bulk }: { bulk: Bulk }) {
  const { podNames } = useSession();
  const { shift, deed } = bulk;
  return (
    <dl className="facts">
      <Fact name="By">
        <span title={`via ${bulk.via}`}>{bulk.who}</span>
      </Fact>
      <Fact name="Begun">
        <Time at={bulk.createdAt} />
      </Fact>
      {bulk.endedAt !== undefined && (
        <Fact name="Ended">
          <Time at={bulk.endedAt} />
        </Fact>
      )}
      <Fact name="Rate">{showCount(bulk.rate)} a second</Fact>
      {bulk.limit !== undefined && <Fact name="No more than">{showCount(bulk.limit)}</Fact>}
      {deed.reason !== undefined && <Fact name="Reason">{deed.reason}</Fact>}
      {deed.due?.at !== undefined && (
        <Fact name="Due">
          <Time at={deed.due.at} />
        </Fact>
      )}
      <Fact name="Worked off by">
        <Link to={`/runs/${encodeURIComponent(shift.run)}`} title={shift.run}>
          run …{shift.run.slice(-8)}
        </Link>
        {shift.pod && (
          <span className="quiet">&nbsp;on {podNames.get(shift.pod) ?? shift.pod.slice(-6)}</span>
        )}
      </Fact>
      <Fact name="Id">
        <code>…{bulk.id.slice(-8)}</code>
        <CopyButton text={bulk.id} what="the id" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Elsewhere({ id }: { id: string }) {
  const ways = [
    ['Show it', `fleetq bulk show ${id}`],
    ['Follow it', `fleetq bulk watch ${id}`],
  ] as const;
  return (
    <Panel title="The same elsewhere">
      <dl className="same">
        {ways.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="command">
              <code>{text}</code>
              <CopyButton text={text} what={name} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Refusals({ bulk: { refused, refusals, samples } }: { bulk: Bulk }) {
  if (refused === 0) return null;
  return (
    <Panel title={`Refused: ${plural(refused, 'run')}`}>
      <ul className="reasons" aria-label="By reason">
        {Object.entries(refusals).map(([why, count]) => (
          <li key={why}>
            <strong className="number">{showCount(count)}</strong> {why}
          </li>
        ))}
      </ul>
      <ul className="refusals" aria-label="The first of them">
        {samples.map(({ task, why, detail }) => (
          <li key={task}>
            <Link to={`/runs/${encodeURIComponent(task)}`} title={task}>
              …{task.slice(-8)}
            </Link>
            <span>
              <strong>{why}</strong> {detail}
            </span>
          </li>
        ))}
      </ul>
      {refused > samples.length && (
        <p className="quiet reasons-more">The first {samples.length} are kept word for word.</p>
      )}
    </Panel>
  );
}
