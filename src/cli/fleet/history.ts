/** What the store holds of a task's run: its records, put together and verified. */
import { BrokenHistoryError, rowsOf } from '../../fleet/index.ts';
import { type Codec, identityCodec, lookingCodec, type StoredRecord } from '../../journal/index.ts';
import { decodeRows } from '../../journal/record.ts';
import type { Store, TaskRow } from '../../store/index.ts';

export async function recordsOf(
  store: Pick<Store, 'histories'>,
  { id, generation, lastHash }: Pick<TaskRow, 'id' | 'generation' | 'lastHash'>,
  after = -1,
  codec: Codec = identityCodec,
): Promise<StoredRecord[]> {
  const segments = await store.histories([{ task: id, generation }]);
  // Retention may have been there since the row was read.
  if (segments.length === 0) return [];
  const rows = rowsOf(id, segments, lastHash);
  return decodeRecords(id, rows, lookingCodec(codec)).filter(({ seq }) => seq > after);
}

export function decodeRecords(
  id: TaskRow['id'],
  rows: Parameters<typeof decodeRows>[1],
  codec: Codec,
): StoredRecord[] {
  try {
    return decodeRows(id, rows, codec);
  } catch (cause) {
    throw new BrokenHistoryError(id, (cause as Error).message, { cause });
  }
}
