/** What people do to many tasks, as rows. What becomes of each is decided elsewhere. */
import type {
  BulkAnswer,
  BulkBegun,
  BulkOrder,
  BulkQuery,
  BulkRow,
  BulkSave,
  BulkTaking,
  NewBulk,
} from '../bulk/bulks.ts';
import { begun, ordered, refuseUnboundedBulk, saved, taken } from '../bulk/decide.ts';
import * as log from '../bulk/log.ts';
import { enqueue } from './claims.ts';
import { isEnded, type MemoryTables, refuseUnstorable } from './tables.ts';

export function beginBulk(tables: MemoryTables, bulk: NewBulk): BulkBegun {
  refuseUnboundedBulk(bulk);
  const { requestId, who, via, deed, filter, shift } = bulk;
  refuseUnstorable(requestId, who, via, deed, filter);
  const logged = tables.audit.get(requestId);
  if (logged) {
    const row = tables.bulks.get(log.begunBefore(bulk, logged));
    if (row) return { bulk: row, isRepeated: true };
    throw log.forgotten(bulk);
  }
  const row = begun(bulk, tables.now());
  tables.bulks.set(row.id, row);
  enqueue(tables, [shift]);
  noteIn(tables, bulk, log.BULK_BEGUN, log.beginningOf(bulk));
  return { bulk: row, isRepeated: false };
}

export function takeBulk(tables: MemoryTables, taking: BulkTaking): BulkRow | undefined {
  const row = tables.bulks.get(taking.id);
  return put(tables, row && taken(row, taking, tables.now()));
}

export function saveBulk(tables: MemoryTables, save: BulkSave): BulkRow | undefined {
  const before = tables.bulks.get(save.id);
  const row = put(tables, before && saved(before, save, tables.now()));
  if (row && save.next && row.shiftRun === save.next.id) enqueue(tables, [save.next]);
  return row;
}

export function orderBulk(tables: MemoryTables, order: BulkOrder): BulkAnswer {
  const row = tables.bulks.get(order.id);
  const logged = tables.audit.get(order.requestId);
  if (logged) return log.orderedBefore(order, row, logged);
  const shift = row && tables.tasks.get(row.shiftRun);
  const isShiftOver = shift === undefined || isEnded(shift);
  const { answer, write } = ordered(row, order, { isShiftOver, now: tables.now() });
  if (!write) return answer;
  put(tables, write.row);
  if (write.isShiftNew) enqueue(tables, [order.shift]);
  noteIn(tables, order, log.orderWhat(order), log.orderDetail(order, answer));
  return answer;
}

export function bulks(tables: MemoryTables, { ids, before, countMax }: BulkQuery): BulkRow[] {
  return [...tables.bulks.values()]
    .filter(({ id }) => ids?.includes(id) ?? (before === undefined || id < before))
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, Math.max(0, countMax));
}

export function oldBulks(tables: MemoryTables, before: number): BulkRow[] {
  return [...tables.bulks.values()].filter(
    ({ endedAt }) => endedAt !== undefined && endedAt < before,
  );
}

function put(tables: MemoryTables, row: BulkRow | undefined): BulkRow | undefined {
  if (row) tables.bulks.set(row.id, row);
  return row;
}

function noteIn(
  tables: MemoryTables,
  { requestId: id, who }: NewBulk | BulkOrder,
  what: string,
  detail: string,
): void {
  tables.audit.set(id, { id, at: tables.now(), who, what, taskId: undefined, detail });
}
