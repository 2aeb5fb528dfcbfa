/** Many pods that share only a database: claims, heartbeats, settlements, recovery. */
export {
  announceMachines,
  type ChangedMachines,
  changesSince,
  MachineChangedError,
} from './announce.ts';
export { blockedCount, isBlocked, LiveRoutes, whyBlocked } from './blocked.ts';
export { type Bulks, bulksOf } from './bulk/bulks.ts';
export { type BulkPreview, PREVIEW_COUNT, previewBulk } from './bulk/preview.ts';
export { type BulkView, viewsOf as bulkViewsOf } from './bulk/view.ts';
export { BULK_RATE, bulkOf, orderOf as bulkOrderOf } from './bulk/wanted.ts';
export type { CensusSample } from './census-watch.ts';
export { type CoursePart, courseOf } from './course.ts';
export { type DeadLetterEntry, type DeadLetters, SqliteDeadLetters } from './dead-letters.ts';
export {
  BadTaskError,
  BrokenHistoryError,
  BulkNotFoundError,
  ClaimLostError,
  ForkError,
  NoStoreError,
  TaskKeyConflictError,
  TaskNotFoundError,
} from './errors.ts';
export {
  type FateWord,
  type Forecast,
  type ForecastPorts,
  forecastRun,
  forecastTask,
} from './forecast.ts';
export { type ForkOptions, type ForkSource, forkOf, inputOf, prefixTo } from './fork.ts';
export { inlineHeart, type MakeHeart } from './heart.ts';
export { rowOf, rowsOf, segmentOf } from './history.ts';
export type { Life } from './life.ts';
export { Member, type MemberPorts, type MemberStatus } from './member.ts';
export {
  checkTimes,
  type PodLimits,
  type PodPorts,
  type PodTimes,
  PodTimesError,
} from './options.ts';
export { Pod, type PodEvents, type PodStatus } from './pod.ts';
export { outageOf, type Recovery, recoveryOf } from './recovery.ts';
export { sealedFile } from './run-file/format.ts';
export { headOf, isLargerThan, taskFile } from './run-file/task-file.ts';
export {
  defineSchedule,
  planOf as schedulePlanOf,
  type ScheduleDefinition,
  type ScheduleOptions,
} from './schedule/definition.ts';
export { type RunNow, runNow } from './schedule/run-now.ts';
export { Scheduler } from './schedule/scheduler.ts';
export { type ScheduleView, viewsOf as scheduleViewsOf } from './schedule/view.ts';
export { SpareThread } from './spare-thread.ts';
export type { SuspectProcess } from './suspects.ts';
export type { ActOptions, TaskOptions } from './tasks.ts';
export { threadHeart } from './thread-heart.ts';
export { timedStore } from './timed-store.ts';
