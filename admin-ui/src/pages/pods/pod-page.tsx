/** One pod: what it says of itself, what it holds, what it can do, and what became of its runs. */
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Meter } from '../../components/meter.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { backTo, go, Link } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import type { PodRow } from '../../services/fleet-types.ts';
import { useMayDo } from '../../services/session.tsx';
import type { RunPage } from '../../services/types.ts';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import { RunLines } from '../run-lines.tsx';
import { DrainDialog } from './drain-dialog.tsx';
import { Crown, Heartbeat, PodStatus } from './pod-parts.tsx';
import { endOf, ownRoutes, stateOf } from './pod-state.ts';
import { SweepLog } from './sweep-log.tsx';
import { usePods } from './use-pods.ts';
import '../../styles/acts.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/fleet.css';

const RUNS_MAX = 20;
const LOOK_MS = 3_000;

export function PodPage({ id }: { id: string }) {
  const { pods, sweeps, nameOf, reload } = usePods();
  const [isDraining, setDraining] = useState(false);
  const mayDrain = useMayDo('admin');
  const filter = `pod:${id}`;
  const runs = useLoad(id, (signal) =>
    get<RunPage>(`/runs${queryText({ filter, limit: RUNS_MAX })}`, signal),
  );
  useBeat(LOOK_MS, runs.reload);
  const pod = pods.data?.pods.find((each) => each.pod === id);
  const canDrain = mayDrain && pod !== undefined && stateOf(pod) === 'up';
  useTitle(pod ? `${pod.name} · Pods` : 'Pods');
  useKeys({
    ['Escape']: () => go(backTo('/pods')),
    d: () => canDrain && setDraining(true),
  });
  return (
    <main className="fleet-page">
      <div className="page-head">
        <Link to={backTo('/pods')} className="back">
          <Icon sign="back" />
          Pods
        </Link>
        <LiveBadge />
      </div>
      {pods.error && !pods.data ? (
        <Refusal error={pods.error} onAgain={reload} />
      ) : !pods.data ? (
        <Loading what="the pod" />
      ) : !pod ? (
        <div className="nothing panel">
          <h1>There is no such pod</h1>
          <p>It may have been forgotten: pods that left are kept for a while.</p>
          <Link to="/pods?all=true">All pods</Link>
        </div>
      ) : (
        <>
          <Head pod={pod} nameOf={nameOf}>
            {canDrain && (
              <button type="button" onClick={() => setDraining(true)}>
                Drain
              </button>
            )}
          </Head>
          <div className="fleet-columns">
            <div className="fleet-main">
              <Panel
                title="Runs in hand"
                aside={
                  <Link to={`/runs?q=${encodeURIComponent(filter)}`} className="aside-link">
                    Open as a list
                  </Link>
                }
              >
                <RunLines loaded={runs} nothing="It holds no runs." />
              </Panel>
              <SweepLog loaded={sweeps} nameOf={nameOf} pod={id} />
            </div>
            <Panel title="Machines">
              <Machines pod={pod} />
            </Panel>
          </div>
        </>
      )}
      {isDraining && pod && (
        <DrainDialog
          pod={pod}
          pods={pods.data?.pods ?? []}
          onClose={() => setDraining(false)}
          onDone={reload}
        />
      )}
    </main>
  );
}

interface HeadProps {
  readonly pod: PodRow;
  readonly nameOf: (pod: string) => string;
  readonly children: ReactNode;
}

function Head({ pod, nameOf, children }: HeadProps) {
  const { report } = pod;
  const isThere = pod.status === 'up' || pod.status === 'draining';
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return (
    <header className="panel pod-head">
      <div className="pod-title">
        <h1>{pod.name}</h1>
        {pod.isLeader && <Crown />}
        <PodStatus pod={pod} />
        {children}
      </div>
      <p className="run-id">
        <code>{pod.pod}</code>
        <CopyButton text={pod.pod} what="the id" />
      </p>
      <dl className="facts">
        {isThere && <Fact name="Last heartbeat" value={<Heartbeat pod={pod} />} />}
        <Fact name="Born" value={<Time at={pod.bornAt} />} />
        {pod.deadAt !== undefined && (
          <Fact
            name="Ended"
            value={
              <>
                <Time at={pod.deadAt} />, {endOf(pod, nameOf)}
              </>
            }
          />
        )}
        <Fact name="Holds" value={pod.claimCount} />
        {isThere && report?.slots !== undefined && (
          <Fact
            name="Slots"
            value={<Meter value={report.busy ?? 0} max={report.slots} label="at work" />}
          />
        )}
        {isThere && report?.capacity !== undefined && (
          <Fact name="Takes at most" value={report.capacity} />
        )}
        {isThere && report?.unflushed !== undefined && (
          <Fact name="Not archived yet" value={report.unflushed} />
        )}
        {isThere && report?.loop !== undefined && (
          <Fact name="Event loop" value={percent(report.loop)} />
        )}
        {isThere && report?.memory !== undefined && (
          <Fact name="Memory" value={percent(report.memory)} />
        )}
        {report?.version && <Fact name="Version" value={report.version} />}
        <Fact name="Boot" value={pod.boot} />
      </dl>
    </header>
  );
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Machines({ pod }: { pod: PodRow }) {
  const routes = ownRoutes(pod);
  if (routes.length === 0) return <p className="nothing">It has no machines of yours.</p>;
  return (
    <ul className="plain-list">
      {routes.map((route) => {
        const at = route.lastIndexOf('@');
        const name = route.slice(0, at);
        return (
          <li key={route}>
            <Link to={`/machines/${encodeURIComponent(name)}`}>{name}</Link>
            <span className="quiet">{route.slice(at)}</span>
          </li>
        );
      })}
    </ul>
  );
}
