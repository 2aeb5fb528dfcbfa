/**
 * Tells the fleet that something is ready or has ended: the first time at once, then at most so
 * often. Each NOTIFY takes a lock of the whole server, so it is a statement of its own, beside those
 * that matter, and one that is lost is made good by the next look.
 */
import type { Cancel, Clock } from '../../ground/index.ts';
import type { Hint } from '../store.ts';
import type { Pool } from './pool.ts';
import { sql } from './sql.ts';

export const CHANNEL = 'fleetq_hint';
const QUIET_MS = 20;

/** $1 what is said. */
export const notify = sql`select pg_notify('${CHANNEL}', $1)`;

/** In a transaction of a caller's: it is said when that commits. */
export const notifyReady = sql`select pg_notify('${CHANNEL}', 'ready')`;

export class Hinter {
  readonly #pool: Pool;
  readonly #clock: Clock;
  /** Hints given lately: false where nothing has come since, true where one waits. */
  readonly #lately = new Map<Hint, { isWaiting: boolean; readonly cancel: Cancel }>();
  #isClosed = false;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  hint(hint: Hint): void {
    if (this.#isClosed) return;
    const lately = this.#lately.get(hint);
    if (lately) lately.isWaiting = true;
    else this.#send(hint);
  }

  #send(hint: Hint): void {
    const cancel = this.#clock.after(QUIET_MS, () => this.#calm(hint), { idle: true });
    this.#lately.set(hint, { isWaiting: false, cancel });
    // Nobody depends on it: whoever waits looks for himself in the end.
    this.#pool.query(notify, [hint]).catch(() => {});
  }

  #calm(hint: Hint): void {
    const isWaiting = this.#lately.get(hint)?.isWaiting;
    this.#lately.delete(hint);
    if (isWaiting) this.hint(hint);
  }

  close(): void {
    this.#isClosed = true;
    for (const { cancel } of this.#lately.values()) cancel();
    this.#lately.clear();
  }
}
