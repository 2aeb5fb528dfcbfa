/** FleetQ's public API. */

export { SocketError } from './admin/index.ts';
export { ConfigError, LoadError } from './config/index.ts';
export type { Around, CancelReport, DrainReport, RunStatus, RunSummary } from './engine/index.ts';
export {
  DrainingError,
  KeyConflictError,
  RunAbortedError,
  RunCancelledError,
  RunEndedError,
  RunFailedError,
  RunNotFoundError,
  RunSetAsideError,
  RunTimedOutError,
  TooManyRunsError,
  WaitTimeoutError,
} from './engine/index.ts';
export type { Recovery } from './fleet/index.ts';
export {
  BadTaskError,
  BrokenHistoryError,
  ClaimLostError,
  NoStoreError,
  PodTimesError,
  TaskKeyConflictError,
  TaskNotFoundError,
} from './fleet/index.ts';
export {
  type Backoff,
  type Duration,
  type ErrorInfo,
  exponential,
  FleetqError,
  type Json,
  type JsonObject,
  NotJsonError,
  type RunId,
  TooLargeError,
} from './ground/index.ts';
export {
  type Codec,
  DamagedRunError,
  JournalDamagedError,
  JournalFormatError,
  JournalHeldError,
  JournalPlaceError,
  JournalStalledError,
  type StoredRecord,
} from './journal/index.ts';
export {
  type AbortKind,
  type AnySchema,
  abort,
  DefinitionError,
  defineMachine,
  type Ending,
  type Handoff,
  handoff,
  type InputOf,
  type Line,
  type LineContext,
  type Log,
  type Machine,
  type Outcome,
  type OutputOf,
  type Phase,
  type Policy,
  proceed,
  RegistryError,
  type RunEvent,
  retryAfter,
  SchemaError,
  type StepContext,
  type StoreTx,
  type Transition,
  type WorkedContext,
} from './machine/index.ts';
export {
  createFleet,
  type EnqueueOptions,
  type Fleet,
  type FleetOptions,
  type FleetStatus,
  type Run,
  type StartOptions,
  type Task,
  type WaitOptions,
} from './main.ts';
export { type Governed, type GovernOptions, governProcess } from './process.ts';
export {
  openStore,
  type PodRow,
  type Store,
  StoreBusyError,
  type StoreOptions,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
  type TaskRow,
} from './store/index.ts';
export { type EventName, type FleetqEvents, listen } from './telemetry/events.ts';
export { type Logger, writeLogs } from './telemetry/logs.ts';
