/** Rows in batches of what an account likes to be sent at once. */
import type { Cells } from './sink.ts';

/** Of one bind; a row that is larger goes alone. */
const CHARS_MAX = 800_000;

export function inBatches(rows: readonly Cells[]): Cells[][] {
  const batches: Cells[][] = [];
  let chars = 0;
  for (const row of rows) {
    const size = sizeOf(row);
    const last = batches.at(-1);
    if (last && chars + size <= CHARS_MAX) {
      last.push(row);
      chars += size;
    } else {
      batches.push([row]);
      chars = size;
    }
  }
  return batches;
}

/** As JSON within JSON: a quotation mark is two characters there. */
function sizeOf(row: Cells): number {
  return JSON.stringify(row).length;
}
