/**
 * What people change. Each change and its row in the audit log are one transaction: these are rare, and
 * may take the few statements that the work of the fleet may not.
 */
import type { Act, ActAnswer, Note } from '../acts.ts';
import type {
  BulkAnswer,
  BulkBegun,
  BulkOrder,
  BulkRow,
  BulkSave,
  BulkTaking,
  NewBulk,
} from '../bulk/bulks.ts';
import { StoreRefusedError } from '../errors.ts';
import * as actRules from '../memory/act.ts';
import * as bulkRules from '../memory/bulk.ts';
import { changeFlow as changeFlowRule } from '../memory/flow.ts';
import * as scheduleRules from '../memory/schedules.ts';
import { changeThrottle as changeThrottleRule } from '../memory/throttles.ts';
import type { FlowAnswer, FlowChange } from '../queues.ts';
import type {
  DueSchedules,
  ScheduleAnswer,
  ScheduleChange,
  Ticked,
  Ticking,
} from '../schedule/schedules.ts';
import type { NewTask } from '../tasks.ts';
import type { ThrottleAnswer, ThrottleChange } from '../throttles.ts';
import type { Calls } from './calls.ts';
import { FLEET_FACT } from './columns.ts';
import {
  gatherAudits,
  gatherFact,
  gatherFacts,
  gatherHistory,
  gatherTasks,
  gatherTwins,
  type Reading,
} from './gather.ts';
import { refuseOrdered } from './tasks-in.ts';

/** Nothing is to be changed: that rests on what was read, and on nothing else. */
const UNCHANGED = { isDoubtful: (_: unknown, hasChanges: boolean) => !hasChanges } as const;

export function act(calls: Calls, given: Act): Promise<ActAnswer> {
  const { task, deed, requestId, bulk } = given;
  const ids = deed.what === 'fork' ? [task, deed.as] : [task];
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [requestId]);
      await gatherTasks(reading, ids);
      await gatherHistory(reading, ids, true);
      if (bulk) await gatherFact(reading, 'bulk', bulk.id);
    },
    (tables) => actRules.act(tables, given),
    // No row of the bulk operation is written that could be compared: it is to be read as it is.
    { ...UNCHANGED, sureOf: bulk ? [FLEET_FACT] : [] },
  );
}

export function note(calls: Calls, given: Note): Promise<boolean> {
  return calls.change(
    (reading) => gatherAudits(reading, [given.requestId]),
    (tables) => actRules.note(tables, given),
  );
}

export async function changeFlow(calls: Calls, change: FlowChange): Promise<FlowAnswer> {
  const { deed } = change;
  // Who counts what all pods hold, and claims by that, needs a lock that they share.
  if (deed.what === 'queue.limit' && deed.limit !== undefined) {
    throw new StoreRefusedError('a store in Snowflake has no limits of queues', {
      hint: 'pause the queue, or keep it in Postgres',
    });
  }
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [change.requestId]);
      if ('queue' in deed) await gatherFact(reading, 'queue', deed.queue);
      else await gatherFact(reading, 'machine', deed.machine);
    },
    (tables) => changeFlowRule(tables, change),
    UNCHANGED,
  );
}

export function changeThrottle(calls: Calls, change: ThrottleChange): Promise<ThrottleAnswer> {
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [change.requestId]);
      await gatherFact(reading, 'throttle', change.order.api);
    },
    (tables) => changeThrottleRule(tables, change),
    UNCHANGED,
  );
}

export function beginBulk(calls: Calls, bulk: NewBulk): Promise<BulkBegun> {
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [bulk.requestId]);
      await gatherFacts(reading, 'bulk');
      await gatherNew(reading, [bulk.shift]);
    },
    (tables) => bulkRules.beginBulk(tables, bulk),
    UNCHANGED,
  );
}

export function takeBulk(calls: Calls, taking: BulkTaking): Promise<BulkRow | undefined> {
  return calls.change(
    (reading) => gatherFact(reading, 'bulk', taking.id),
    (tables) => bulkRules.takeBulk(tables, taking),
    UNCHANGED,
  );
}

export function saveBulk(calls: Calls, save: BulkSave): Promise<BulkRow | undefined> {
  return calls.change(
    async (reading) => {
      await gatherFact(reading, 'bulk', save.id);
      if (save.next) await gatherNew(reading, [save.next]);
    },
    (tables) => bulkRules.saveBulk(tables, save),
    UNCHANGED,
  );
}

export function orderBulk(calls: Calls, order: BulkOrder): Promise<BulkAnswer> {
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [order.requestId]);
      await gatherFact(reading, 'bulk', order.id);
      const row = reading.desk.tables.bulks.get(order.id);
      if (row) await gatherTasks(reading, [row.shiftRun], true);
      await gatherNew(reading, [order.shift]);
    },
    (tables) => bulkRules.orderBulk(tables, order),
    UNCHANGED,
  );
}

export function changeSchedule(calls: Calls, change: ScheduleChange): Promise<ScheduleAnswer> {
  return calls.change(
    async (reading) => {
      await gatherAudits(reading, [change.requestId]);
      await gatherFact(reading, 'schedule', change.name);
      if (change.order.what !== 'run') return;
      const { lastRun } = reading.desk.tables.schedules.get(change.name) ?? {};
      if (lastRun !== undefined) await gatherTasks(reading, [lastRun], true);
      await gatherNew(reading, [change.order.task]);
    },
    (tables) => scheduleRules.changeSchedule(tables, change),
    UNCHANGED,
  );
}

export function dueSchedules(
  calls: Calls,
  machines: readonly string[],
  countMax: number,
): Promise<DueSchedules> {
  return calls.look(
    (reading) => gatherFacts(reading, 'schedule'),
    (tables) => scheduleRules.dueSchedules(tables, machines, countMax),
  );
}

export function tickSchedule(calls: Calls, ticking: Ticking): Promise<Ticked> {
  return calls.change(
    async (reading) => {
      await gatherFact(reading, 'schedule', ticking.name);
      await gatherNew(reading, ticking.tasks);
    },
    (tables) => scheduleRules.tickSchedule(tables, ticking),
    UNCHANGED,
  );
}

async function gatherNew(reading: Reading, tasks: readonly NewTask[]): Promise<void> {
  refuseOrdered(tasks);
  if (tasks.length > 0) await gatherTwins(reading, tasks);
}
