/**
 * What people do to many tasks, as rows. Each call is one transaction that holds the row of the operation
 * and no other; a shift that is to go on with it is put in with it.
 */
import type {
  BulkAnswer,
  BulkBegun,
  BulkOrder,
  BulkRow,
  BulkSave,
  BulkTaking,
  NewBulk,
} from '../bulk/bulks.ts';
import { isOver, ordered, refuseUnboundedBulk, saved, taken } from '../bulk/decide.ts';
import * as log from '../bulk/log.ts';
import { partsOf, textsOf } from '../bulk/texts.ts';
import { StoreBusyError, StoreRefusedError } from '../errors.ts';
import type { NewTask } from '../tasks.ts';
import { insertLogged, selectLogged } from './audit-log.sql.ts';
import { columnsOf } from './batches.ts';
import * as statements from './bulk-operation.sql.ts';
import type { Hinter } from './hinter.ts';
import { TASK_COLUMNS } from './new-tasks.ts';
import type { Pool, Row, Send } from './pool.ts';
import { auditRowOf } from './rows.ts';
import { enqueueTasks } from './step-tracker.sql.ts';

export class PostgresBulks {
  readonly #pool: Pool;
  readonly #hinter: Hinter;

  constructor(pool: Pool, hinter: Hinter) {
    this.#pool = pool;
    this.#hinter = hinter;
  }

  async begin(bulk: NewBulk): Promise<BulkBegun> {
    refuseUnboundedBulk(bulk);
    const begun = await this.#pool.transaction((send) => begin(send, bulk));
    if (!begun.isRepeated) this.#hinter.hint('ready');
    return begun;
  }

  take(taking: BulkTaking): Promise<BulkRow | undefined> {
    return this.#pool.transaction(async (send) => {
      const held = await hold(send, taking.id);
      return write(send, held && taken(held.row, taking, held.now));
    });
  }

  async save(save: BulkSave): Promise<BulkRow | undefined> {
    const row = await this.#pool.transaction(async (send) => {
      const held = await hold(send, save.id);
      const row = await write(send, held && saved(held.row, save, held.now));
      if (row && save.next && row.shiftRun === save.next.id) await putIn(send, save.next);
      return row;
    });
    if (row && row.shiftRun === save.next?.id) this.#hinter.hint('ready');
    return row;
  }

  async order(order: BulkOrder): Promise<BulkAnswer> {
    const { answer, isShiftNew } = await this.#pool.transaction((send) => obey(send, order));
    if (isShiftNew) this.#hinter.hint('ready');
    return answer;
  }
}

async function begin(send: Send, bulk: NewBulk): Promise<BulkBegun> {
  const { requestId, who, id, what, deed, filter, isMasked, rate, countMax, via, shift } = bulk;
  const words = [requestId, who, log.BULK_BEGUN, null, log.beginningOf(bulk)];
  if ((await send(insertLogged, words)).length === 0) {
    const [row] = await send(statements.selectBulk, [
      log.begunBefore(bulk, await loggedUnder(send, requestId)),
    ]);
    if (!row) throw log.forgotten(bulk);
    return { bulk: bulkRowOf(row), isRepeated: true };
  }
  const given = [id, what, deed, filter, isMasked, rate, countMax ?? null, who, via, shift.id];
  const [row] = await send(statements.insertBulk, given);
  await putIn(send, shift);
  return { bulk: bulkRowOf(row!), isRepeated: false };
}

async function obey(
  send: Send,
  order: BulkOrder,
): Promise<{ readonly answer: BulkAnswer; readonly isShiftNew: boolean }> {
  const held = await hold(send, order.id);
  const [logged] = await send(selectLogged, [order.requestId]);
  if (logged) {
    return { answer: log.orderedBefore(order, held?.row, auditRowOf(logged)), isShiftNew: false };
  }
  const isShiftOver = held !== undefined && (await isOverFor(send, held.row));
  const { answer, write: wanted } = ordered(held?.row, order, { isShiftOver, now: held?.now ?? 0 });
  if (!wanted) return { answer, isShiftNew: false };
  const detail = log.orderDetail(order, answer);
  const words = [order.requestId, order.who, log.orderWhat(order), null, detail];
  // Somebody has just used it for something else: begun again, this will be told so.
  if ((await send(insertLogged, words)).length === 0)
    throw new StoreBusyError(`the request id ${order.requestId} is in use`);
  await write(send, wanted.row);
  if (wanted.isShiftNew) await putIn(send, order.shift);
  return { answer, isShiftNew: wanted.isShiftNew };
}

async function hold(
  send: Send,
  id: string,
): Promise<{ readonly row: BulkRow; readonly now: number } | undefined> {
  const [row] = await send(statements.lockBulk, [id]);
  return row && { row: bulkRowOf(row), now: row['now'] as number };
}

async function isOverFor(send: Send, { shiftRun }: BulkRow): Promise<boolean> {
  const [row] = await send(statements.selectShiftOver, [shiftRun]);
  return row?.['is_over'] === true;
}

async function loggedUnder(send: Send, requestId: string) {
  const [row] = await send(selectLogged, [requestId]);
  if (!row) throw new StoreBusyError(`the request id ${requestId} is in use`);
  return auditRowOf(row);
}

async function write(send: Send, row: BulkRow | undefined): Promise<BulkRow | undefined> {
  if (!row) return undefined;
  const { inHand, refusals, samples } = textsOf(row);
  await send(statements.updateBulk, [
    row.id,
    row.status,
    row.rate,
    row.expected ?? null,
    row.cursor ?? null,
    row.isRead,
    inHand,
    row.found,
    row.done,
    row.requested,
    row.already,
    row.refused,
    refusals,
    samples,
    row.shift,
    row.shiftRun,
    row.token,
    row.epoch,
    isOver(row.status),
  ]);
  return row;
}

async function putIn(send: Send, shift: NewTask): Promise<void> {
  const made = await send(enqueueTasks, columnsOf([shift], TASK_COLUMNS));
  if (made.length === 0) throw new StoreRefusedError(`there is a task ${shift.id} already`);
}

export function bulkRowOf(row: Row): BulkRow {
  const maybe = <Value>(value: unknown) => (value ?? undefined) as Value | undefined;
  return {
    id: row['id'] as string,
    what: row['what'] as BulkRow['what'],
    deed: row['deed'] as string,
    filter: row['filter'] as string,
    isMasked: row['is_masked'] as boolean,
    rate: row['rate'] as number,
    countMax: maybe(row['count_max']),
    who: row['who'] as string,
    via: row['via'] as string,
    status: row['status'] as BulkRow['status'],
    createdAt: row['created_at'] as number,
    updatedAt: row['updated_at'] as number,
    endedAt: maybe(row['ended_at']),
    expected: maybe(row['expected']),
    cursor: maybe(row['cursor']),
    isRead: row['is_read'] as boolean,
    found: row['found'] as number,
    done: row['done'] as number,
    requested: row['requested'] as number,
    already: row['already'] as number,
    refused: row['refused'] as number,
    shift: row['shift'] as number,
    shiftRun: row['shift_run'] as BulkRow['shiftRun'],
    token: row['token'] as number,
    epoch: row['epoch'] as number,
    ...partsOf({
      inHand: row['in_hand'] as string,
      refusals: row['refusals'] as string,
      samples: row['samples'] as string,
    }),
  };
}
