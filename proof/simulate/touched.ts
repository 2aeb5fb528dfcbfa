/** Which rows a call may change, by its own words: whatever else changes was changed by nobody. */
import type { Act } from '../../src/store/acts.ts';
import type { BulkOrder, BulkSave, NewBulk } from '../../src/store/bulk/bulks.ts';
import type { Beat, PodBirth } from '../../src/store/pods.ts';
import type { Ticking } from '../../src/store/schedule/schedules.ts';
import type { Store } from '../../src/store/store.ts';
import type {
  ClaimedTask,
  EnqueueAnswer,
  MirroredRun,
  Segment,
  Settlement,
  TaskRow,
} from '../../src/store/tasks.ts';

type Given = readonly unknown[];
type Named = (given: Given, answer: unknown) => readonly string[];

const nothing: Named = () => [];
const claimed: Named = (_, answer) => (answer as ClaimedTask[]).map(({ task }) => task);

const madeBy = ({ deed }: Act) => (deed.what === 'fork' ? [deed.as] : []);

/** The tasks a call may change. */
export const TASKS: Record<keyof Store, Named> = {
  capabilities: nothing,
  checkSchema: nothing,
  close: nothing,
  register: nothing,
  beat: nothing,
  markDraining: nothing,
  beginTerm: nothing,
  requestDrain: nothing,
  pods: nothing,
  publishThrottles: nothing,
  throttles: nothing,
  changeThrottle: nothing,
  announce: nothing,
  abandoned: nothing,
  known: nothing,
  inFlight: nothing,
  census: nothing,
  enqueue: (_, answer) => (answer as EnqueueAnswer[]).map(({ id }) => id),
  claim: claimed,
  held: nothing,
  restore: ([, claims]) => (claims as ClaimedTask[]).map(({ task }) => task),
  follow: nothing,
  hasSuspects: nothing,
  settle: ([, settlements]) => (settlements as Settlement[]).map(({ task }) => task),
  begin: nothing,
  settled: nothing,
  archive: ([segments]) => (segments as Segment[]).map(({ task }) => task),
  histories: nothing,
  mayChange: nothing,
  outlines: nothing,
  recordsIn: nothing,
  heads: nothing,
  mirror: ([, runs]) => (runs as MirroredRun[]).map(({ id }) => id),
  worklist: nothing,
  fence: nothing,
  take: claimed,
  retire: nothing,
  failHopeless: (_, answer) => (answer as TaskRow[]).map(({ id }) => id),
  hasHopeless: nothing,
  hasOld: nothing,
  prune: nothing,
  find: nothing,
  list: nothing,
  note: nothing,
  queues: nothing,
  pausedMachines: nothing,
  changeFlow: nothing,
  beginBulk: ([bulk]) => [(bulk as NewBulk).shift.id],
  takeBulk: nothing,
  saveBulk: ([save]) => [(save as BulkSave).next?.id ?? ''],
  changeSchedule: nothing,
  dueSchedules: nothing,
  tickSchedule: ([ticking]) => (ticking as Ticking).tasks.map(({ id }) => id),
  orderBulk: ([order]) => [(order as BulkOrder).shift.id],
  act: ([act]) => [(act as Act).task, ...madeBy(act as Act)],
  watch: nothing,
  violations: nothing,
  openReader: nothing,
  listen: nothing,
  rest: nothing,
  mark: nothing,
  rise: nothing,
};

/** The pod a call may change. */
export const POD: Partial<Record<keyof Store, (given: Given) => string>> = {
  register: ([birth]) => (birth as PodBirth).pod,
  beat: ([beat]) => (beat as Beat).pod,
  markDraining: ([pod]) => pod as string,
  requestDrain: ([pod]) => pod as string,
  fence: ([pod]) => pod as string,
  retire: ([pod]) => pod as string,
};
