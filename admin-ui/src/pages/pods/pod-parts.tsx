/** What is shown of a pod wherever it is shown: how it stands, its crown, its heartbeat. */
import { useRef } from 'react';
import { Icon, type Sign } from '../../components/icon.tsx';
import { useSecond } from '../../components/time.tsx';
import { showSpan } from '../../format/time.ts';
import { now } from '../../platform/clock.ts';
import type { PodRow } from '../../services/fleet-types.ts';
import { type PodState, STATE_ABOUT, STATE_LABEL, stateOf } from './pod-state.ts';

const SIGN: Record<PodState, Sign> = {
  up: 'up',
  draining: 'drain',
  suspected: 'doubt',
  dead: 'close',
  swept: 'close',
  resting: 'pause',
  down: 'leave',
};

export function PodStatus({ pod }: { pod: PodRow }) {
  const state = stateOf(pod);
  return (
    <span className="pod-state" data-state={state} title={STATE_ABOUT[state]}>
      <Icon sign={SIGN[state]} />
      {STATE_LABEL[state]}
    </span>
  );
}

export function Crown() {
  return (
    <span
      className="crown"
      role="img"
      aria-label="leads"
      title="It leads: it looks after dead pods"
    >
      <Icon sign="crown" />
    </span>
  );
}

/** How long ago it was heard of, by the store's clock when it was asked and by ours since then. */
export function Heartbeat({ pod }: { pod: PodRow }) {
  const asked = useRef({ pod, at: now() });
  if (asked.current.pod !== pod) asked.current = { pod, at: now() };
  useSecond();
  const lagMs = pod.silentMs + now() - asked.current.at;
  const maxMs = pod.silenceMs ?? 0;
  const share = maxMs > 0 ? Math.min(1, lagMs / maxMs) : 0;
  const isOver = pod.isSilent || share >= 1;
  return (
    <span
      className="beat"
      data-level={isOver ? 'over' : share > 0.5 ? 'late' : 'fine'}
      title={maxMs > 0 ? `after ${showSpan(maxMs)} of silence it is taken for dead` : undefined}
    >
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect className="meter-room" width="100" height="4" />
        <rect className="beat-fill" width={Math.max(2, share * 100)} height="4" />
      </svg>
      <span className="number">{showSpan(lagMs)}</span>
    </span>
  );
}
