/** Executes one phase of a run and says what came of it. Never throws. */
import { type Clock, describeError, parseDuration, show } from '../ground/index.ts';
import {
  type AnySchema,
  type Phase,
  type PhaseFunction,
  type Place,
  parseWith,
  type RunEvent,
  type SleepPlan,
  type StepPlan,
} from '../machine/index.ts';
import { type OfPhase, tell } from '../telemetry/events.ts';
import type { Limits } from '../throttle/index.ts';
import { DrainingError, PhaseAnswerError, PhaseTimeoutError } from './errors.ts';
import { judgeAnswer, judgeDeadline, judgeThrown } from './judge.ts';
import type { GiveUp, LiveRun, RunView } from './live-run.ts';
import { PhaseContext } from './phase-context.ts';

/** Wraps the call of a phase's function; tracing hangs in here. */
export type Around = <T>(phase: OfPhase, call: () => T) => T;

export interface PerformPorts {
  readonly clock: Clock;
  readonly chance: () => number;
  readonly limits: Limits;
  readonly resultBytesMax: number;
  readonly around: Around | undefined;
}

/** How long a handler that was told to stop is waited for before it is left to itself. */
export const LEAK_GRACE_MS = 5_000;
/** From here on a handler that holds the loop is worth a word. */
const BLOCKED_MS = 1_000;

/** The event for the run's current state; undefined where the phase was given up without one. */
export function perform(
  ports: PerformPorts,
  run: LiveRun,
  view: RunView,
): RunEvent | Promise<RunEvent | undefined> {
  const { state, plan } = run;
  const place = plan.chart.placeOf(state.at)!;
  const now = ports.clock.now();
  if (state.deadlineAt !== undefined && now >= state.deadlineAt) {
    return judgeDeadline(state.at, plan.runTimeoutMs ?? 0);
  }
  const part = plan.line[place.index]!;
  return part.kind === 'sleep'
    ? performSleep(ports, run, view, part)
    : performPhase(ports, run, view, part, place);
}

function performSleep(
  ports: PerformPorts,
  run: LiveRun,
  view: RunView,
  sleep: SleepPlan,
): RunEvent {
  // Its due time is recorded and has come: the engine waits before it performs.
  if (run.state.dueAt !== undefined) return { type: 'DONE' };
  const now = ports.clock.now();
  try {
    const delay = typeof sleep.delay === 'function' ? sleep.delay(view) : sleep.delay;
    const dueAt =
      delay instanceof Date ? delay.getTime() : now + (parseDuration(delay) ?? Number.NaN);
    if (Number.isFinite(dueAt)) return { type: 'ASLEEP', dueAt: Math.ceil(dueAt) };
    throw new PhaseAnswerError(`${run.state.at} wants a duration or a Date, got ${show(delay)}`);
  } catch (thrown) {
    return { type: 'EXHAUSTED', error: describeError(thrown) };
  }
}

async function performPhase(
  ports: PerformPorts,
  run: LiveRun,
  view: RunView,
  step: StepPlan,
  place: Place,
): Promise<RunEvent | undefined> {
  const phase = place.phase as Phase;
  const isProbe = run.state.mustProbe;
  const called: Phase = isProbe ? 'check' : phase;
  const policy = step.policy[phase];
  const of: OfPhase = {
    run: run.id,
    machine: run.plan.name,
    version: run.plan.version,
    step: step.name,
    phase: isProbe ? 'probe' : phase,
    attempt: run.state.attempt,
  };
  const begunMs = ports.clock.monotonicMs();
  tell('phase.started', () => of);
  let event: RunEvent | undefined;
  try {
    const context = new PhaseContext(run, view, of, ports.limits);
    const limit = limitOf(ports.clock, run, step.policy[called].timeoutMs);
    const answer = await call(ports, run, step.functions[called]!, context, of, limit);
    if (answer.kind === 'givenUp') return eventOfGiveUp(ports, run, of, answer.why, begunMs, limit);
    if (answer.kind === 'threw') throw answer.thrown;
    event = judgeAnswer(of.phase, run.state.at, answer.value, ports.resultBytesMax);
    if (step.output) await refuseUnfitOutput(run, step, step.output, event);
  } catch (thrown) {
    event = judgeThrown(thrown, run.state.attempt, policy, run.state.deadlineAt, {
      now: ports.clock.now(),
      chance: ports.chance(),
    });
  }
  tellEnd(ports, of, event, begunMs);
  return event;
}

type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  | { readonly kind: 'givenUp'; readonly why: GiveUp };

interface Limit {
  readonly ms: number;
  readonly why: 'timeout' | 'deadline';
}

/** The nearer of the phase's timeout and the run's deadline. */
function limitOf(clock: Clock, run: LiveRun, timeoutMs: number | undefined): Limit | undefined {
  const { deadlineAt } = run.state;
  const leftMs = deadlineAt === undefined ? undefined : deadlineAt - clock.now();
  if (leftMs !== undefined && (timeoutMs === undefined || leftMs < timeoutMs)) {
    return { ms: leftMs, why: 'deadline' };
  }
  return timeoutMs === undefined ? undefined : { ms: timeoutMs, why: 'timeout' };
}

