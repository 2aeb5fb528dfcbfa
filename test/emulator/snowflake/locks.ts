/**
 * The locks of standard tables: UPDATE, DELETE and MERGE have the whole table to themselves until
 * their transaction ends. Those who wait stand in line; the line has a limit, and patience an end.
 */
import { lockWaitedTooLong, SnowflakeError, tooManyWaiters } from './errors.ts';

/** Who holds: a statement, or the transaction it belongs to. */
export type Holder = object;

interface Waiter {
  readonly holder: Holder;
  readonly take: () => void;
  readonly fail: (error: SnowflakeError) => void;
}

interface Line {
  holder: Holder;
  readonly waiting: Waiter[];
}

export class TableLocks {
  readonly #lines = new Map<string, Line>();
  waitersMax = 20;

  /** Resolves when `holder` has the table; at once if it has it already. */
  async take(table: string, holder: Holder, secondsMax: number, queryId: string): Promise<void> {
    const line = this.#lines.get(table);
    if (line === undefined) {
      this.#lines.set(table, { holder, waiting: [] });
      return;
    }
    if (line.holder === holder) return;
    if (line.waiting.length >= this.waitersMax) {
      throw tooManyWaiters(table.toUpperCase(), this.waitersMax, queryId);
    }
    if (secondsMax === 0) throw lockWaitedTooLong(table.toUpperCase(), 0);
    await this.#wait(line, table, holder, secondsMax);
  }

  #wait(line: Line, table: string, holder: Holder, secondsMax: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        const place = line.waiting.indexOf(waiter);
        if (place >= 0) line.waiting.splice(place, 1);
      };
      const waiter: Waiter = {
        holder,
        take: () => {
          leave();
          resolve();
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(
        () => waiter.fail(lockWaitedTooLong(table.toUpperCase(), secondsMax)),
        secondsMax * 1000,
      );
      timer.unref();
      line.waiting.push(waiter);
    });
  }

  /** Gives back everything `holder` has; the next in each line goes on. */
  release(holder: Holder): void {
    for (const [table, line] of this.#lines) {
      if (line.holder !== holder) continue;
      const next = line.waiting[0];
      if (next === undefined) this.#lines.delete(table);
      else {
        line.holder = next.holder;
        next.take();
      }
    }
  }

  /** The statement was cancelled, or its session ended, while it stood in line. */
  leave(holder: Holder): void {
    const cancelled = new SnowflakeError('000604', '57014', 'SQL execution canceled');
    for (const { waiting } of this.#lines.values()) {
      for (const waiter of waiting.filter((one) => one.holder === holder)) waiter.fail(cancelled);
    }
  }

  /** For SHOW LOCKS and for tests: how many wait for `table`. */
  waitersOf(table: string): number {
    return this.#lines.get(table)?.waiting.length ?? 0;
  }

  get held(): readonly string[] {
    return [...this.#lines.keys()];
  }
}
