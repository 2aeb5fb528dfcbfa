/** A disk that is full, as SQLite tells it: the next `times` transactions fail. Answers how to mend it. */
import { JournalWriter } from '../../src/journal/journal-writer.ts';

export function fullDisk(times: number): () => void {
  const write = JournalWriter.prototype.write;
  let left = times;
  JournalWriter.prototype.write = function (batch) {
    if (left-- > 0)
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    return write.call(this, batch);
  };
  return () => {
    JournalWriter.prototype.write = write;
  };
}
