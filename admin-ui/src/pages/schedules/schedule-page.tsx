/** One schedule: when it ticks, what it gives to its machine, what came of it, and how to stop it. */
import { type ReactNode, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { plural, showCount } from '../../format/words.ts';
import { go, Link } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { Schedule } from '../../services/fleet-types.ts';
import { useMayDo } from '../../services/session.tsx';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import { Json } from '../run/context-panel.tsx';
import { type Order, ScheduleDialog } from './schedule-dialog.tsx';
import { LastRun, ScheduleState } from './schedule-parts.tsx';
import { inZone, missedText, pathOf, runsOf, saidBy, skippedText } from './schedule-words.ts';
import '../../styles/acts.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/fleet.css';
import '../../styles/throttles.css';
import '../../styles/queues.css';

const BEAT_MS = 5_000;
const NEXT_COUNT = 10;

export function SchedulePage({ name }: { name: string }) {
  const path = `${pathOf(name)}?next=${NEXT_COUNT}`;
  const { data, error, reload } = useLoad(name, (signal) => get<Schedule>(path, signal));
  const [order, setOrder] = useState<Order>();
  const mayOperate = useMayDo('operate');
  const isThere = mayOperate && data !== undefined && data.status !== 'removed';
  const turn: Order = data?.status === 'paused' ? 'resume' : 'pause';
  useBeat(BEAT_MS, reload);
  useTitle(`${name} · Schedules`);
  useKeys({
    ['Escape']: () => go('/schedules'),
    s: () => isThere && setOrder(turn),
    n: () => isThere && setOrder('run'),
  });
  return (
    <main className="fleet-page">
      <div className="page-head">
        <Link to="/schedules" className="back">
          <Icon sign="back" />
          Schedules
        </Link>
        <LiveBadge />
      </div>
      {error && (!data || error.status === 404) ? (
        <Refusal error={error} onAgain={reload} />
      ) : !data ? (
        <Loading what="the schedule" />
      ) : (
        <>
          <Head schedule={data}>{isThere && <Buttons {...{ turn, onOrder: setOrder }} />}</Head>
          <Panel title="Next ticks">
            <Ticks schedule={data} />
          </Panel>
          <Panel title="Input of each run">
            <Json value={data.input} what="the input" />
          </Panel>
        </>
      )}
      {order && data && (
        <ScheduleDialog
          schedule={data}
          order={order}
          onClose={() => setOrder(undefined)}
          onDone={reload}
        />
      )}
    </main>
  );
}

function Buttons({ turn, onOrder }: { turn: Order; onOrder: (order: Order) => void }) {
  return (
    <span className="throttle-buttons">
      <button type="button" title="n" onClick={() => onOrder('run')}>
        Run it now
      </button>
      <button type="button" title="s" onClick={() => onOrder(turn)}>
        {turn === 'pause' ? 'Pause it' : 'Resume it'}
      </button>
      <button type="button" onClick={() => onOrder('remove')}>
        Remove it
      </button>
    </span>
  );
}

function Head({ schedule, children }: { schedule: Schedule; children: ReactNode }) {
  const { name, machine, cron, zone, trouble, ticks, queue, priority, jitterMs } = schedule;
  return (
    <header className="panel pod-head">
      <div className="pod-title">
        <h1>{name}</h1>
        <ScheduleState schedule={schedule} />
        {children}
      </div>
      {trouble !== undefined && (
        <p className="notice" role="status">
          {trouble}
        </p>
      )}
      <dl className="facts">
        <Fact name="Machine">
          <Link to={`/machines/${encodeURIComponent(machine)}`}>{machine}</Link>
        </Fact>
        <Fact name="When">
          <span>
            <code>{cron}</code> in {zone}
          </span>
        </Fact>
        <Fact name="Last run">
          <LastRun schedule={schedule} />
        </Fact>
        <Fact name="Its runs">
          {schedule.lastRun === undefined ? (
            'none yet'
          ) : (
            <Link to={runsOf(name)}>of {plural(ticks, 'tick')}, and asked for</Link>
          )}
        </Fact>
        <Fact name="Where ticks were missed">{missedText(schedule.missed)}</Fact>
        {schedule.overlap === 'skip' && (
          <Fact name="One run at a time">{skippedText(schedule.skipped)}</Fact>
        )}
        {jitterMs > 0 && <Fact name="Put off by">up to {showSpan(jitterMs)}</Fact>}
        {schedule.tickAs !== undefined && <Fact name="Told the tick as">{schedule.tickAs}</Fact>}
        <Fact name="Queue">{queue}</Fact>
        {priority !== 0 && <Fact name="Priority">{showCount(priority)}</Fact>}
        <Fact name="Said by">{saidBy(schedule)}</Fact>
        <Fact name="Changed">
          <Time at={schedule.updatedAt} />
        </Fact>
      </dl>
    </header>
  );
}

function Ticks({ schedule: { next, zone } }: { schedule: Schedule }) {
  if (next.length === 0) return <p className="nothing">None is to come.</p>;
  return (
    <ol className="plain-list">
      {next.map((tick) => (
        <li key={tick}>
          <Time at={tick} />{' '}
          <span className="quiet">
            {inZone(tick, zone)} in {zone}
          </span>
        </li>
      ))}
    </ol>
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
