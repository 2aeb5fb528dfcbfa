/** Queues as rows: how full each is, since when its first task is due, whether it stands still. */
import { type RefObject, useRef } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { Meter } from '../../components/meter.tsx';
import { Time } from '../../components/time.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Queue } from '../../services/fleet-types.ts';
import type { What } from './flow.ts';

interface TableProps {
  readonly queues: readonly Queue[];
  readonly mayOperate: boolean;
  readonly onWish: (what: What, name: string) => void;
}

export function QueuesTable({ queues, mayOperate, onWish }: TableProps) {
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  const at = (act: (queue: Queue) => void) => () => {
    const queue = mayOperate ? focused(table, queues) : undefined;
    if (queue) act(queue);
  };
  useKeys({
    f: at(({ queue }) => onWish('queue.limit', queue)),
    s: at((row) => onWish(turnOf(row), row.queue)),
  });
  return (
    <div className="panel data-scroll" ref={table}>
      <table className="data queues-table">
        <thead>
          <tr>
            <th scope="col">Queue</th>
            <th scope="col">Claimed</th>
            <th scope="col" className="right">
              Pending
            </th>
            <th scope="col" className="right wide">
              Waiting
            </th>
            <th scope="col" className="wide">
              First one due
            </th>
            <th scope="col">State</th>
            {mayOperate && (
              <th scope="col">
                <span className="offscreen">What to do</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <Row key={queue.queue} {...{ queue, mayOperate, onWish }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const turnOf = ({ isPaused }: Queue): What => (isPaused ? 'queue.resume' : 'queue.pause');

/** The one in whose row the focus is. */
function focused(table: RefObject<HTMLElement | null>, queues: readonly Queue[]) {
  const rows = [...(table.current?.querySelectorAll('tbody tr') ?? [])];
  return queues[rows.findIndex((row) => row.contains(document.activeElement))];
}

const runsOf = (queue: string, rest: string) =>
  `/runs?q=${encodeURIComponent(`queue:${JSON.stringify(queue)} ${rest}`)}`;

interface RowProps extends Omit<TableProps, 'queues'> {
  readonly queue: Queue;
}

function Row({ queue: row, mayOperate, onWish }: RowProps) {
  const { queue, pending, waiting, dueAt } = row;
  return (
    <tr data-paused={row.isPaused || undefined}>
      <td>
        <Link to={runsOf(queue, 'is:unfinished')} className="queue-name" data-row>
          {queue}
        </Link>
      </td>
      <td>
        <Claimed queue={row} />
      </td>
      <td className="right number">
        <Count count={pending} to={runsOf(queue, 'status:pending')} />
      </td>
      <td className="right number wide">
        <Count count={waiting} to={runsOf(queue, 'status:waiting')} />
      </td>
      <td className="wide">
        {dueAt === undefined ? <span className="quiet">–</span> : <Time at={dueAt} />}
      </td>
      <td>
        <State queue={row} />
      </td>
      {mayOperate && (
        <td className="data-act queue-acts">
          <button
            type="button"
            className="small"
            aria-label={`Limit ${queue}`}
            onClick={() => onWish('queue.limit', queue)}
          >
            Limit
          </button>{' '}
          <button
            type="button"
            className="small"
            aria-label={`${row.isPaused ? 'Resume' : 'Pause'} ${queue}`}
            onClick={() => onWish(turnOf(row), queue)}
          >
            {row.isPaused ? 'Resume' : 'Pause'}
          </button>
        </td>
      )}
    </tr>
  );
}

function Count({ count, to }: { count: number; to: string }) {
  if (count === 0) return <span className="quiet">0</span>;
  return <Link to={to}>{showCount(count)}</Link>;
}

function Claimed({ queue: { claimed, limit } }: { queue: Queue }) {
  if (limit === undefined) {
    return (
      <span className="number" title="It has no limit">
        {showCount(claimed)}
      </span>
    );
  }
  const label = `${claimed} of at most ${limit} are claimed`;
  return <Meter value={claimed} max={limit} label={label} warnAt={1} />;
}

function State({
  queue: { isPaused, pausedBy, pausedAt, claimed, limit, pending },
}: {
  queue: Queue;
}) {
  if (isPaused) return <Paused by={pausedBy} at={pausedAt} />;
  // With a limit of 0 nothing is let in, whether or not anything wants to.
  const isFull = limit !== undefined && claimed >= limit && (pending > 0 || limit === 0);
  return (
    <span className="mood" data-mood={isFull ? 'busy' : 'fine'}>
      <Icon sign={isFull ? 'throttles' : 'up'} />
      {!isFull ? 'Open' : limit === 0 ? 'Closed' : 'Full'}
    </span>
  );
}

/** Who let it stand still, and when. */
export function Paused({ by, at }: { by: string | undefined; at: number | undefined }) {
  return (
    <span className="mood paused-by" data-mood="alone">
      <Icon sign="pause" />
      <span>
        Paused by {by ?? 'somebody'}
        {at !== undefined && (
          <>
            , <Time at={at} />
          </>
        )}
      </span>
    </span>
  );
}
