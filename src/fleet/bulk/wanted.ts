/** What somebody wants done to many tasks, read and put into the words of the store. */
import { type MintRunId, show } from '../../ground/index.ts';
import { parseFilter, QueryError, showFilter } from '../../query/index.ts';
import {
  BULK_COUNT_MAX,
  BULK_RATE_MAX,
  type BulkDeed,
  type BulkOrder,
  type NewBulk,
  refuseUnbounded,
  StoreRefusedError,
  shiftOf,
} from '../../store/index.ts';

export const BULK_RATE = 50;

export interface WantedBulk {
  readonly deed: BulkDeed;
  readonly filter: string;
  readonly isMasked: boolean;
  readonly rate?: number | undefined;
  readonly countMax?: number | undefined;
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
}

/** Refused where it would not be done as it was meant. */
export function bulkOf(wanted: WantedBulk, mint: MintRunId): NewBulk {
  const { deed, rate = BULK_RATE, countMax, isMasked, requestId, who, via } = wanted;
  refuseOutside('the rate', rate, BULK_RATE_MAX);
  if (countMax !== undefined) refuseOutside('the limit', countMax, BULK_COUNT_MAX);
  refuseUnbounded({ requestId, who, via, deed });
  const id = mint();
  return {
    ...{ id, requestId, who, via, isMasked, rate, countMax },
    what: deed.what,
    deed: JSON.stringify(deed),
    filter: canonical(wanted.filter),
    shift: shiftOf(id, mint()),
  };
}

/** As it is shown and kept. One that says nothing would mean everything, and is a slip more often. */
export function canonical(text: string): string {
  const filter = parseFilter(text);
  if (filter.terms.length > 0) return showFilter(filter);
  throw new QueryError({ from: 0, until: 0 }, 'it has no term, and would mean every task', {
    hint: 'say which tasks, such as status:failed; every one there is: is:finished,unfinished',
  });
}

export function orderOf(
  id: string,
  order: BulkOrder['order'],
  by: Pick<BulkOrder, 'requestId' | 'who' | 'via' | 'isDryRun'>,
  mint: MintRunId,
): BulkOrder {
  return { id, order, ...by, shift: shiftOf(id, mint()) };
}

function refuseOutside(what: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw new StoreRefusedError(
    `${what} must be a whole number from 1 to ${max}, got ${show(value)}`,
  );
}
