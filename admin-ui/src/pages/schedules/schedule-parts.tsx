/** What is shown of a schedule wherever it is shown. */
import { Icon, type Sign } from '../../components/icon.tsx';
import { Time, useSecond } from '../../components/time.tsx';
import { showSpan } from '../../format/time.ts';
import { now } from '../../platform/clock.ts';
import { Link } from '../../router/router.tsx';
import type { Schedule } from '../../services/fleet-types.ts';
import { inZone, lateMsOf, STATE_LABEL, STATE_WHY, type State, stateOf } from './schedule-words.ts';

const SIGN: Record<State, Sign> = {
  active: 'up',
  paused: 'pause',
  removed: 'close',
  unmanned: 'errors',
  trouble: 'errors',
  late: 'schedules',
};
const MOOD: Record<State, string> = {
  active: 'fine',
  paused: 'alone',
  removed: 'unknown',
  unmanned: 'refused',
  trouble: 'refused',
  late: 'busy',
};

export function ScheduleState({ schedule }: { schedule: Schedule }) {
  useSecond();
  const state = stateOf(schedule, now());
  const lateMs = lateMsOf(schedule, now());
  return (
    <span className="mood" data-mood={MOOD[state]} title={schedule.trouble ?? STATE_WHY[state]}>
      <Icon sign={SIGN[state]} />
      {STATE_LABEL[state]}
      {lateMs > 0 && ` ${showSpan(lateMs)}`}
    </span>
  );
}

/** The next ticks; in its own zone to whoever points at one. */
export function NextTicks({ schedule: { next, zone } }: { schedule: Schedule }) {
  if (next.length === 0) return <span className="quiet">none</span>;
  return (
    <span className="next-ticks">
      {next.map((tick) => (
        <span key={tick} title={inZone(tick, zone)}>
          <Time at={tick} />
        </span>
      ))}
    </span>
  );
}

export function LastRun({ schedule: { lastRun, lastRunAt } }: { schedule: Schedule }) {
  if (lastRun === undefined || lastRunAt === undefined) return <span className="quiet">never</span>;
  return (
    <Link to={`/runs/${encodeURIComponent(lastRun)}`} title={lastRun}>
      <Time at={lastRunAt} />
    </Link>
  );
}
