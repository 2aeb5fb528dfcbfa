/** The shared tables of the fleet: one interface, and the stores behind it. */
export {
  type Act,
  type ActAnswer,
  type Deed,
  type Glimpse,
  generationSeen,
  isRevision,
  type Note,
  type Refusal,
  type Revision,
  revisionOf,
  type StartNote,
} from './acts.ts';
export {
  REASON_CHARS_MAX,
  REQUEST_ID_CHARS_MAX,
  refuseUnbounded,
  VIA_CHARS_MAX,
  WHO_CHARS_MAX,
} from './audit.ts';
export { hasHeir, isBlocked, LiveRoutes, type Of } from './blocked.ts';
export { TIME_MS_MAX, TIMELINE_EPOCHS } from './bounds.ts';
export {
  BULK_VERSION,
  BULK_WHATS,
  type BulkAnswer,
  type BulkBegun,
  type BulkDeed,
  type BulkItem,
  type BulkOrder,
  type BulkQuery,
  type BulkRow,
  type BulkSample,
  type BulkSave,
  type BulkStatus,
  type BulkTaking,
  type BulkTally,
  type NewBulk,
  shiftOf,
} from './bulk/bulks.ts';
export { BULK_COUNT_MAX, BULK_RATE_MAX, isOver as isBulkOver } from './bulk/decide.ts';
export { bulkFilter } from './bulk/filter.ts';
export type { CallerTx } from './caller-tx.ts';
export type { Census, MachineCount, RouteCensus } from './census.ts';
export {
  CursorError,
  RequestReusedError,
  StoreBusyError,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
  storeMoved,
} from './errors.ts';
export { factsOfTask } from './facts.ts';
export { LOOKOUTS } from './fleet-sight.ts';
export {
  FOLLOWERS_TOLD_MAX,
  FOLLOWS_ON,
  type Follower,
  type FollowersTold,
  type Follows,
  type FollowsOn,
  followersTold,
} from './follow.ts';
export { MemoryStore, type Way } from './memory/memory-store.ts';
export { MemoryTables } from './memory/tables.ts';
export { lookAfterMs, type Notice } from './notice.ts';
export { openStore } from './open-store.ts';
export type { FilledStoreOptions, StoreOptions } from './options.ts';
export { type HistoryParts, type Outline, type PartQuery, within } from './outlines.ts';
export {
  type DoubtAnswer,
  type Kept,
  knowNative,
  type Persisted,
  type StoreTransaction,
  transactionOver,
} from './persisting.ts';
export type {
  Beat,
  BeatAnswer,
  Control,
  FleetSight,
  Headcount,
  JournalSeen,
  PodBirth,
  PodGlimpse,
  PodRow,
  Pruned,
  Worklist,
} from './pods.ts';
export { leaderOf, mayLead, stallOf } from './pods.ts';
export {
  type FlowAnswer,
  type FlowChange,
  type FlowDeed,
  type Gate,
  LIMIT_MAX,
  type PausedMachine,
  type QueueRow,
} from './queues.ts';
export type {
  AuditPage,
  AuditQuery,
  AuditRow,
  Bucket,
  Count,
  ErrorGroup,
  ErrorGroups,
  Histogram,
  HistogramQuery,
  LeaderTerm,
  Page,
  PageQuery,
  ReaderOptions,
  StoreReader,
  TaskGlance,
} from './reader.ts';
export type { Repose, Resting, RestTimes } from './rest.ts';
export {
  refuseBadName as refuseBadScheduleName,
  refuseBadPayload as refuseBadSchedulePayload,
  refuseBadRevision as refuseBadScheduleRevision,
  refuseBadWords as refuseBadScheduleWords,
} from './schedule/bounds.ts';
export { ticksOf } from './schedule/cron.ts';
export { runBefore } from './schedule/decide.ts';
export { ScheduleError, ScheduleNotFoundError } from './schedule/errors.ts';
export { LATE_MS, type Turn, turnOf } from './schedule/missed.ts';
export {
  type DueSchedules,
  MISSED,
  type Missed,
  OVERLAP,
  type Overlap,
  type ScheduleAnswer,
  type ScheduleChange,
  type ScheduleOrder,
  type SchedulePlan,
  type ScheduleQuery,
  type ScheduleRow,
  type Ticked,
  type Ticking,
} from './schedule/schedules.ts';
export { asStored, openRow, type SealOptions, sealedReader, sealedStore } from './sealed-store.ts';
export { NotSealedError, openControls, openReason, sealDeed } from './sealed-texts.ts';
export { remember } from './shares.ts';
export type { Capabilities, Head, Hint, MirrorAnswer, OnHint, Store } from './store.ts';
export type {
  Announcement,
  ArchiveAnswer,
  ClaimedTask,
  ClaimRequest,
  Due,
  EnqueueAnswer,
  Flush,
  KnownRoute,
  MirroredRun,
  NewTask,
  RouteTally,
  Segment,
  SettleAnswer,
  Settlement,
  TakenTask,
  Taking,
  TaskFilter,
  TaskRow,
  Violation,
} from './tasks.ts';
export {
  API_CHARS_MAX,
  PIN_MAX,
  type ReportGlimpse,
  type ThrottleAnswer,
  type ThrottleChange,
  type ThrottleGlimpse,
  type ThrottleOrder,
  type ThrottleRow,
  type ThrottleWord,
} from './throttles.ts';
export type { Watch, WatchQuery } from './watch.ts';
export {
  BULK_MACHINE,
  type Claim,
  CRASHES_MAX,
  END_STATUSES,
  ENDED_STATES,
  type EndStatus,
  type Interruption,
  isOpen,
  isOwnMachine,
  type PodId,
  type PodStatus,
  RECOVERY_PREFIX,
  routeOf,
  SUSPECT_CRASHES,
  type TaskStatus,
  type WaitFor,
} from './words.ts';
