/** Whether what is shown is as it is now, and the switch that stops it from changing. */
import { stream, useLiveState } from '../services/live.tsx';
import type { LiveState } from '../services/stream.ts';

const WORDS: Record<LiveState, string> = {
  off: 'Idle',
  connecting: 'Connecting…',
  live: 'Live',
  stale: 'Stale: the store cannot be reached',
  lost: 'Reconnecting…',
  paused: 'Paused',
};

export function LiveBadge() {
  const state = useLiveState();
  const isPaused = state === 'paused';
  return (
    <div className="live" data-state={state}>
      <span className="live-state" role="status">
        <span className="dot" aria-hidden="true" />
        {WORDS[state]}
      </span>
      <button
        type="button"
        className="small"
        aria-pressed={isPaused}
        onClick={() => stream.pause(!isPaused)}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </div>
  );
}
