/** Random machines, and random things that happen to their runs. */
import fc from 'fast-check';
import * as z from 'zod';
import type { Json } from '../../src/ground/index.ts';
import {
  advance,
  defineMachine,
  EVENT_TYPES,
  type EventType,
  type Machine,
  type Plan,
  planOf,
  type RunEvent,
  type RunState,
  type StartedEvent,
  startState,
} from '../../src/machine/index.ts';

export interface PartShape {
  readonly name: string;
  readonly kind: 'step' | 'sleep';
  readonly check: boolean;
  readonly validate: boolean;
  readonly persist: boolean;
}

const nothing = () => {};
const phasesOf = ({ check, validate, persist }: PartShape) => ({
  check: check ? nothing : ('none' as const),
  work: () => 1,
  ...(validate ? { validate: nothing } : {}),
  ...(persist ? { persist: () => 2 } : {}),
});

/** A machine of these parts; of one step alone it is written without `steps`. */
export function machineOf(
  parts: readonly PartShape[],
  { name, version } = { name: 'random', version: 1 },
): Machine {
  const head = { name, version, input: z.unknown() };
  const [first] = parts;
  if (parts.length === 1 && first?.name === 'main') {
    return defineMachine({ ...head, ...phasesOf(first) });
  }
  return defineMachine({
    ...head,
    steps: (line) => {
      let longer = line;
      for (const part of parts) {
        longer = (part.kind === 'sleep'
          ? longer.sleep(part.name, '1s')
          : longer.step(part.name, phasesOf(part))) as unknown as typeof line;
      }
      return longer;
    },
  });
}

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/).filter((text) => !(text in {}));
const flags = { check: fc.boolean(), validate: fc.boolean(), persist: fc.boolean() };
const part = fc.record({
  name: fc.oneof(name, fc.constantFrom('main', 'completed', 'failed', 'work', 'check')),
  kind: fc.oneof({ weight: 3, arbitrary: fc.constant('step') }, fc.constant('sleep')),
  ...flags,
}) as fc.Arbitrary<PartShape>;

/** One to six parts, at least one of them a step. */
export const parts: fc.Arbitrary<readonly PartShape[]> = fc
  .uniqueArray(part, { minLength: 1, maxLength: 6, selector: (one) => one.name })
  .filter((line) => line.some(({ kind }) => kind === 'step'));

export const machine: fc.Arbitrary<Machine> = parts.map(machineOf);

/** Mostly what keeps a run going, or most runs would end at their second record. */
const WEIGHT: Partial<Record<EventType, number>> = {
  DONE: 12,
  EXHAUSTED: 1,
  ABORTED: 1,
  TIMED_OUT: 1,
  CANCELLED: 1,
};
const weighted = <T>(arbitraryOf: (type: EventType) => fc.Arbitrary<T>) =>
  fc.oneof(
    ...EVENT_TYPES.map((type) => ({ weight: WEIGHT[type] ?? 4, arbitrary: arbitraryOf(type) })),
  );
const several = { minLength: 5, maxLength: 40, size: 'max' } as const;

export const eventTypes = fc.array(
  weighted((type) => fc.constant(type)),
  several,
);

/** As it is journaled, which makes a zero of minus zero. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);
const text = fc.string({ maxLength: 8 });
const error = fc.record({ name: text, message: text });
const dueAt = fc.nat();
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const EVENT: { readonly [K in EventType]: fc.Arbitrary<Extract<RunEvent, { type: K }>> } = {
  STARTED: fc.record({
    type: fc.constant('STARTED'),
    machine: fc.constant('random'),
    version: fc.constant(1),
    fingerprint: text,
    input: json,
    deadlineAt: maybe(fc.nat()),
  }),
  TAKEN: fc.record({
    type: fc.constant('TAKEN'),
    pod: text,
    interruption: maybe(fc.constantFrom('cut', 'left')),
    isDue: maybe(fc.constant(true as const)),
  }),
  ADVANCED: fc.record({
    type: fc.constant('ADVANCED'),
    version: fc.constant(1),
    fingerprint: text,
    interruption: maybe(fc.constantFrom('cut', 'left')),
  }),
  // Fits where 'main' is the first step; elsewhere it leads nowhere.
  UPGRADED: fc.record({
    type: fc.constant('UPGRADED'),
    version: fc.constant(1),
    fingerprint: text,
    from: fc.constant(0),
    step: fc.constant('main'),
    input: json,
    outputs: fc.constant({}),
  }),
  DONE: fc.record({ type: fc.constant('DONE'), output: maybe(json) }),
  HANDED_OFF: fc.record({ type: fc.constant('HANDED_OFF'), output: json, reason: maybe(text) }),
  FAILED: fc.record({ type: fc.constant('FAILED'), error, dueAt }),
  POSTPONED: fc.record({ type: fc.constant('POSTPONED'), reason: text, dueAt }),
  PROBED: fc.record({ type: fc.constant('PROBED') }),
  INTERRUPTED: fc.record({ type: fc.constant('INTERRUPTED'), isFree: fc.boolean() }),
  ASLEEP: fc.record({ type: fc.constant('ASLEEP'), dueAt }),
  EXHAUSTED: fc.record({ type: fc.constant('EXHAUSTED'), error }),
  ABORTED: fc.record({
    type: fc.constant('ABORTED'),
    reason: text,
    kind: fc.constantFrom('user', 'system'),
  }),
  TIMED_OUT: fc.record({ type: fc.constant('TIMED_OUT'), error }),
  CANCELLED: fc.record({ type: fc.constant('CANCELLED'), reason: text }),
};

export const started = EVENT.STARTED;
export const events = fc.array(
  weighted((type) => EVENT[type] as fc.Arbitrary<RunEvent>),
  several,
);

export const planFor = (of: Machine): Plan => planOf(of)!;

/** Folds records into a state, and drops those that cannot happen where the run is. */
export function live(
  plan: Plan,
  start: StartedEvent,
  events: readonly RunEvent[],
): { readonly records: RunEvent[]; readonly states: RunState[] } {
  const records: RunEvent[] = [start];
  const states: RunState[] = [startState(plan, start, 1_000)];
  for (const one of events) {
    const next = advance(plan, states.at(-1)!, one);
    if (!next) continue;
    records.push(one);
    states.push(next);
  }
  return { records, states };
}
