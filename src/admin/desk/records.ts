/** All records that the archive in the store has of a run, for whoever needs all of them. */
import { BrokenHistoryError, rowsOf } from '../../fleet/index.ts';
import { KeyMissingError, type RunId } from '../../ground/index.ts';
import { type Codec, decodeRows, SealedRunError, type StoredRecord } from '../../journal/index.ts';
import type { StoreReader, TaskRow } from '../../store/index.ts';

/** Put together and verified; none where retention has removed them. */
export async function archivedRecords(
  reader: StoreReader,
  { id, generation, lastHash }: Pick<TaskRow, 'id' | 'generation' | 'lastHash'>,
  codec: Codec,
): Promise<StoredRecord[]> {
  const segments = await reader.histories([{ task: id, generation }]);
  if (segments.length === 0) return [];
  return decoded(id, rowsOf(id, segments, lastHash), codec);
}

function decoded(id: RunId, rows: Parameters<typeof decodeRows>[1], codec: Codec): StoredRecord[] {
  try {
    return decodeRows(id, rows, codec);
  } catch (cause) {
    // Whole, and not for these eyes: that is no damage.
    if (cause instanceof KeyMissingError || cause instanceof SealedRunError) throw cause;
    throw new BrokenHistoryError(id, (cause as Error).message, { cause });
  }
}
