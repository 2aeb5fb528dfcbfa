/** What is shown of an API wherever it is shown. */
import { Icon, type Sign } from '../../components/icon.tsx';
import { Meter } from '../../components/meter.tsx';
import { Time } from '../../components/time.tsx';
import type { Throttle } from '../../services/fleet-types.ts';
import { type Mood as MoodOf, moodLabel, moodOf, permitsOf, showLimit } from './throttle-words.ts';

const SIGN: Record<MoodOf, Sign> = {
  fine: 'up',
  busy: 'throttles',
  refused: 'errors',
  alone: 'drain',
  idle: 'pause',
  unknown: 'doubt',
};

export function Mood({ throttle }: { throttle: Throttle }) {
  const mood = moodOf(throttle);
  return (
    <span className="mood" data-mood={mood} title={throttle.state}>
      <Icon sign={SIGN[mood]} />
      {moodLabel(throttle)}
    </span>
  );
}

/** How many calls are out, of how many that may be. */
export function Out({ throttle: { cap, now } }: { throttle: Throttle }) {
  if (cap === undefined || !now) return <span className="quiet">–</span>;
  const most = permitsOf(cap);
  return (
    <Meter value={now.inFlight} max={most} label={`${now.inFlight} of ${most} permits are out`} />
  );
}

export function Pinned({ throttle }: { throttle: Throttle }) {
  const { pinned, pinnedBy, pinnedUntil } = throttle;
  if (pinned === undefined) return null;
  return (
    <span className="pinned">
      fixed to {showLimit(pinned)} by {pinnedBy}
      {pinnedUntil !== undefined && (
        <>
          , until <Time at={pinnedUntil} />
        </>
      )}
    </span>
  );
}
