/** A run's records, from the journal of this process or from the archive in the store. */
import { BrokenHistoryError, rowsOf } from '../../fleet/index.ts';
import { type Json, KeyMissingError, type RunId } from '../../ground/index.ts';
import { type Codec, decodeRows, SealedRunError, type StoredRecord } from '../../journal/index.ts';
import { placeIn, readOldState, toldEnding } from '../../machine/index.ts';
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

/** What the run was after a record: where it stood, with what, and what its steps had put out. */
export interface RunContext {
  readonly seq: number;
  readonly at: number;
  readonly state: string;
  readonly attempt: number;
  readonly input: Json;
  readonly outputs: Readonly<Record<string, Json>>;
  /** What `work` of the step in hand had returned. */
  readonly work: Json | undefined;
  readonly ending: object | undefined;
}

/** Told from the records alone, so of runs as well that no machine here belongs to. */
export function contextAt(records: readonly StoredRecord[], seq: number): RunContext | undefined {
  const until = records.findLastIndex((record) => record.seq <= seq);
  const last = records[until];
  if (!last || last.seq !== seq) return undefined;
  const past = records.slice(0, until + 1);
  const { at: state, attempt, input, outputs } = readOldState(past);
  const ending = toldEnding(past);
  return { seq, at: last.at, state, attempt, input, outputs, work: workOf(past), ending };
}

function workOf(past: readonly StoredRecord[]): Json | undefined {
  const { step } = placeIn(past.at(-1)!.state);
  for (let index = past.length - 1; index > 0; index--) {
    const { event, state } = past[index]!;
    if (placeIn(state).step !== step || event.type === 'UPGRADED') return undefined;
    const from = placeIn(past[index - 1]!.state);
    if (event.type === 'DONE' && from.step === step && from.phase === 'work') return event.output;
  }
  return undefined;
}
