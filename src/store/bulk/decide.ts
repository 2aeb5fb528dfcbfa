/**
 * What becomes of a bulk operation: decided here, from the row as it is under its lock, for every store
 * alike. A store reads the row, asks, and writes what it is told.
 */
import { assertNever } from '../../ground/index.ts';
import { REQUEST_ID_CHARS_MAX, VIA_CHARS_MAX, WHO_CHARS_MAX } from '../audit.ts';
import { StoreRefusedError } from '../errors.ts';
import type {
  BulkAnswer,
  BulkOrder,
  BulkRow,
  BulkSave,
  BulkStatus,
  BulkTaking,
  BulkTally,
  NewBulk,
} from './bulks.ts';

export const BULK_RATE_MAX = 5_000;
export const BULK_COUNT_MAX = 1_000_000_000;
/** So many refusals are kept word for word; the rest is counted. */
export const BULK_SAMPLES_MAX = 20;
/** No page is larger: it is one column of a row that is written again and again. */
const IN_HAND_MAX = 1_000;

export function refuseUnboundedBulk(bulk: NewBulk): void {
  refuseWords(bulk);
  refuseRate(bulk.rate);
  const { countMax } = bulk;
  if (countMax === undefined || isWhole(countMax, BULK_COUNT_MAX)) return;
  throw new StoreRefusedError(
    `the most tasks of a bulk operation must be 1 to ${BULK_COUNT_MAX}, whole, got ${countMax}`,
  );
}

function refuseWords({ requestId, who, via }: NewBulk | BulkOrder): void {
  const isFit = (text: string, charsMax: number) => text !== '' && text.length <= charsMax;
  if (
    isFit(requestId, REQUEST_ID_CHARS_MAX) &&
    isFit(who, WHO_CHARS_MAX) &&
    isFit(via, VIA_CHARS_MAX)
  )
    return;
  throw new StoreRefusedError('the request id, who asks and via must be texts of 1 to 200', {
    hint: 'they are kept in the audit log; say them shorter',
  });
}

function refuseRate(rate: number): void {
  if (isWhole(rate, BULK_RATE_MAX)) return;
  throw new StoreRefusedError(
    `the rate must be 1 to ${BULK_RATE_MAX} tasks a second, whole, got ${rate}`,
  );
}

function isWhole(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= max;
}

export function begun(bulk: NewBulk, now: number): BulkRow {
  const { requestId: _, shift, digest: __, ...given } = bulk;
  return {
    ...given,
    status: 'running',
    createdAt: now,
    updatedAt: now,
    endedAt: undefined,
    expected: undefined,
    cursor: undefined,
    isRead: false,
    inHand: [],
    found: 0,
    ...nothingDone,
    shift: 1,
    shiftRun: shift.id,
    token: 0,
    epoch: 0,
  };
}

export const nothingDone: BulkTally = {
  done: 0,
  requested: 0,
  already: 0,
  refused: 0,
  refusals: {},
  samples: [],
};

/** The row under a new epoch; undefined where it is over, or another run is its shift by now. */
export function taken(row: BulkRow, { run, token }: BulkTaking, now: number): BulkRow | undefined {
  // A process that was stopped, and wakes when another one has taken its run over, has an older token.
  if (row.shiftRun !== run || token < row.token) return undefined;
  if (row.status === 'paused' || isOver(row.status)) return undefined;
  return { ...row, token, epoch: row.epoch + 1, updatedAt: now };
}

/** The row with what its shift has done; undefined where that is not its shift any more. */
export function saved(row: BulkRow, save: BulkSave, now: number): BulkRow | undefined {
  if (row.epoch !== save.epoch || isOver(row.status)) return undefined;
  const { read, inHand, next } = save;
  if (inHand.length > IN_HAND_MAX) {
    throw new StoreRefusedError(`a page of ${inHand.length} tasks is larger than ${IN_HAND_MAX}`);
  }
  const isRead = row.isRead || (read !== undefined && read.cursor === undefined);
  const status = after(row.status, isRead && inHand.length === 0);
  const ended = isOver(status);
  const goesOn = next !== undefined && status === 'running';
  return {
    ...row,
    ...added(row, save.tally ?? nothingDone),
    status,
    isRead,
    cursor: read ? read.cursor : row.cursor,
    expected: save.expected ?? row.expected,
    found: row.found + (read?.found ?? 0),
    inHand: ended ? [] : inHand,
    updatedAt: now,
    endedAt: ended ? now : undefined,
    ...(goesOn ? shifted(row, next.id) : {}),
  };
}

