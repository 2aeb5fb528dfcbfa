/** Some at a time. */

/**
 * Does `act` for each item, `countMax` at a time, and keeps the order of the answers. Where one
 * throws, no more are begun, and those that go on are waited for: their files are removed next.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  countMax: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        answers[index] = await act(items[index] as T);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: countMax }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return answers;
}
