/** One bulk operation, with the run that is at it. */
import { BulkNotFoundError, type BulkView, bulkViewsOf } from '../../fleet/index.ts';
import { isRunId, show } from '../../ground/index.ts';
import type { Store, StoreReader } from '../../store/index.ts';
import { UsageError } from '../errors.ts';

export async function find(store: Store, id: string): Promise<BulkView> {
  const reader = await store.openReader();
  try {
    return await findIn(reader, id);
  } finally {
    await reader.close();
  }
}

export async function findIn(reader: StoreReader, id: string): Promise<BulkView> {
  const [view] = await bulkViewsOf(await reader.bulks({ ids: [id], countMax: 1 }), reader);
  if (!view) throw new BulkNotFoundError(id);
  return view;
}

/** As somebody typed it. */
export function bulkIdOf(text: string | undefined): string {
  if (text !== undefined && isRunId(text)) return text;
  throw new UsageError(
    `the argument must be the id of a bulk operation, 26 letters and digits; got ${show(text)}`,
    { hint: 'list them with: fleetq bulk list' },
  );
}
