/** Definitions, the transitions they allow, and what a run's records add up to. Pure, no I/O. */

export {
  type Chart,
  FINAL_STATES,
  type FinalState,
  firstStateOf,
  isFinal,
  PHASES,
  type Place,
  rehearse,
  stateOf,
} from './chart.ts';
export { type Chore, isChore } from './chores.ts';
export { defineMachine } from './define-machine.ts';
export { DefinitionError, RegistryError, SchemaError } from './errors.ts';
export { exportsOf, machinesOf } from './exported.ts';
export { type Folded, foldRecords, type Origin, originOf, type PastRecord } from './fold.ts';
export { attemptOf, OldRun, placeIn, readOldState, toldEnding } from './old-run.ts';
export {
  Aborted,
  type AbortKind,
  abort,
  handoff,
  isAborted,
  isHandoff,
  isPostponed,
  Postponed,
  proceed,
  retryAfter,
} from './outcomes.ts';
export { parseInput } from './parse-input.ts';
export {
  isMachine,
  type PhaseFunction,
  type PhasePolicy,
  type Plan,
  planOf,
  routeOf,
  type SleepPlan,
  type StepPlan,
} from './plan.ts';
export { Registry } from './registry.ts';
export { EVENT_TYPES, type EventType, type Interruption, type RunEvent } from './run-event.ts';
export {
  type AdvancedEvent,
  advance,
  canProbe,
  type Ending,
  type Outcome,
  type RunState,
  type StartedEvent,
  startState,
  type UpgradedEvent,
} from './run-state.ts';
export { type Parsed, parseWith } from './schema.ts';
export { changesOf, stateAfter, statesOf } from './shape.ts';
export {
  forecastOf,
  type NewSuccession,
  type Registered,
  registeredFor,
  type Succession,
  type SuccessionPorts,
  successionOf,
  successionOfNew,
  type Tries,
  type Untried,
  whyNobody,
} from './succession.ts';
export type * from './throttle-types.ts';
export type * from './types.ts';
