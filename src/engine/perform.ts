/** Executes one phase of a run and says what came of it. Never throws. */
import { assertNever, describeError, hush, parseDuration, show } from '../ground/index.ts';
import {
  type AnySchema,
  type Parsed,
  type Phase,
  type PhasePolicy,
  type Place,
  parseWith,
  type RunEvent,
  type SleepPlan,
  type StepPlan,
} from '../machine/index.ts';
import { type OfPhase, tell } from '../telemetry/events.ts';
import { NeedsStoreError, PhaseAnswerError } from './errors.ts';
import { exhaustedBy } from './interruption.ts';
import { judgeAnswer, judgeDeadline, judgeThrown } from './judge.ts';
import type { Limit } from './limit.ts';
import { followDeadline, type GiveUp, type LiveRun, type RunView, standingOf } from './live-run.ts';
import { type Answer, type CallJudge, type PerformPorts, PhaseCall } from './phase-call.ts';
import { PhaseContext } from './phase-context.ts';
import { letGo } from './recorder.ts';
import type { PhaseTx } from './tie.ts';

/** The event for the run's current state; undefined where the phase was given up without one. */
export function perform(
  ports: PerformPorts,
  run: LiveRun,
  view: RunView,
): RunEvent | Promise<RunEvent | undefined> {
  followDeadline(run, ports.clock);
  const { state, plan } = run;
  const place = plan.chart.placeOf(state.at)!;
  const { dueAt, deadlineAt } = state;
  // A wait beyond the deadline was for the deadline, whatever the wall clock says by now.
  if (deadlineAt !== undefined && (ports.clock.now() >= deadlineAt || (dueAt ?? 0) > deadlineAt)) {
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
    // It is refused below; should it reject, nobody else would hear of it, and the process would end.
    hush(delay);
    const dueAt =
      delay instanceof Date ? delay.getTime() : now + (parseDuration(delay) ?? Number.NaN);
    if (Number.isFinite(dueAt)) return { type: 'ASLEEP', dueAt: Math.ceil(dueAt) };
    throw new PhaseAnswerError(`${run.state.at} wants a duration or a Date, got ${show(delay)}`);
  } catch (thrown) {
    return { type: 'EXHAUSTED', error: describeError(thrown) };
  }
}

function performPhase(
  ports: PerformPorts,
  run: LiveRun,
  view: RunView,
  step: StepPlan,
  place: Place,
): Promise<RunEvent | undefined> {
  const phase = place.phase as Phase;
  const isProbe = run.state.mustProbe;
  const called: Phase = isProbe ? 'check' : phase;
  const of: OfPhase = {
    run: run.id,
    machine: run.plan.name,
    version: run.plan.version,
    epoch: run.epoch,
    step: step.name,
    phase: isProbe ? 'probe' : phase,
    attempt: run.state.attempt,
  };
  tell('phase.started', () => ({ ...of, ...standingOf(run), at: ports.clock.now() }));
  const storing = called === 'persist' && step.persistIn === 'store';
  const context = new PhaseContext(
    run,
    view,
    of,
    ports,
    storing ? transactionOf(run, of) : undefined,
  );
  const { timeoutMs } = step.policy[called];
  const call = new PhaseCall(ports, run, step, step.policy[phase], of, timeoutMs, context, JUDGE);
  return call.make(step.functions[called]!);
}

type Call = PhaseCall<RunEvent | undefined>;

const JUDGE: CallJudge<RunEvent | undefined> = { judge: eventOf, ended: tellEnd };

type Verdict = RunEvent | undefined;

/** A promise only where the output has to fit an asynchronous schema, or is stored with its record. */
function eventOf(call: Call, answer: Answer): Verdict | Promise<Verdict> {
  const { ports, run, step, policy, of, limit } = call;
  if (answer.kind === 'threw') return eventOfThrown(ports, run, policy, answer.thrown);
  if (answer.kind === 'givenUp') return eventOfGiveUp(ports, run, policy, answer.why, limit);
  try {
    const event = judgeAnswer(of.phase, run.state.at, answer.value, ports.resultBytesMax);
    // The probe found nothing done, and there is no attempt left to do it in.
    if (event.type === 'PROBED' && run.state.isSpent) return exhaustedBy(run);
    if (!step.output) return final(call, event);
    const fit = refuseUnfitOutput(run, step, step.output, event);
    if (!(fit instanceof Promise)) return final(call, event);
    return fit.then(
      () => final(call, event),
      (thrown) => eventOfThrown(ports, run, policy, thrown),
    );
  } catch (thrown) {
    return eventOfThrown(ports, run, policy, thrown);
  }
}

