/**
 * Signals that come while a pod is still starting, when nobody governs the process yet. They need a
 * listener of their own: process number 1 of a container gets no signal that nobody listens for, so a
 * SIGTERM in these seconds would be lost, and the pod killed at the end of its grace.
 *
 *   nothing is in hand yet       end at once, and well
 *   its runs go on already       kept for whoever will govern the process, which drains
 */
import { listen } from '../../telemetry/events.ts';
import { Exit } from '../exit.ts';

type Signal = 'SIGINT' | 'SIGTERM';

/** Listens from now on; to be let go of when somebody else listens, who gets what was kept. */
export function keepSignals(
  of: Pick<NodeJS.Process, 'on' | 'off' | 'exit' | 'kill' | 'pid'> = process,
): () => void {
  let isWorking = false;
  let kept: Signal | undefined;
  const onSignal = (signal: Signal) => {
    if (!isWorking) of.exit(Exit.ok);
    // Who asks twice does not want to wait.
    if (kept !== undefined) of.exit(signal === 'SIGINT' ? Exit.interrupted : Exit.terminated);
    kept = signal;
  };
  const unlisten = listen('engine.started', () => {
    isWorking = true;
  });
  of.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => {
    unlisten();
    of.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    if (kept !== undefined) of.kill(of.pid, kept);
  };
}
