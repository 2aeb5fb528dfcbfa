/** Bulk operations behind a codec: their filters and reasons are sealed, as the texts of tasks are. */
import type { Codec } from '../../ground/index.ts';
import { BULK_DEED, BULK_FILTER, looseOpen, sealInput } from '../sealed-texts.ts';
import type { Store } from '../store.ts';
import type { NewTask } from '../tasks.ts';
import type { BulkRow, NewBulk } from './bulks.ts';
import { digestOf } from './log.ts';

type SealingBulks = Pick<Store, 'beginBulk' | 'takeBulk' | 'saveBulk' | 'orderBulk'>;

export function sealingBulks(store: Store, codec: Codec): SealingBulks {
  const opened = (row: BulkRow | undefined) => row && openBulk(codec, row, 'strictly');
  const sealedTask = (task: NewTask) => ({
    ...task,
    payload: sealInput(codec, task.id, task.payload),
  });
  return {
    beginBulk: async (bulk) => {
      const sealed = { ...sealBulk(codec, bulk), shift: sealedTask(bulk.shift) };
      const begun = await store.beginBulk(sealed);
      return { ...begun, bulk: openBulk(codec, begun.bulk, 'loosely') };
    },
    takeBulk: async (taking) => opened(await store.takeBulk(taking)),
    saveBulk: async (save) =>
      opened(await store.saveBulk({ ...save, next: save.next && sealedTask(save.next) })),
    orderBulk: async (order) => {
      const answer = await store.orderBulk({ ...order, shift: sealedTask(order.shift) });
      return 'bulk' in answer
        ? { ...answer, bulk: openBulk(codec, answer.bulk, 'loosely') }
        : answer;
    },
  };
}

/** What was asked is named before it is sealed: sent again it is sealed in other letters. */
function sealBulk(codec: Codec, bulk: NewBulk): NewBulk {
  const { id: run, filter, deed } = bulk;
  const plain = digestOf(bulk);
  return {
    ...bulk,
    digest: codec.mac?.(plain, { run: bulk.requestId, what: 'digest' }) ?? plain,
    filter: codec.encode(filter, { run, what: BULK_FILTER }),
    deed: codec.encode(deed, { run, what: BULK_DEED }),
  };
}

/** Who looks sees what cannot be opened as it is; who works it off must know what it says. */
export function openBulk(codec: Codec, row: BulkRow, how: 'strictly' | 'loosely'): BulkRow {
  const { id: run } = row;
  const open = (what: string, text: string) =>
    how === 'strictly' ? codec.decode(text, { run, what }) : looseOpen(codec, run, what, text);
  return { ...row, filter: open(BULK_FILTER, row.filter), deed: open(BULK_DEED, row.deed) };
}