function after(status: BulkStatus, isThrough: boolean): BulkStatus {
  switch (status) {
    case 'running':
      return isThrough ? 'completed' : 'running';
    case 'pausing':
    case 'paused':
      return 'paused';
    case 'cancelling':
      return 'cancelled';
    default:
      return status;
  }
}

function added(row: BulkTally, tally: BulkTally): BulkTally {
  const refusals: Partial<Record<string, number>> = { ...row.refusals };
  for (const [why, count] of Object.entries(tally.refusals)) {
    refusals[why] = (refusals[why] ?? 0) + count;
  }
  return {
    done: row.done + tally.done,
    requested: row.requested + tally.requested,
    already: row.already + tally.already,
    refused: row.refused + tally.refused,
    refusals: refusals as BulkTally['refusals'],
    samples: [...row.samples, ...tally.samples].slice(0, BULK_SAMPLES_MAX),
  };
}

function shifted({ shift }: BulkRow, shiftRun: BulkRow['shiftRun']) {
  return { shift: shift + 1, shiftRun, token: 0 };
}

export function isOver(status: BulkStatus): boolean {
  return status === 'cancelled' || status === 'completed';
}

/** What an order makes of it, whether a shift is put in with that, and what the log says. */
export interface BulkVerdict {
  readonly answer: BulkAnswer;
  readonly write?: { readonly row: BulkRow; readonly isShiftNew: boolean } | undefined;
}

/** `isShiftOver`: the run that was its shift has ended, and nobody is at it. */
export function ordered(
  row: BulkRow | undefined,
  given: BulkOrder,
  { isShiftOver, now }: { readonly isShiftOver: boolean; readonly now: number },
): BulkVerdict {
  refuseWords(given);
  if (given.order.what === 'pace') refuseRate(given.order.rate);
  if (!row) {
    const detail = `there is no bulk operation ${given.id}`;
    return { answer: { kind: 'refused', why: 'unknown', detail } };
  }
  const step = stepOf(row, given.order);
  if ('why' in step) return { answer: { kind: 'refused', why: 'ended', detail: step.why } };
  const { status, rate = row.rate } = step;
  // Whoever was at it has confirmed a pause, or is gone without having done so.
  const wants = status === 'running' || status === 'pausing' || status === 'cancelling';
  const isShiftNew = wants && (row.status === 'paused' || isShiftOver);
  const isSame = status === row.status && rate === row.rate && !isShiftNew;
  const changed: BulkRow = {
    ...row,
    status,
    rate,
    updatedAt: isSame ? row.updatedAt : now,
    ...(isOver(status) ? { endedAt: row.endedAt ?? now, inHand: [] } : {}),
    ...(isShiftNew ? shifted(row, given.shift.id) : {}),
  };
  const isAsked = status !== row.status && (status === 'pausing' || status === 'cancelling');
  const kind = isSame ? 'already' : isAsked ? 'requested' : 'done';
  const isDryRun = given.isDryRun ?? false;
  const answer = { kind, isRepeated: false, isDryRun, bulk: changed } as const;
  return isDryRun ? { answer } : { answer, write: { row: changed, isShiftNew } };
}

type Step = { readonly status: BulkStatus; readonly rate?: number } | { readonly why: string };

function stepOf({ status }: BulkRow, order: BulkOrder['order']): Step {
  const isStopped = status === 'cancelling' || isOver(status);
  switch (order.what) {
    case 'pause':
      if (isStopped) return { why: `it is ${status}` };
      return { status: status === 'paused' ? 'paused' : 'pausing' };
    case 'resume':
      return isStopped ? { why: `it is ${status}` } : { status: 'running' };
    case 'cancel':
      if (status === 'completed') return { why: 'it is completed' };
      if (status === 'cancelled' || status === 'paused') return { status: 'cancelled' };
      return { status: 'cancelling' };
    case 'pace':
      return isOver(status) ? { why: `it is ${status}` } : { status, rate: order.rate };
    default:
      return assertNever(order);
  }
}
