/** The machines: how much of each is under way, and where it does not get on. */
import { useRef } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { showCount } from '../../format/words.ts';
import { Link, usePlace, withQuery } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { Census, MachineRow } from '../../services/fleet-types.ts';
import { useSession } from '../../services/session.tsx';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import { isOwn, type MachineSum, sumsOf } from './machine-rows.ts';
import '../../styles/fleet.css';
import '../../styles/machines.css';

const BEAT_MS = 5_000;

export function MachinesPage() {
  useTitle('Machines');
  const hasStore = useSession().status.serves?.store !== false;
  const machines = useLoad('machines', (signal) =>
    get<{ machines: MachineRow[] }>('/machines', signal),
  );
  const census = useLoad(hasStore ? 'census' : undefined, (signal) =>
    get<Census>('/census', signal),
  );
  useBeat(BEAT_MS, () => {
    machines.reload();
    census.reload();
  });
  const place = usePlace();
  const isAll = place.query.get('own') === 'true';
  const all = machines.data ? sumsOf(machines.data.machines, census.data) : [];
  const sums = all.filter(({ name }) => isAll || !isOwn(name));
  const ownCount = all.filter(({ name }) => isOwn(name)).length;
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Machines</h1>
        {machines.data && <span className="count number">{sums.length}</span>}
        <LiveBadge />
      </header>
      <Boundary name="The machines">
        {machines.error && !machines.data ? (
          <Refusal error={machines.error} onAgain={machines.reload} />
        ) : !machines.data ? (
          <Loading what="machines" />
        ) : sums.length === 0 ? (
          <div className="nothing panel">
            <strong>No machine is known yet.</strong>
            <p>A pod announces its machines when it starts.</p>
          </div>
        ) : (
          <Table sums={sums} />
        )}
      </Boundary>
      {ownCount > 0 && (
        <p className="list-foot">
          <Link to={withQuery(place, { own: isAll ? undefined : 'true' })}>
            {isAll ? "Hide FleetQ's own" : `Show ${ownCount} of FleetQ's own`}
          </Link>
        </p>
      )}
    </main>
  );
}

const listOf = (filter: string) => `/runs?q=${encodeURIComponent(filter)}`;

function Table({ sums }: { sums: readonly MachineSum[] }) {
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  return (
    <div className="panel data-scroll" ref={table}>
      <table className="data machines-table">
        <thead>
          <tr>
            <th scope="col">Machine</th>
            <th scope="col" className="wide">
              Versions
            </th>
            <th scope="col" className="wide right">
              Pods
            </th>
            <th scope="col" className="right">
              Running
            </th>
            <th scope="col" className="right">
              Pending
            </th>
            <th scope="col" className="wide right">
              Waiting
            </th>
            <th scope="col" className="wide right">
              Blocked
            </th>
            <th scope="col" className="wide right">
              Due for
            </th>
            <th scope="col" className="right">
              Dead letters
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <Row key={sum.name} sum={sum} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ sum }: { sum: MachineSum }) {
  const { name, versions } = sum;
  const of = `machine:${JSON.stringify(name)}`;
  const pods = Math.max(0, ...versions.map((version) => version.pods ?? 0));
  return (
    <tr>
      <td>
        <Link to={`/machines/${encodeURIComponent(name)}`} data-row>
          {name}
        </Link>
      </td>
      <td className="wide">
        <span className="versions">
          {versions.slice(0, 4).map((version) => (
            <span key={version.version} className="tag" data-live={(version.pods ?? 0) > 0}>
              @{version.version}
            </span>
          ))}
          {versions.length > 4 && <span className="quiet">and {versions.length - 4} more</span>}
        </span>
      </td>
      <td className="wide right number">{pods}</td>
      <Count value={sum.claimed} to={listOf(`${of} status:claimed`)} kind="run" />
      <Count value={sum.pending} to={listOf(`${of} status:pending`)} kind="off" />
      <Count value={sum.waiting} to={listOf(`${of} status:waiting`)} kind="wait" isWide />
      <Count value={sum.blocked} to={listOf(`${of} is:blocked`)} kind="bad" isWide />
      <td className="wide right number">
        {sum.oldestMs === undefined ? <span className="quiet">–</span> : showSpan(sum.oldestMs)}
      </td>
      <Count value={sum.deadLetters} to={listOf(`${of} is:dead-letter`)} kind="bad" />
    </tr>
  );
}

interface CountProps {
  readonly value: number;
  readonly to: string;
  readonly kind: 'run' | 'off' | 'wait' | 'bad';
  readonly isWide?: boolean;
}

function Count({ value, to, kind, isWide = false }: CountProps) {
  return (
    <td className={`right number ${isWide ? 'wide' : ''}`}>
      {value === 0 ? (
        <span className="quiet">0</span>
      ) : (
        <Link to={to} className={`figure figure-${kind}`}>
          {showCount(value)}
        </Link>
      )}
    </td>
  );
}
