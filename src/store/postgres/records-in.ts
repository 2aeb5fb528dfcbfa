/** Records of one segment, taken out of it where it lies. */
import type { PartQuery } from '../outlines.ts';
import { isBadValue } from './driver-errors.ts';
import type { Row } from './pool.ts';
import { selectRecordsIn } from './run-events.sql.ts';

interface Asking {
  query(text: string, values: readonly unknown[]): Promise<Row[]>;
}

export async function recordsIn(pool: Asking, part: PartQuery): Promise<string[]> {
  const { task, generation, epoch, firstSeq, fromSeq, bytesMax } = part;
  const left = Math.max(0, fromSeq - firstSeq);
  try {
    const values = [task, generation, epoch, firstSeq, left, bytesMax];
    const rows = await pool.query(selectRecordsIn, values);
    return rows.map((row) => row['text'] as string);
  } catch (error) {
    // What is no array of JSON, or no JSON at all, holds no records.
    if (isBadValue(error)) return [];
    throw error;
  }
}
