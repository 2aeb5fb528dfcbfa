/** What people do to many tasks, as rows. The lock on the file is that of the row, too. */
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
import { partsOf, textsOf } from '../bulk/texts.ts';
import { StoreRefusedError } from '../errors.ts';
import type { NewTask } from '../tasks.ts';
import { insertLogged, selectLogged } from './audit-log.sql.ts';
import * as sql from './bulk-operation.sql.ts';
import { enqueue } from './enqueue.ts';
import type { Tx } from './session.ts';

/** What became of it, and whether a run was put in that somebody may claim. */
export interface Made<Answer> {
  readonly answer: Answer;
  readonly isShiftNew: boolean;
}

export function beginBulk(tx: Tx, bulk: NewBulk): Made<BulkBegun> {
  refuseUnboundedBulk(bulk);
  const logged = loggedUnder(tx, bulk.requestId);
  if (logged) {
    const row = find(tx, log.begunBefore(bulk, logged));
    if (!row) throw log.forgotten(bulk);
    return { answer: { bulk: row, isRepeated: true }, isShiftNew: false };
  }
  const row = begun(bulk, tx.now);
  tx.run(sql.insertBulk, {
    id: row.id,
    what: row.what,
    deed: row.deed,
    filter: row.filter,
    is_masked: row.isMasked ? 1 : 0,
    rate: row.rate,
    count_max: row.countMax ?? null,
    who: row.who,
    via: row.via,
    shift_run: row.shiftRun,
    now: tx.now,
  });
  putIn(tx, bulk.shift);
  note(tx, bulk, log.BULK_BEGUN, log.beginningOf(bulk));
  return { answer: { bulk: row, isRepeated: false }, isShiftNew: true };
}

export function takeBulk(tx: Tx, taking: BulkTaking): BulkRow | undefined {
  const row = find(tx, taking.id);
  return write(tx, row && taken(row, taking, tx.now));
}

export function saveBulk(tx: Tx, save: BulkSave): Made<BulkRow | undefined> {
  const before = find(tx, save.id);
  const row = write(tx, before && saved(before, save, tx.now));
  const isShiftNew = row !== undefined && row.shiftRun === save.next?.id;
  if (isShiftNew) putIn(tx, save.next!);
  return { answer: row, isShiftNew };
}

export function orderBulk(tx: Tx, order: BulkOrder): Made<BulkAnswer> {
  const row = find(tx, order.id);
  const logged = loggedUnder(tx, order.requestId);
  if (logged) return { answer: log.orderedBefore(order, row, logged), isShiftNew: false };
  const isShiftOver = row !== undefined && !tx.get(sql.selectShiftOpen, { run: row.shiftRun });
  const { answer, write: wanted } = ordered(row, order, { isShiftOver, now: tx.now });
  if (!wanted) return { answer, isShiftNew: false };
  write(tx, wanted.row);
  if (wanted.isShiftNew) putIn(tx, order.shift);
  note(tx, order, log.orderWhat(order), log.orderDetail(order, answer));
  return { answer, isShiftNew: wanted.isShiftNew };
}

/** After all ids in the order of characters. */
const LAST_ID = '\u{10ffff}';

export function bulks(tx: Tx, { ids, before, countMax }: BulkQuery): BulkRow[] {
  const count = Math.max(0, countMax);
  if (ids) {
    const found = [...new Set(ids)].flatMap((id) => find(tx, id) ?? []);
    return found.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, count);
  }
  return tx.all<RawBulk>(sql.selectBulks, { before: before ?? LAST_ID, count }).map(bulkRow);
}

function find(tx: Tx, id: string): BulkRow | undefined {
  const row = tx.get<RawBulk>(sql.selectBulk, { id });
  return row && bulkRow(row);
}

function write(tx: Tx, row: BulkRow | undefined): BulkRow | undefined {
  if (!row) return undefined;
  const { inHand, refusals, samples } = textsOf(row);
  tx.run(sql.updateBulk, {
    id: row.id,
    status: row.status,
    rate: row.rate,
    expected: row.expected ?? null,
    cursor: row.cursor ?? null,
    is_read: row.isRead ? 1 : 0,
    in_hand: inHand,
    found: row.found,
    done: row.done,
    requested: row.requested,
    already: row.already,
    refused: row.refused,
    refusals,
    samples,
    shift: row.shift,
    shift_run: row.shiftRun,
    token: row.token,
    epoch: row.epoch,
    updated_at: row.updatedAt,
    ended_at: row.endedAt ?? null,
  });
  return row;
}

function putIn(tx: Tx, shift: NewTask): void {
  const [answer] = enqueue(tx, [shift]);
  if (!answer?.isNew) throw new StoreRefusedError(`there is a task ${shift.id} already`);
}

function note(tx: Tx, of: NewBulk | BulkOrder, what: string, detail: string): void {
  const { requestId: id, who } = of;
  tx.run(insertLogged, { id, who, what, task: null, detail, now: tx.now });
}

function loggedUnder(tx: Tx, id: string): { what: string; detail: string | undefined } | undefined {
  const row = tx.get<{ what: string; detail: string | null }>(selectLogged, { id });
  return row && { what: row.what, detail: row.detail ?? undefined };
}

interface RawBulk {
  readonly id: string;
  readonly what: BulkRow['what'];
  readonly deed: string;
  readonly filter: string;
  readonly is_masked: number;
  readonly rate: number;
  readonly count_max: number | null;
  readonly who: string;
  readonly via: string;
  readonly status: BulkRow['status'];
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  readonly expected: number | null;
  readonly cursor: string | null;
  readonly is_read: number;
  readonly in_hand: string;
  readonly found: number;
  readonly done: number;
  readonly requested: number;
  readonly already: number;
  readonly refused: number;
  readonly refusals: string;
  readonly samples: string;
  readonly shift: number;
  readonly shift_run: BulkRow['shiftRun'];
  readonly token: number;
  readonly epoch: number;
}

function bulkRow(row: RawBulk): BulkRow {
  const { is_masked, count_max, created_at, updated_at, ended_at, expected, cursor } = row;
  const { is_read, in_hand, refusals, samples, shift_run, ...same } = row;
  const { id, what, deed, filter, rate, who, via, status, found } = same;
  const { done, requested, already, refused, shift, token, epoch } = same;
  return {
    ...{ id, what, deed, filter, rate, who, via, status, found },
    ...{ done, requested, already, refused, shift, token, epoch },
    isMasked: is_masked === 1,
    countMax: count_max ?? undefined,
    createdAt: created_at,
    updatedAt: updated_at,
    endedAt: ended_at ?? undefined,
    expected: expected ?? undefined,
    cursor: cursor ?? undefined,
    isRead: is_read === 1,
    shiftRun: shift_run,
    ...partsOf({ inHand: in_hand, refusals, samples }),
  };
}
