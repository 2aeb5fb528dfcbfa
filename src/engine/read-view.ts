/**
 * The view that the next phase of a run wants, waited for where its schemas are asynchronous: no
 * longer than the phase may take, and not once nobody wants it. A schema cannot be told to stop, so
 * it has no grace: it is left to itself at once, and whatever it says after that counts for nothing.
 */
import type { Clock } from '../ground/index.ts';
import type { Phase, PhasePolicy, RunEvent } from '../machine/index.ts';
import { PhaseTimeoutError } from './errors.ts';
import { judgeDeadline, judgeThrown } from './judge.ts';
import { afterAll, type Limit, limitOf } from './limit.ts';
import { followDeadline, isAsleep, type LiveRun, type RunView } from './live-run.ts';
import { viewOf } from './view.ts';

export interface ReadPorts {
  readonly clock: Clock;
  readonly chance: () => number;
}

/** A view, the event for a time that was up first, or nothing where the run is not to go on here. */
export type ViewRead = RunView | RunEvent | undefined;

/** Nothing of the author's is called, so no schema of the author's has to be asked. */
const NOTHING_SEEN: RunView = Object.freeze({ input: undefined, state: Object.freeze({}) });

/**
 * A deploy may have changed a schema so that a recorded value does not fit: nothing is guessed, and
 * `onUnfit` is told.
 */
export function readView(
  ports: ReadPorts,
  run: LiveRun,
  onUnfit: (run: LiveRun, error: unknown) => undefined,
): ViewRead | Promise<ViewRead> {
  if (isAsleep(run)) return NOTHING_SEEN;
  try {
    const view = viewOf(run);
    if (!(view instanceof Promise)) return view;
    return waitFor(ports, run, view).catch((error) => onUnfit(run, error));
  } catch (error) {
    return onUnfit(run, error);
  }
}

function waitFor(ports: ReadPorts, run: LiveRun, view: Promise<RunView>): Promise<ViewRead> {
  const { clock } = ports;
  followDeadline(run, clock);
  const step = policiesOf(run);
  const limit = limitOf(clock, run, step?.called.timeoutMs);
  return new Promise((resolve, reject) => {
    const over = () => {
      forget?.();
      if (run.call === call) run.call = undefined;
    };
    const end = (read: ViewRead) => {
      over();
      resolve(read);
    };
    const call = { giveUp: () => end(undefined) };
    const forget =
      limit && afterAll(clock, limit.ms, () => end(outOfTime(ports, run, limit, step)));
    run.call = call;
    view.then(end, (error) => {
      over();
      reject(error);
    });
  });
}

/** A sleep has no policy: only the deadline of the run limits what comes before it. */
function outOfTime(ports: ReadPorts, run: LiveRun, limit: Limit, step?: Policies): RunEvent {
  const { state, plan } = run;
  if (limit.why === 'deadline' || !step) {
    return judgeDeadline(state.at, plan.runTimeoutMs ?? limit.ms);
  }
  const error = new PhaseTimeoutError(`the schemas of what ${state.at} sees`, limit.ms);
  const moment = { now: ports.clock.now(), chance: ports.chance() };
  return judgeThrown(error, state, step.phase, moment);
}

interface Policies {
  readonly phase: PhasePolicy;
  /** Of the function that is called: a probe calls `check`. */
  readonly called: PhasePolicy;
}

function policiesOf({ plan, state }: LiveRun): Policies | undefined {
  const place = plan.chart.placeOf(state.at)!;
  const part = plan.line[place.index]!;
  if (part.kind === 'sleep') return undefined;
  const phase = place.phase as Phase;
  return { phase: part.policy[phase], called: part.policy[state.mustProbe ? 'check' : phase] };
}
