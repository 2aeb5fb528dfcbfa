/**
 * FleetQ's public API. Each thing comes from the file that has it and not from its room's index: a
 * process that needs no fleet should not wait at its start for one to be loaded.
 */
import './ground/refuse-old-node.ts';

export { SocketError } from './admin/errors.ts';
export { ConfigError, LoadError } from './config/errors.ts';
export type { Around, CancelReport, DrainReport, RunStatus, RunSummary } from './engine/index.ts';
export {
  DrainingError,
  KeyConflictError,
  NeedsStoreError,
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
export type {
  EnqueueItem,
  EnqueueItems,
  EnqueueManyOptions,
  ManyBatch,
  ManyReport,
} from './enqueue-many.ts';
export { MachineChangedError } from './fleet/announce.ts';
export {
  BadItemError,
  BadTaskError,
  BrokenHistoryError,
  BulkNotFoundError,
  ClaimLostError,
  CommitLostError,
  ForkError,
  NoStoreError,
  TaskKeyConflictError,
  TaskNotFoundError,
} from './fleet/errors.ts';
export type { Bulks, Recovery, ScheduleDefinition } from './fleet/index.ts';
export { PodTimesError } from './fleet/options.ts';
export { defineSchedule } from './fleet/schedule/definition.ts';
export {
  aesCodec,
  type Backoff,
  type CodecKeys,
  CodecKeysError,
  type CodecPlace,
  type Duration,
  type ErrorInfo,
  exponential,
  FleetqError,
  type Json,
  type JsonObject,
  KeyMissingError,
  NotJsonError,
  type RunId,
  SealBrokenError,
  SqliteUnavailableError,
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
  type CallOutcomeKind,
  type CallPermit,
  type CallPriority,
  type CallWindow,
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
  type OldRun,
  type Outcome,
  type OutputOf,
  type Phase,
  type Policy,
  proceed,
  RegistryError,
  type Resumed,
  type RunEvent,
  retryAfter,
  SchemaError,
  type StepContext,
  type StoreTx,
  type ThrottleHandle,
  type ThrottleSnapshot,
  type Transition,
  type UseOptions,
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
export type { CallerTx } from './store/caller-tx.ts';
export {
  CursorError,
  StoreBusyError,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
  TransactionError,
  TransactionLateError,
} from './store/errors.ts';
export type {
  Act,
  ActAnswer,
  Deed,
  PodRow,
  ReaderOptions,
  Revision,
  Store,
  StoreOptions,
  StoreReader,
  TaskRow,
} from './store/index.ts';
export { openStore } from './store/open-store.ts';
export { ScheduleError, ScheduleNotFoundError } from './store/schedule/errors.ts';
export { NotSealedError } from './store/sealed-texts.ts';
export { type EventName, type FleetqEvents, listen } from './telemetry/events.ts';
export { type Logger, type LogOptions, writeLogs } from './telemetry/logs.ts';
export { type Tracing, TracingMissingError } from './telemetry/tracing.ts';
export {
  type CallOutcome,
  type Classify,
  defineThrottle,
  PermitAbortedError,
  type ThrottleDefinition,
  ThrottleDrainingError,
  ThrottleFullError,
  type ThrottleOptions,
  ThrottleOptionsError,
  ThrottleParkedError,
  ThrottleRefusedError,
} from './throttle/index.ts';