/** Where the phase has written in a transaction of the store, that decides whether it was done. */
function final(call: Call, event: RunEvent): Verdict | Promise<Verdict> {
  const { tx, run } = call;
  if (!tx?.isUsed || event.type !== 'DONE' || !run.tie?.commit) return event;
  // Somebody has given the phase up: whatever it answered counts for nothing, and is taken back.
  return call.hold() ? storeFirst(call, tx, event) : event;
}

/** Makes what was written final, with the record that the run is about to get. */
async function storeFirst(call: Call, tx: PhaseTx, event: RunEvent): Promise<Verdict> {
  const { ports, run, policy } = call;
  try {
    const record = ports.prepare(run, event);
    const answer = await run.tie!.commit!(tx, record, run.prepared!.next.ending);
    if (answer === 'stood') return event;
    letGo(run);
    return undefined;
  } catch (thrown) {
    letGo(run);
    return eventOfThrown(ports, run, policy, thrown);
  }
}

function transactionOf({ tie, plan }: LiveRun, { step }: OfPhase): PhaseTx {
  if (tie?.begin) return tie.begin();
  // Its machine was changed while the run was on its way: what persist asks for is not to be had here.
  const query = () => Promise.reject(new NeedsStoreError(plan.name, step));
  return { handle: { query }, isUsed: false, abandon: () => undefined };
}

function eventOfThrown(
  ports: PerformPorts,
  run: LiveRun,
  policy: PhasePolicy,
  thrown: unknown,
): RunEvent {
  followDeadline(run, ports.clock);
  const { state } = run;
  const moment = { now: ports.clock.now(), chance: ports.chance() };
  const allowed = run.tie?.mayRetry?.() === false ? { ...policy, attemptMax: 0 } : policy;
  return judgeThrown(thrown, state, allowed, moment);
}

function eventOfGiveUp(
  ports: PerformPorts,
  run: LiveRun,
  policy: PhasePolicy,
  { why, reason }: GiveUp,
  limit: Limit | undefined,
): RunEvent | undefined {
  switch (why) {
    case 'timeout':
      return eventOfThrown(ports, run, policy, reason);
    case 'deadline':
      return judgeDeadline(run.state.at, run.plan.runTimeoutMs ?? limit?.ms ?? 0);
    case 'drained':
      // A deploy is nobody's failure: the next process asks `check`, and no attempt is counted.
      return { type: 'INTERRUPTED', isFree: true };
    case 'cancelled':
    case 'lost':
      return undefined;
    default:
      return assertNever(why);
  }
}

/** The last phase of a step gives its output, which has to fit the output schema. */
function refuseUnfitOutput(
  run: LiveRun,
  step: StepPlan,
  schema: AnySchema,
  event: RunEvent,
): Parsed | Promise<Parsed> | undefined {
  const { chart } = run.plan;
  const { at, work } = run.state;
  const next = chart.next(at, event.type) ?? '';
  if (chart.placeOf(next)?.step === step.name) return undefined;
  if (event.type !== 'HANDED_OFF' && event.type !== 'DONE') return undefined;
  // Without persist the output is what work returned, also when validate comes after it.
  const output = at.endsWith('.validate') ? work : event.output;
  return parseWith(schema, output ?? null, `the output of ${at}`);
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
  TAKEN: 'discarded',
  ADVANCED: 'discarded',
  UPGRADED: 'discarded',
  ASLEEP: 'discarded',
} as const;

/** Written out, since it is told for every phase there is: to copy `of` takes ten times as long. */
function tellEnd({ ports, of, begunMs }: Call, event: RunEvent | undefined): void {
  tell('phase.ended', () => ({
    run: of.run,
    machine: of.machine,
    version: of.version,
    epoch: of.epoch,
    step: of.step,
    phase: of.phase,
    attempt: of.attempt,
    outcome: event ? OUTCOME[event.type] : 'discarded',
    elapsedMs: ports.clock.monotonicMs() - begunMs,
    error: event && 'error' in event ? event.error : undefined,
    dueAt: event && 'dueAt' in event ? event.dueAt : undefined,
  }));
}
