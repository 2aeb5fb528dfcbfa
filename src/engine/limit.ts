/** How long a phase may take, and who waits for that. */
import type { Cancel, Clock } from '../ground/index.ts';
import type { LiveRun } from './live-run.ts';

export interface Limit {
  readonly ms: number;
  readonly why: 'timeout' | 'deadline';
}

/** The nearer of the phase's timeout and the run's deadline. */
export function limitOf(
  clock: Clock,
  run: LiveRun,
  timeoutMs: number | undefined,
): Limit | undefined {
  const { deadlineAt } = run.state;
  const leftMs = deadlineAt === undefined ? undefined : deadlineAt - clock.now();
  if (leftMs !== undefined && (timeoutMs === undefined || leftMs < timeoutMs)) {
    return { ms: leftMs, why: 'deadline' };
  }
  return timeoutMs === undefined ? undefined : { ms: timeoutMs, why: 'timeout' };
}

/**
 * Acts once so much time has passed. Timers may fire a little early, and much too early where the
 * time is longer than they can be.
 */
export function afterAll(clock: Clock, ms: number, act: () => void): Cancel {
  const begunMs = clock.monotonicMs();
  const look = () => {
    const leftMs = ms - (clock.monotonicMs() - begunMs);
    if (leftMs > 0) cancel = clock.after(leftMs, look);
    else act();
  };
  let cancel = clock.after(ms, look);
  return () => cancel();
}
