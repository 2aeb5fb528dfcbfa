/**
 * How a process that holds a fleet ends.
 *
 *   SIGTERM, SIGINT     drain within the budget, exit 0
 *   asked to drain      the same; whoever asks is no signal, so that one that follows does not hurry it
 *   a second signal     exit at once, 143 or 130: phases in hand count as interrupted
 *   nobody caught it    running phases are marked as interrupted, the journal is synced, exit 70
 *
 * In each case every unfinished run goes on in the next process that opens the data directory.
 */
import { namesOf, refuseUnknownOptions } from './config/known-options.ts';
import { type Duration, describeError } from './ground/index.ts';
import { isHeard, tell } from './telemetry/events.ts';

/** What is governed; a Fleet is one. */
export interface Governed {
  drain(options?: { readonly budget?: Duration | undefined }): Promise<unknown>;
  stopNow(): void;
  /** Takes what is to happen when somebody asks it to drain. */
  drainBy?(act: () => void): void;
}

export interface GovernOptions {
  /** How long phases in hand may take to finish; 25 s by default. */
  readonly drainBudget?: Duration | undefined;
  /** What to stop once nothing is being executed any more, such as a server that shows runs. */
  readonly afterDrain?: (() => void | Promise<void>) | undefined;
  /** What to exit with after a drain; 0 by default, since a drain is how a service ends well. */
  readonly exitCode?: number | undefined;
}

const GOVERN_NAMES = namesOf<GovernOptions>({
  drainBudget: true,
  afterDrain: true,
  exitCode: true,
});

export const EXIT_CRASHED = 70;
const EXIT_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_OF_SIGNAL;

/** Takes over signals and uncaught errors of this process for `fleet`; answers how to let go. */
export function governProcess(fleet: Governed, options: GovernOptions = {}): () => void {
  refuseUnknownOptions(options, GOVERN_NAMES, 'governProcess');
  let signalCount = 0;
  let isCrashing = false;

  const crash = (thrown: unknown, origin: string): never => {
    // A failure while failing: nothing is left to try.
    if (isCrashing) process.exit(EXIT_CRASHED);
    isCrashing = true;
    const error = describeError(thrown);
    if (isHeard('process.crashed')) tell('process.crashed', () => ({ origin, error }));
    else process.stderr.write(`fleetq: ${origin}: ${error.stack ?? error.message}\n`);
    stopQuietly(fleet);
    process.exit(EXIT_CRASHED);
  };
  const onSignal = (signal: Signal) => {
    signalCount++;
    tell('process.signalled', () => ({ signal, count: signalCount }));
    if (signalCount > 1) {
      stopQuietly(fleet);
      process.exit(EXIT_OF_SIGNAL[signal]);
    }
    drain();
  };
  const drain = () => {
    endWell(fleet, options).catch((thrown) => crash(thrown, 'failure to drain'));
  };
  fleet.drainBy?.(drain);
  const onException = (thrown: unknown, origin: string) => crash(thrown, origin);
  const onRejection = (thrown: unknown) => crash(thrown, 'unhandledRejection');

  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
  };
}

/** Drained as on a first signal, however often it is asked for; then the process is no more. */
async function endWell(fleet: Governed, options: GovernOptions): Promise<void> {
  await fleet.drain(options.drainBudget === undefined ? {} : { budget: options.drainBudget });
  await options.afterDrain?.();
  process.exit(options.exitCode ?? 0);
}

/** The journal's mark says what was running in any case; closing it well makes that exact. */
function stopQuietly(fleet: Governed): void {
  try {
    fleet.stopNow();
  } catch (thrown) {
    process.stderr.write(`fleetq: the journal was not closed: ${describeError(thrown).message}\n`);
  }
}
