/** One machine: what its phases take, its last runs phase by phase, its versions, and how to start it. */
import { useMemo, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { plural } from '../../format/words.ts';
import { backTo, go, Link } from '../../router/router.tsx';
import { get, queryText } from '../../services/api.ts';
import type { MachineRow, TimedRuns } from '../../services/fleet-types.ts';
import { useMayDo, useSession } from '../../services/session.tsx';
import { useBeat } from '../../services/use-beat.ts';
import { type Loaded, useLoad } from '../../services/use-load.ts';
import { lineOf, statsOf } from './machine-rows.ts';
import { PhaseGrid } from './phase-grid.tsx';
import { PhaseTimes } from './phase-times.tsx';
import { StartDialog } from './start-dialog.tsx';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/fleet.css';
import '../../styles/machines.css';

const BEAT_MS = 5_000;
const RUNS_MAX = 60;

export function MachinePage({ name }: { name: string }) {
  useTitle(`${name} · Machines`);
  const hasStore = useSession().status.serves?.store !== false;
  const [isStarting, setStarting] = useState(false);
  const mayStart = useMayDo('operate');
  const machines = useLoad('machines', (signal) =>
    get<{ machines: MachineRow[] }>('/machines', signal),
  );
  const filter = `machine:${JSON.stringify(name)}`;
  const timed = useLoad(hasStore ? name : undefined, (signal) =>
    get<TimedRuns>(`/runs/phases${queryText({ filter, limit: RUNS_MAX })}`, signal),
  );
  useBeat(BEAT_MS, () => {
    machines.reload();
    timed.reload();
  });
  const versions = (machines.data?.machines ?? []).filter((machine) => machine.name === name);
  const here = versions.find(({ isHere }) => isHere);
  const canStart = mayStart && here !== undefined;
  useKeys({ ['Escape']: () => go(backTo('/machines')), n: () => canStart && setStarting(true) });
  return (
    <main className="fleet-page">
      <div className="page-head">
        <Link to={backTo('/machines')} className="back">
          <Icon sign="back" />
          Machines
        </Link>
        <LiveBadge />
      </div>
      <header className="machine-head">
        <h1>{name}</h1>
        <Link to={`/runs?q=${encodeURIComponent(filter)}`}>Its runs</Link>
        {canStart && (
          <button type="button" className="primary" onClick={() => setStarting(true)}>
            <Icon sign="play" />
            Start a run
          </button>
        )}
        {mayStart && machines.data && versions.length > 0 && !here && (
          <span className="quiet">Only a process that has the machine can start it.</span>
        )}
      </header>
      {machines.error && !machines.data ? (
        <Refusal error={machines.error} onAgain={machines.reload} />
      ) : !machines.data ? (
        <Loading what="the machine" />
      ) : versions.length === 0 ? (
        <div className="nothing panel">
          <strong>Nobody has a machine of this name.</strong>
          <Link to="/machines">All machines</Link>
        </div>
      ) : (
        <>
          {hasStore && <Timed timed={timed} versions={versions} />}
          <Versions versions={versions} />
        </>
      )}
      {isStarting && here && <StartDialog machine={here} onClose={() => setStarting(false)} />}
    </main>
  );
}

function Timed({ timed, versions }: { timed: Loaded<TimedRuns>; versions: readonly MachineRow[] }) {
  const runs = timed.data?.runs ?? [];
  const stats = useMemo(() => statsOf(runs, lineOf(versions)), [runs, versions]);
  if (timed.error && !timed.data) return <Refusal error={timed.error} onAgain={timed.reload} />;
  if (!timed.data) return <Loading what="its last runs" />;
  return (
    <>
      <Panel title="Runs by phase">
        {runs.length === 0 ? (
          <p className="nothing">It has no runs yet.</p>
        ) : (
          <PhaseGrid runs={runs} stats={stats} />
        )}
      </Panel>
      <Panel title="Phase times">
        <PhaseTimes stats={stats} runs={runs.filter(({ phases }) => phases.length > 0).length} />
      </Panel>
    </>
  );
}

function Versions({ versions }: { versions: readonly MachineRow[] }) {
  return (
    <Panel title="Versions in flight">
      <div className="data-scroll">
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col" className="right">
                Pods
              </th>
              <th scope="col" className="right">
                Running
              </th>
              <th scope="col" className="right">
                Pending
              </th>
              <th scope="col" className="right">
                Waiting
              </th>
              <th scope="col" className="wide">
                First seen
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map((row) => (
              <Version key={row.version} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Version({ row }: { row: MachineRow }) {
  const { name, version, pods = 0, claimed = 0, pending = 0, waiting = 0, blocked = 0 } = row;
  const filter = `machine:${JSON.stringify(name)} version:${version} is:unfinished`;
  return (
    <tr>
      <td>
        <Link to={`/runs?q=${encodeURIComponent(filter)}`}>@{version}</Link>
        {blocked > 0 && (
          <span className="version-why">
            {plural(blocked, 'run')} blocked{row.why ? `: ${row.why}` : ''}
          </span>
        )}
      </td>
      <td className="right number">{pods}</td>
      <td className="right number">{claimed}</td>
      <td className="right number">{pending}</td>
      <td className="right number">{waiting}</td>
      <td className="wide">
        {row.firstSeenAt === undefined ? (
          <span className="quiet">–</span>
        ) : (
          <Time at={row.firstSeenAt} />
        )}
      </td>
    </tr>
  );
}
