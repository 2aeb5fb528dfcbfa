/** How the calls that the ledger saw fit the records that the journal has: every call needs a reason. */
import {
  type Call,
  type Ended,
  type Line,
  type LineAt,
  linesAt,
  type RecordTold,
} from './case-ledger.ts';

type Entered = LineAt<'entered'>;

interface Execution {
  readonly step: string;
  readonly phase: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly event: RecordTold['event'];
}

export interface Matched {
  readonly lost: readonly string[];
  readonly repeated: readonly string[];
  /** The call that was cut off by the kill, if the process died inside a phase or after its effect. */
  readonly cutOff: Entered | undefined;
}

/** 'main.persist': what people call a phase. */
export function nameOf({ step, phase }: { readonly step: string; readonly phase: string }): string {
  return `${step}.${phase}`;
}

export function matchCalls(
  lines: readonly Line[],
  calls: readonly Entered[],
  ended: Ended,
): Matched {
  const recorded = executionsOf(ended.records);
  const unexplained = new Set(calls);
  const lost: string[] = [];
  for (const execution of recorded) {
    const call = callOf(execution, unexplained);
    if (call) unexplained.delete(call);
    else if (isAlwaysCalled(execution.event))
      lost.push(`${nameOf(execution)} is recorded as ${execution.event} and was never called`);
    if (call && execution.event === 'DONE' && !hasReturned(lines, call))
      lost.push(`${nameOf(execution)} is recorded as done and has not returned`);
  }
  const last = calls.findLast(({ process }) => process === 1);
  const cutOff = last && unexplained.has(last) && last.phase !== 'probe' ? last : undefined;
  const repeated = [...unexplained]
    // A probe only looks, and whatever it found is recorded as something else or not at all.
    .filter((call) => call.phase !== 'probe' && call !== cutOff)
    .map((call) => {
      const whose = call.process === 1 ? 'the process that died' : 'the next process';
      return `${nameOf(call)} was called by ${whose} (attempt ${call.attempt}), and no record tells of it`;
    });
  return { lost, repeated: [...repeated, ...persistedTwice(recorded)], cutOff };
}

/** The executions whose outcomes are in the history. An interruption is none, and neither is a sleep. */
function executionsOf(records: readonly RecordTold[]): Execution[] {
  const recorded: Execution[] = [];
  let [step, phase] = placeOf(records[0]?.state ?? '');
  let attempt = 1;
  for (const { event, state, epoch } of records.slice(1)) {
    if (event !== 'INTERRUPTED' && event !== 'PROBED' && phase !== 'sleep')
      recorded.push({ step, phase, attempt, epoch, event });
    const [nextStep, nextPhase] = placeOf(state);
    if (nextStep !== step) attempt = 1;
    else if (event === 'FAILED' || event === 'INTERRUPTED') attempt++;
    [step, phase] = [nextStep, nextPhase];
  }
  return recorded;
}

function placeOf(state: string): [step: string, phase: string] {
  const dot = state.lastIndexOf('.');
  return [state.slice(0, Math.max(0, dot)), state.slice(dot + 1)];
}

/** The call that a record tells of. One that is not of success may be that of a probe. */
function callOf(execution: Execution, calls: ReadonlySet<Entered>): Entered | undefined {
  const { step, phase, attempt, epoch, event } = execution;
  const phases = event === 'DONE' ? [phase] : [phase, 'probe'];
  return [...calls].find(
    (call) =>
      call.step === step &&
      phases.includes(call.phase) &&
      call.attempt === attempt &&
      call.fencingToken === epoch,
  );
}

/** A deadline or a spent attempt ends a run without a call. */
function isAlwaysCalled(event: RecordTold['event']): boolean {
  return event === 'DONE' || event === 'HANDED_OFF' || event === 'FAILED' || event === 'ABORTED';
}

function hasReturned(lines: readonly Line[], call: Entered): boolean {
  const after = lines.slice(lines.indexOf(call) + 1);
  return linesAt(after, 'left').some(
    (left) =>
      left.process === call.process && nameOf(left) === nameOf(call) && left.how === 'returned',
  );
}

function persistedTwice(recorded: readonly Execution[]): string[] {
  const persisted = recorded.filter(({ phase, event }) => phase === 'persist' && event === 'DONE');
  const steps = persisted.map(({ step }) => step);
  return [...new Set(steps)]
    .filter((step) => steps.filter((other) => other === step).length > 1)
    .map((step) => `${step}.persist is recorded as done more than once`);
}

/** Whether the step that was cut off ended because its `check`, asked again, saw that it was done. */
export function isHandedOffByProbe(cutOff: Call, records: readonly RecordTold[]): boolean {
  return records.some(({ event, epoch }, index) => {
    const [step, phase] = placeOf(records[index - 1]?.state ?? '');
    const isProbe = event === 'HANDED_OFF' && phase !== 'check';
    return isProbe && step === cutOff.step && epoch > cutOff.fencingToken;
  });
}

export interface Strayed {
  readonly kind: 'lost' | 'repeated';
  readonly message: string;
}

/**
 * Records that lead elsewhere than the line allows. Calls that fit their records prove nothing where
 * the records go back to a phase that was done, or past one that was not.
 */
export function strayed({ records, places }: Ended): Strayed[] {
  return records.slice(1).flatMap(({ event, state, seq }, index) => {
    const from = records[index]!.state;
    if (isNext(places, from, event, state)) return [];
    const isBack = places.includes(state) && places.indexOf(state) <= places.indexOf(from);
    const way = isBack ? `leads back from ${from} to ${state}` : `leads from ${from} to ${state}`;
    const message = `record ${seq + 1} (${event}) ${way}`;
    return [{ kind: isBack ? ('repeated' as const) : ('lost' as const), message }];
  });
}

function isNext(
  places: readonly string[],
  from: string,
  event: RecordTold['event'],
  to: string,
): boolean {
  const [at, next] = [places.indexOf(from), places.indexOf(to)];
  const isEnd = next < 0;
  switch (event) {
    case 'DONE':
      return isEnd ? at === places.length - 1 : next === at + 1;
    case 'HANDED_OFF': {
      const onward = places.findIndex((place, index) => index > at && !isSameStep(place, from));
      return next === onward;
    }
    case 'FAILED':
      // Work that validate rejects is done again: the one way back.
      return to === from.replace(/\.validate$/, '.work');
    case 'EXHAUSTED':
    case 'ABORTED':
    case 'TIMED_OUT':
    case 'CANCELLED':
      return isEnd;
    default:
      return to === from;
  }
}

function isSameStep(place: string, other: string): boolean {
  return placeOf(place)[0] === placeOf(other)[0];
}

/** One key for each phase of the run in both processes, no two alike; and a token that rises. */
export function wrongKeys(calls: readonly Entered[]): string[] {
  const keys = new Map<string, string>();
  const wrong: string[] = [];
  for (const call of calls) {
    const name = keyName(call);
    const known = keys.get(name);
    if (known !== undefined && known !== call.idempotencyKey)
      wrong.push(`${name} was called with another idempotencyKey the second time`);
    keys.set(name, call.idempotencyKey);
  }
  if (new Set(keys.values()).size < keys.size) wrong.push('two phases have one idempotencyKey');
  const tokensOf = (process: number) =>
    calls.filter((call) => call.process === process).map(({ fencingToken }) => fencingToken);
  if (Math.max(...tokensOf(1)) >= Math.min(...tokensOf(2)))
    wrong.push('the fencingToken did not rise with the next process');
  return wrong;
}

function keyName(call: Call): string {
  return nameOf({ step: call.step, phase: call.phase === 'probe' ? 'check' : call.phase });
}
