/**
 * The rows that bulk operations leave in the audit log, and what they are read for again: whoever asks a
 * second time, since the answer was lost, is answered from them.
 */
import { hash } from '../../ground/index.ts';
import { RequestReusedError } from '../errors.ts';
import type { BulkAnswer, BulkOrder, BulkRow, NewBulk } from './bulks.ts';

/** What the log says of its beginning, and is compared with where it is asked for again. */
export function beginningOf(bulk: NewBulk): string {
  const { id, what, via, filter, isMasked, rate, countMax } = bulk;
  return JSON.stringify({
    via,
    bulk: id,
    does: what,
    filter,
    isMasked,
    rate,
    countMax,
    digest: digestOf(bulk),
  });
}

/** Names what is asked: one request id stands for one of them. */
export function digestOf({ digest, deed, filter, rate, countMax, isMasked }: NewBulk): string {
  return digest ?? hash(JSON.stringify([deed, filter, rate, countMax ?? null, isMasked]));
}

export const BULK_BEGUN = 'bulk';

/** What the log has under a request id. */
interface Logged {
  readonly what: string;
  readonly detail: string | undefined;
}

/** The id of what was begun under this request id before; one that stands for something else is refused. */
export function begunBefore(bulk: NewBulk, logged: Logged): string {
  const { bulk: id, digest } = detailOf(logged);
  const isSame = logged.what === BULK_BEGUN && digest === digestOf(bulk);
  if (isSame && typeof id === 'string') return id;
  throw new RequestReusedError(bulk.requestId, logged.what);
}

/** Sent again when retention has removed what it began: it is over, and is not begun anew. */
export function forgotten({ requestId }: NewBulk): RequestReusedError {
  return new RequestReusedError(requestId, 'a bulk operation that has ended and is kept no longer');
}

export function orderWhat({ order }: BulkOrder): string {
  return `bulk.${order.what}`;
}

export function orderDetail({ id, via, order }: BulkOrder, answer: BulkAnswer): string {
  const rate = order.what === 'pace' ? order.rate : undefined;
  return JSON.stringify({ via, bulk: id, kind: answer.kind, rate });
}

/** How an order was answered before; one that stands for something else is refused. */
export function orderedBefore(
  given: BulkOrder,
  row: BulkRow | undefined,
  logged: Logged,
): BulkAnswer {
  const { bulk, kind, rate } = detailOf(logged);
  const asked = given.order.what === 'pace' ? given.order.rate : undefined;
  const isSame = logged.what === orderWhat(given) && bulk === given.id && rate === asked;
  if (!isSame) throw new RequestReusedError(given.requestId, logged.what);
  if (row) return { kind: kind as 'done', isRepeated: true, isDryRun: false, bulk: row };
  return { kind: 'refused', why: 'unknown', detail: `there is no bulk operation ${given.id}` };
}

function detailOf({ detail }: Logged): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(detail ?? '{}')) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
