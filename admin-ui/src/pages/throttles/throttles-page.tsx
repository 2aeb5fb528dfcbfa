/** The APIs that the fleet calls: what each takes, what is out, what waits, what was refused. */
import { useRef } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { useTitle } from '../../components/use-title.ts';
import { showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { Throttle, ThrottlePage } from '../../services/fleet-types.ts';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import { Mood, Out } from './throttle-parts.tsx';
import { pathOf, showBasis, showLimit, showParked, worstFirst } from './throttle-words.ts';
import '../../styles/fleet.css';
import '../../styles/throttles.css';

const BEAT_MS = 3_000;
const COUNT_MAX = 200;

export function ThrottlesPage() {
  useTitle('Throttles');
  const path = `/throttles?limit=${COUNT_MAX}`;
  const { data, error, reload } = useLoad('throttles', (signal) => get<ThrottlePage>(path, signal));
  useBeat(BEAT_MS, reload);
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Throttles</h1>
        {data && <span className="count number">{data.throttles.length}</span>}
        <LiveBadge />
      </header>
      <Boundary name="The throttles">
        {error && !data ? (
          <Refusal error={error} onAgain={reload} />
        ) : !data ? (
          <Loading what="the APIs" />
        ) : data.throttles.length === 0 ? (
          <div className="nothing panel">
            <strong>No pod has called an API yet.</strong>
            <p>
              A phase does it with <code>use(&apos;llm&apos;, call)</code>
            </p>
          </div>
        ) : (
          <Table throttles={data.throttles} />
        )}
      </Boundary>
      {data?.cursor !== undefined && (
        <p className="list-foot">
          There are more: <code>fleetq throttles list</code> has them all.
        </p>
      )}
    </main>
  );
}

function Table({ throttles }: { throttles: readonly Throttle[] }) {
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  return (
    <div className="panel data-scroll" ref={table}>
      <table className="data throttles-table">
        <thead>
          <tr>
            <th scope="col">API</th>
            <th scope="col">State</th>
            <th scope="col" className="right wide">
              Limit
            </th>
            <th scope="col" className="wide">
              Goes by
            </th>
            <th scope="col">Out</th>
            <th scope="col" className="right">
              Waiting
            </th>
            <th scope="col" className="right">
              Parked
            </th>
            <th scope="col" className="right wide">
              Refused in 10 s
            </th>
            <th scope="col" className="right wide">
              Pods
            </th>
            <th scope="col" className="wide">
              In a sentence
            </th>
          </tr>
        </thead>
        <tbody>
          {worstFirst(throttles).map((throttle) => (
            <Row key={throttle.api} throttle={throttle} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ throttle }: { throttle: Throttle }) {
  const { api, cap, now, pods, state } = throttle;
  return (
    <tr>
      <td className="api">
        <Link to={pathOf(api)} title={api} data-row>
          {api}
        </Link>
      </td>
      <td>
        <Mood throttle={throttle} />
      </td>
      <td className="right number wide">{showLimit(cap)}</td>
      <td className="wide">{showBasis(throttle)}</td>
      <td>
        <Out throttle={throttle} />
      </td>
      <td className="right number">{showCount(now?.waiting ?? 0)}</td>
      <td className="right number">{showParked(throttle)}</td>
      <td className="right number wide">{now ? `${now.throttled} of ${now.sent}` : '–'}</td>
      <td className="right number wide">{pods.length}</td>
      <td className="wide sentence">{state}</td>
    </tr>
  );
}
