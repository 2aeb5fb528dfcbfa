/** What runs again and again: when each ticks next, what came of the last tick, and what is wrong. */
import { useRef } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { useTitle } from '../../components/use-title.ts';
import { showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { queryText } from '../../services/api.ts';
import type { Schedule, SchedulePage } from '../../services/fleet-types.ts';
import { useBeat } from '../../services/use-beat.ts';
import { usePages } from '../../services/use-pages.ts';
import { LastRun, NextTicks, ScheduleState } from './schedule-parts.tsx';
import { pathOf, runsOf } from './schedule-words.ts';
import '../../styles/fleet.css';
import '../../styles/throttles.css';
import '../../styles/queues.css';

const BEAT_MS = 5_000;
const [COUNT_MAX, NEXT_COUNT] = [100, 3];

const listPath = (cursor: string | undefined) =>
  `/schedules${queryText({ cursor, limit: COUNT_MAX, next: NEXT_COUNT })}`;
const read = ({ schedules, cursor }: SchedulePage) => ({ rows: schedules, cursor });
const nameOf = ({ name }: Schedule) => name;

export function SchedulesPage() {
  useTitle('Schedules');
  const options = { path: listPath, read, keyOf: nameOf };
  const pages = usePages<SchedulePage, Schedule>('schedules', options);
  const { rows, cursor, error, isLoading, more, reload } = pages;
  useBeat(BEAT_MS, reload);
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Schedules</h1>
        {rows.length > 0 && (
          <span className="count number">
            {showCount(rows.length)}
            {cursor !== undefined && ' and more'}
          </span>
        )}
        <LiveBadge />
      </header>
      <Boundary name="The schedules">
        {rows.length > 0 ? (
          <Table schedules={rows} />
        ) : error ? (
          <Refusal error={error} onAgain={reload} />
        ) : isLoading ? (
          <Loading what="the schedules" />
        ) : (
          <div className="nothing panel">
            <strong>Nothing runs on a schedule.</strong>
            <p>
              <code>fleetq schedules set nightly report --cron &apos;0 2 * * *&apos;</code> makes
              one.
            </p>
          </div>
        )}
      </Boundary>
      {cursor !== undefined && (
        <p className="list-foot">
          <button type="button" className="small" disabled={isLoading} onClick={more}>
            Show more
          </button>
        </p>
      )}
    </main>
  );
}

function Table({ schedules }: { schedules: readonly Schedule[] }) {
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  return (
    <div className="panel data-scroll" ref={table}>
      <table className="data schedules-table">
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">State</th>
            <th scope="col" className="wide">
              Machine
            </th>
            <th scope="col" className="wide">
              When
            </th>
            <th scope="col">Next ticks</th>
            <th scope="col">Last run</th>
            <th scope="col" className="right wide">
              Ticks
            </th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <Row key={schedule.name} schedule={schedule} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ schedule }: { schedule: Schedule }) {
  const { name, machine, cron, zone, ticks } = schedule;
  return (
    <tr data-paused={schedule.status === 'paused' || undefined}>
      <td>
        <Link to={pathOf(name)} className="queue-name" data-row>
          {name}
        </Link>
      </td>
      <td>
        <ScheduleState schedule={schedule} />
      </td>
      <td className="wide">
        <Link to={`/machines/${encodeURIComponent(machine)}`} className="queue-name">
          {machine}
        </Link>
      </td>
      <td className="wide">
        <code>{cron}</code> <span className="quiet">{zone}</span>
      </td>
      <td>
        <NextTicks schedule={schedule} />
      </td>
      <td>
        <LastRun schedule={schedule} />
      </td>
      <td className="right number wide">
        {ticks === 0 ? (
          <span className="quiet">0</span>
        ) : (
          <Link to={runsOf(name)}>{showCount(ticks)}</Link>
        )}
      </td>
    </tr>
  );
}
