/**
 * The connections to a process. Those that nothing is asked on have room for few: when another comes,
 * the one that has been idle longest goes. Those on which a request is still being sent have room for
 * more, and the one that has taken longest goes. So whoever opens connections and says nothing, or
 * says it slowly, keeps nobody else out.
 */
import type { EventEmitter } from 'node:events';

export interface Connection extends EventEmitter {
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** A request, as far as it tells whether all of it is there. */
export interface Sending extends EventEmitter {
  readonly complete: boolean;
}

const IDLE_COUNT_MAX = 64;
const SENDING_COUNT_MAX = 64;

export class Connections {
  /** In the order in which they fell idle. */
  readonly #idle = new Set<Connection>();
  /** In the order in which they began. */
  readonly #sending = new Set<Connection>();

  add(connection: Connection): void {
    connection.once('close', () => {
      this.#idle.delete(connection);
      this.#sending.delete(connection);
    });
    this.#rest(connection);
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
    this.#keep(this.#sending, connection, SENDING_COUNT_MAX);
  }

  #rest(connection: Connection): void {
    if (connection.destroyed) return;
    this.#keep(this.#idle, connection, IDLE_COUNT_MAX);
  }

  #keep(those: Set<Connection>, connection: Connection, countMax: number): void {
    those.add(connection);
    if (those.size <= countMax) return;
    const longest = those.values().next().value!;
    those.delete(longest);
    longest.destroy();
  }
}
