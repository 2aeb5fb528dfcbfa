/** A sink in memory, by the same rules as the real one: for tests of what comes before it. */
import type { Batch, Cells, Position, Sink } from '../../src/store/sink/sink.ts';

export class MemorySink implements Sink {
  readonly segments = new Map<string, Cells>();
  readonly tasks = new Map<string, Cells>();
  puts = 0;
  /** How many rows came again just as they were. */
  repeated = 0;
  /** Called with each batch before it is kept; what it throws keeps it out. */
  before: (batch: Batch) => void = () => undefined;
  /** The same after it has been kept: the answer is lost. */
  after: (batch: Batch) => void = () => undefined;
  stored: Position | undefined;

  async prepare(): Promise<void> {}
  async close(): Promise<void> {}

  async takeOver(): Promise<Position | undefined> {
    return this.stored;
  }

  async position(): Promise<Position | undefined> {
    return this.stored;
  }

  async put(batch: Batch): Promise<void> {
    this.puts += 1;
    this.before(batch);
    for (const row of batch.events) {
      const key = [row['task_id'], row['generation'], row['epoch'], row['first_seq']].join('/');
      this.#keep(this.segments, key, row);
    }
    for (const row of batch.rows) this.#keep(this.tasks, String(row['task_id']), row);
    // Through text, as it is kept elsewhere.
    if (batch.position) this.stored = JSON.parse(JSON.stringify(batch.position)) as Position;
    this.after(batch);
  }

  #keep(table: Map<string, Cells>, key: string, row: Cells): void {
    if (JSON.stringify(table.get(key)) === JSON.stringify(row)) this.repeated += 1;
    table.set(key, row);
  }
}
