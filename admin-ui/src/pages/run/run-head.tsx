/** Who it is: status, machine, and the facts that one looks for first. */
import type { ReactNode } from 'react';
import { traceIdOf } from '../../../../src/ground/trace-id.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Status } from '../../components/status.tsx';
import { Span, Time } from '../../components/time.tsx';
import { showCount } from '../../format/words.ts';
import { backTo, Link } from '../../router/router.tsx';
import type { Run } from '../../services/types.ts';

const SOURCE: Record<Run['source'], string> = {
  journal: 'this process has it in hand',
  store: 'its row in the store',
  archive: 'records that its owner has sent',
};

/** The way back, and whether what is shown is as it is now. */
export function BackHead() {
  return (
    <div className="page-head">
      <Link to={backTo('/runs')} className="back" aria-label="Back to the runs">
        <Icon sign="back" />
        Runs
      </Link>
      <LiveBadge />
    </div>
  );
}

export function RunHead({ run, podName }: { run: Run; podName: (pod: string) => string }) {
  return (
    <header className="run-head">
      <BackHead />
      <div className="run-title">
        <h1>
          {run.machine}
          <span className="quiet">@{run.version}</span>
        </h1>
        <Status run={run} />
        {run.outcome && run.outcome !== run.status && <span className="tag">{run.outcome}</span>}
      </div>
      <p className="run-id">
        <code>{run.id}</code>
        <CopyButton text={run.id} what="the id" />
      </p>
      <Facts run={run} podName={podName} />
    </header>
  );
}

/** Of what is in hand, it is over; what follows another run is due when that ends. */
function isDue({ status, waitsFor }: Run): boolean {
  return status === 'pending' || (status === 'waiting' && waitsFor !== 'run');
}

function Facts({ run, podName }: { run: Run; podName: (pod: string) => string }) {
  const trace = traceIdOf(run.id);
  return (
    <dl className="facts">
      <Fact name="Took">
        <Span from={run.startedAt ?? run.createdAt} until={run.finishedAt} />
      </Fact>
      <Fact name="Created">
        <Time at={run.createdAt} />
      </Fact>
      {isDue(run) && run.dueAt !== undefined && (
        <Fact name={run.waitsFor ? `Due (${run.waitsFor})` : 'Due'}>
          <Time at={run.dueAt} />
        </Fact>
      )}
      {run.pod && (
        <Fact name="Pod">
          <span title={run.pod}>{podName(run.pod)}</span>
        </Fact>
      )}
      {run.key !== undefined && <Fact name="Key">{run.key}</Fact>}
      {run.serialKey !== undefined && <Fact name="Serial key">{run.serialKey}</Fact>}
      {run.queue && (
        <Fact name="Queue">
          <Link to={`/queues?find=${encodeURIComponent(run.queue)}`}>{run.queue}</Link>
        </Fact>
      )}
      {run.follows && <Follows follows={run.follows} />}
      {run.followers && <Followers followers={run.followers} hasMore={run.hasMoreFollowers} />}
      <Fact name="Retries">{run.retries ?? (run.attempt ?? 1) - 1}</Fact>
      {(run.crashes ?? 0) > 0 && <Fact name="Crashes">{run.crashes}</Fact>}
      {(run.generation ?? 1) > 1 && <Fact name="Generation">{run.generation}</Fact>}
      {run.revision && <Fact name="Revision">{run.revision}</Fact>}
      {run.progress && <Fact name="Progress">{Math.round(run.progress.fraction * 100)} %</Fact>}
      <Fact name="Told from">
        <span title={SOURCE[run.source]}>
          {run.source}, <Time at={Date.parse(run.freshAt)} />
        </span>
      </Fact>
      {trace && (
        <Fact name="Trace">
          <code title={trace}>{trace.slice(0, 8)}…</code>
          <CopyButton text={trace} what="the trace id" />
        </Fact>
      )}
    </dl>
  );
}

function Follows({ follows: { run, on } }: { follows: NonNullable<Run['follows']> }) {
  return (
    <Fact name={on === 'end' ? 'After the end of' : 'After the success of'}>
      <Link to={`/runs/${encodeURIComponent(run)}`} title={run}>
        <code>…{run.slice(-8)}</code>
      </Link>
    </Fact>
  );
}

const FOLLOWERS_SHOWN_MAX = 5;

function Followers({
  followers,
  hasMore,
}: {
  followers: NonNullable<Run['followers']>;
  hasMore: Run['hasMoreFollowers'];
}) {
  const more = followers.length - FOLLOWERS_SHOWN_MAX;
  return (
    <Fact name="Followed by">
      {followers.slice(0, FOLLOWERS_SHOWN_MAX).map(({ run, machine, status }) => (
        <span key={run}>
          <Link to={`/runs/${encodeURIComponent(run)}`} title={`${machine}, ${status}`}>
            <code>…{run.slice(-8)}</code>
          </Link>{' '}
        </span>
      ))}
      {more > 0 && `and ${hasMore ? 'more than ' : ''}${showCount(more)} more`}
    </Fact>
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
