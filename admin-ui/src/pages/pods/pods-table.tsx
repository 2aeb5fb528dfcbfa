/** The pods, those that need a look first. */
import { useRef, useState } from 'react';
import { Meter } from '../../components/meter.tsx';
import { Time } from '../../components/time.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { PodRow } from '../../services/fleet-types.ts';
import { Crown, Heartbeat, PodStatus } from './pod-parts.tsx';
import { endOf, hasLeft, ownRoutes, stateOf } from './pod-state.ts';

/** More are shown when somebody asks for them. */
const SHOWN_AT_ONCE = 100;

interface PodsTableProps {
  readonly pods: readonly PodRow[];
  readonly nameOf: (pod: string) => string;
  readonly mayDrain: boolean;
  readonly onDrain: (pod: PodRow) => void;
}

export function PodsTable({ pods, nameOf, mayDrain, onDrain }: PodsTableProps) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  return (
    <div className="panel data-scroll" ref={table}>
      <table className="data pods-table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Pod</th>
            <th scope="col">Heartbeat</th>
            <th scope="col">Busy</th>
            <th scope="col" className="wide">
              Holds
            </th>
            <th scope="col" className="wide">
              Version
            </th>
            <th scope="col" className="wide">
              Machines
            </th>
            <th scope="col" className="wide">
              Born
            </th>
            <th scope="col">
              <span className="offscreen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {pods.slice(0, shown).map((pod) => (
            <Row key={pod.pod} {...{ pod, nameOf, mayDrain, onDrain }} />
          ))}
        </tbody>
      </table>
      {pods.length > shown && (
        <p className="data-foot">
          <button type="button" className="small" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
            Show more of {pods.length}
          </button>
        </p>
      )}
    </div>
  );
}

function Row({ pod, nameOf, mayDrain, onDrain }: Omit<PodsTableProps, 'pods'> & { pod: PodRow }) {
  const state = stateOf(pod);
  const isThere = !hasLeft(pod) && state !== 'dead';
  const routes = ownRoutes(pod);
  const { busy, slots, capacity, version } = pod.report ?? {};
  const isFull = capacity !== undefined && pod.claimCount >= capacity;
  return (
    <tr data-state={state}>
      <td>
        <PodStatus pod={pod} />
      </td>
      <td>
        <span className="pod-name">
          <Link to={`/pods/${encodeURIComponent(pod.pod)}`} title={pod.pod} data-row>
            {pod.name}
          </Link>
          {pod.isLeader && <Crown />}
          <span className="quiet mono">…{pod.pod.slice(-6)}</span>
        </span>
      </td>
      <td>{isThere ? <Heartbeat pod={pod} /> : <Ended pod={pod} nameOf={nameOf} />}</td>
      <td>
        {isThere && slots !== undefined ? (
          <>
            <Meter value={busy ?? 0} max={slots} label={`${busy ?? 0} of ${slots} slots at work`} />
            {isFull && (
              <small
                className="full"
                title={`It takes ${capacity} at most: what comes back from a wait is to find a slot`}
              >
                full
              </small>
            )}
          </>
        ) : (
          <span className="quiet">–</span>
        )}
      </td>
      <td className="wide number">
        {pod.claimCount > 0 ? (
          <Link to={`/runs?q=${encodeURIComponent(`pod:${pod.pod}`)}`}>
            {plural(pod.claimCount, 'run')}
          </Link>
        ) : (
          <span className="quiet">nothing</span>
        )}
      </td>
      <td className="wide">{version ?? <span className="quiet">–</span>}</td>
      <td className="wide" title={routes.join('\n')}>
        {routes.length > 2 ? (
          <>
            {routes[0]} <span className="quiet">and {routes.length - 1} more</span>
          </>
        ) : (
          routes.join(', ') || <span className="quiet">none</span>
        )}
      </td>
      <td className="wide">
        <Time at={pod.bornAt} />
      </td>
      <td className="data-act">
        {mayDrain && state === 'up' && (
          <button
            type="button"
            className="small"
            aria-label={`Drain ${pod.name}`}
            onClick={() => onDrain(pod)}
          >
            Drain
          </button>
        )}
      </td>
    </tr>
  );
}

function Ended({ pod, nameOf }: { pod: PodRow; nameOf: (pod: string) => string }) {
  return (
    <span className="quiet pod-ended">
      <Time at={pod.deadAt ?? pod.beatAt} />
      {pod.deadBy !== undefined && `, ${endOf(pod, nameOf)}`}
    </span>
  );
}
