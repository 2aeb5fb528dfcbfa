/** Lists cut into statements of bounded size, and turned into the columns that they send. */

/**
 * Batches of at most `countMax` in which no key comes twice: an update that met one row twice would
 * take either. An item whose key is in the batch already waits for the next one.
 */
export function batchesOf<Item>(
  items: readonly Item[],
  countMax: number,
  keyOf: (item: Item) => string,
): Item[][] {
  const batches: Item[][] = [];
  let rest = items;
  while (rest.length > 0) {
    const batch = new Map<string, Item>();
    const later: Item[] = [];
    for (const item of rest) {
      const key = keyOf(item);
      if (batch.size < countMax && !batch.has(key)) batch.set(key, item);
      else later.push(item);
    }
    batches.push([...batch.values()]);
    rest = later;
  }
  return batches;
}

/** One array for each column, for `unnest`. */
export function columnsOf<Item>(
  items: readonly Item[],
  columns: readonly ((item: Item) => unknown)[],
): unknown[] {
  return columns.map((column) => arrayOf(items.map((item) => column(item) ?? null)));
}

/** One of these arrays: of texts, or of anything else. */
export function arrayOf(values: readonly unknown[]): Buffer | string {
  return isTexts(values) ? textArray(values) : plainArray(values);
}

/** A column of nothing but nulls may be of any type, so it is not taken for one of texts. */
function isTexts(values: readonly unknown[]): values is readonly (string | null)[] {
  return typeof values.find((value) => value !== null) === 'string';
}

/** The object id of the type text. */
const TEXT = 25;

/**
 * An array of texts as Postgres itself holds it. Written as a literal, every quote in every history
 * would be escaped here and read again there, which took as long as storing it.
 */
function textArray(values: readonly (string | null)[]): Buffer {
  let total = 20 + 4 * values.length;
  for (const value of values) if (value !== null) total += Buffer.byteLength(value);
  const buffer = Buffer.allocUnsafe(total);
  // One dimension, nulls allowed, the type, the length, and the number of the first.
  let at = 0;
  for (const word of [1, 1, TEXT, values.length, 1]) at = buffer.writeInt32BE(word, at);
  for (const value of values) {
    const size = value === null ? -1 : buffer.write(value, at + 4);
    at = buffer.writeInt32BE(size, at) + Math.max(0, size);
  }
  return buffer;
}

/** Numbers, truths and nulls as a literal. The driver would quote each of them, for nothing. */
function plainArray(values: readonly unknown[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/**
 * Sends a batch; where one of its values cannot be held, sends halves of it until the culprits are
 * alone. `refuse` answers for those.
 */
export async function sendBisecting<Item, Answer>(
  batch: readonly Item[],
  send: (batch: readonly Item[]) => Promise<Answer[]>,
  refuse: (item: Item, error: unknown) => Answer | undefined,
): Promise<Answer[]> {
  try {
    return await send(batch);
  } catch (error) {
    const refused = refuse(batch[0]!, error);
    if (refused === undefined) throw error;
    if (batch.length === 1) return [refused];
    const middle = Math.ceil(batch.length / 2);
    const first = await sendBisecting(batch.slice(0, middle), send, refuse);
    return [...first, ...(await sendBisecting(batch.slice(middle), send, refuse))];
  }
}
