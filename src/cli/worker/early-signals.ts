/**
 * Signals that come while a pod is still starting, when nobody governs the process yet. The first one
 * of a container gets no signal that it does not listen for: a SIGTERM in these seconds would be lost,
 * and the pod killed at the end of its grace, in the middle of whatever it has claimed by then.
 */
import { Exit } from '../exit.ts';

type Signal = 'SIGINT' | 'SIGTERM';

/** Listens at once. To be called when somebody else does: that one then gets what has come meanwhile. */
export function keepSignals(): () => void {
  let kept: Signal | undefined;
  const onSignal = (signal: Signal) => {
    // Who asks twice does not want to wait.
    if (kept !== undefined) process.exit(signal === 'SIGINT' ? Exit.interrupted : Exit.terminated);
    kept = signal;
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    if (kept !== undefined) process.kill(process.pid, kept);
  };
}
