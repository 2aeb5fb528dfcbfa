/**
 * The connections to a process. Few of them may stay that nothing is asked on, or on which a request is
 * still being sent; there is room for many more that have just come. Whoever has had time to say
 * something and has not goes first, so that opening connections and saying nothing, or saying it
 * slowly, keeps nobody else out; and who asks at once is answered, however many ask with them.
 *
 *   comes ──→ idle ──→ (sending ──→) answered ──→ idle ──→ …
 *               └─────────┴── waits longest of too many: ended
 */
import type { EventEmitter } from 'node:events';
import type { Cancel, Clock } from '../ground/index.ts';

export interface Connection extends EventEmitter {
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** A request, as far as it tells whether all of it is there. */
export interface Sending extends EventEmitter {
  readonly complete: boolean;
}

/** Of each kind, so many may wait for as long as they like. */
const WAITING_COUNT_MAX = 64;
/** All of them. Where there are more, the one that has waited longest goes, however short that is. */
export const CONNECTIONS_MAX = 2_048;
const TICK_MS = 250;
/**
 * Counted by ticks and not by the clock: between two of them the loop has read what had come, so that a
 * process which was held up takes nobody for silent whose words it had not read.
 */
const PATIENCE_TICKS = 5;

export class Connections {
  readonly #clock: Clock;
  readonly #all = new Set<Connection>();
  /** Those that wait, with the tick since when, the longest first. */
  readonly #idle = new Map<Connection, number>();
  readonly #sending = new Map<Connection, number>();
  #tick = 0;
  #cancel: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
    connection.once('close', () => {
      this.#all.delete(connection);
      this.#idle.delete(connection);
      this.#sending.delete(connection);
    });
    this.#rest(connection);
    if (this.#all.size > CONNECTIONS_MAX) this.#endLongest();
  }

  /** Something was asked; it is idle again when the answer has ended, however it ended. */
  occupy(connection: Connection, response: EventEmitter, request?: Sending): void {
    this.#idle.delete(connection);
    response.once('close', () => {
      this.#sending.delete(connection);
      this.#rest(connection);
    });
    if (!request || request.complete || connection.destroyed) return;
    request.once('end', () => this.#sending.delete(connection));
    this.#wait(this.#sending, connection);
  }

  #rest(connection: Connection): void {
    if (!connection.destroyed) this.#wait(this.#idle, connection);
  }

  #wait(those: Map<Connection, number>, connection: Connection): void {
    those.set(connection, this.#tick);
    if (those.size > WAITING_COUNT_MAX) this.#tickSoon();
  }

  #tickSoon(): void {
    this.#cancel ??= this.#clock.after(TICK_MS, () => this.#look(), { idle: true });
  }

  #look(): void {
    this.#cancel = undefined;
    this.#tick++;
    for (const those of [this.#idle, this.#sending]) {
      for (const [connection, since] of those) {
        if (those.size <= WAITING_COUNT_MAX || this.#tick - since < PATIENCE_TICKS) break;
        end(those, connection);
      }
      if (those.size > WAITING_COUNT_MAX) this.#tickSoon();
    }
  }

  #endLongest(): void {
    const first = (those: Map<Connection, number>) => those.entries().next().value;
    const [idle, sending] = [first(this.#idle), first(this.#sending)];
    if (idle && (!sending || idle[1] <= sending[1])) end(this.#idle, idle[0]);
    else if (sending) end(this.#sending, sending[0]);
  }
}

function end(those: Map<Connection, number>, connection: Connection): void {
  those.delete(connection);
  connection.destroy();
}