/** Calls the handler and waits for its answer, or until it is given up and a grace has passed. */
function call(
  ports: PerformPorts,
  run: LiveRun,
  handler: PhaseFunction,
  context: PhaseContext,
  of: OfPhase,
  limit: Limit | undefined,
): Promise<Answer> {
  const { clock, around } = ports;
  return new Promise((resolve) => {
    let givenUp: GiveUp | undefined;
    let isSettled = false;
    const settle = (answer: Answer) => {
      if (isSettled) return;
      isSettled = true;
      run.giveUp = undefined;
      cancelTimer?.();
      // Once given up, whatever the handler says after all comes too late to count.
      resolve(givenUp ? { kind: 'givenUp', why: givenUp } : answer);
    };
    const giveUp = (why: GiveUp) => {
      if (givenUp || isSettled) return;
      givenUp = why;
      cancelTimer?.();
      context.abort(why.reason);
      cancelTimer = clock.after(LEAK_GRACE_MS, () => {
        tell('phase.leaked', () => ({ ...of, why: why.why }));
        settle({ kind: 'givenUp', why });
      });
    };
    const outOfTime = (): GiveUp => ({
      why: limit!.why,
      reason: new PhaseTimeoutError(run.state.at, limit!.ms),
    });
    let cancelTimer = limit && clock.after(limit.ms, () => giveUp(outOfTime()));
    run.giveUp = giveUp;

    const begunMs = clock.monotonicMs();
    const onAnswer = (answer: Answer) => {
      // A handler that held the loop past its limit kept the timer from firing, not time from passing.
      if (limit && !givenUp && clock.monotonicMs() - begunMs > limit.ms) giveUp(outOfTime());
      settle(answer);
    };
    try {
      const value = around ? around(of, () => handler(context)) : handler(context);
      const heldMs = clock.monotonicMs() - begunMs;
      if (heldMs > BLOCKED_MS) tell('phase.blocked', () => ({ ...of, elapsedMs: heldMs }));
      if (isThenable(value)) {
        value.then(
          (late) => onAnswer({ kind: 'answered', value: late }),
          (thrown) => onAnswer({ kind: 'threw', thrown }),
        );
      } else {
        onAnswer({ kind: 'answered', value });
      }
    } catch (thrown) {
      onAnswer({ kind: 'threw', thrown });
    }
  });
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function eventOfGiveUp(
  ports: PerformPorts,
  run: LiveRun,
  of: OfPhase,
  { why, reason }: GiveUp,
  begunMs: number,
  limit: Limit | undefined,
): RunEvent | undefined {
  const policy = policyOf(run);
  let event: RunEvent | undefined;
  if (why === 'timeout') {
    const moment = { now: ports.clock.now(), chance: ports.chance() };
    event = judgeThrown(reason, run.state.attempt, policy, run.state.deadlineAt, moment);
  } else if (why === 'deadline') {
    event = judgeDeadline(run.state.at, run.plan.runTimeoutMs ?? limit?.ms ?? 0);
  } else if (why === 'drained') {
    // A deploy is nobody's failure: the next process asks `check`, and no attempt is counted.
    event = { type: 'INTERRUPTED', isFree: true };
  }
  tellEnd(ports, of, event, begunMs);
  return event;
}

export function policyOf(run: LiveRun): StepPlan['policy'][Phase] {
  const place = run.plan.chart.placeOf(run.state.at)!;
  return (run.plan.line[place.index] as StepPlan).policy[place.phase as Phase];
}

/** The last phase of a step gives its output, which has to fit the output schema. */
async function refuseUnfitOutput(
  run: LiveRun,
  step: StepPlan,
  schema: AnySchema,
  event: RunEvent,
): Promise<void> {
  const { chart } = run.plan;
  const { at, work } = run.state;
  const next = chart.next(at, event.type) ?? '';
  if (chart.placeOf(next)?.step === step.name) return;
  if (event.type !== 'HANDED_OFF' && event.type !== 'DONE') return;
  // Without persist the output is what work returned, also when validate comes after it.
  const output = at.endsWith('.validate') ? work : event.output;
  await parseWith(schema, output ?? null, `the output of ${at}`);
}

const OUTCOME = {
  DONE: 'done',
  PROBED: 'done',
  HANDED_OFF: 'handedOff',
  FAILED: 'retried',
  POSTPONED: 'postponed',
  EXHAUSTED: 'exhausted',
  ABORTED: 'aborted',
  TIMED_OUT: 'timedOut',
  CANCELLED: 'discarded',
  INTERRUPTED: 'discarded',
  STARTED: 'discarded',
  ASLEEP: 'discarded',
} as const;

function tellEnd(
  ports: PerformPorts,
  of: OfPhase,
  event: RunEvent | undefined,
  begunMs: number,
): void {
  tell('phase.ended', () => ({
    ...of,
    outcome: event ? OUTCOME[event.type] : 'discarded',
    elapsedMs: ports.clock.monotonicMs() - begunMs,
    error: event && 'error' in event ? event.error : undefined,
    dueAt: event && 'dueAt' in event ? event.dueAt : undefined,
  }));
}

/** For a drain whose budget is spent. */
export const drained: GiveUp = { why: 'drained', reason: new DrainingError() };
