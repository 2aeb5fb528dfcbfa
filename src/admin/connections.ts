/**
 * The connections that nothing is asked on. There is room for few: when another comes, the one that
 * has been idle longest goes. So whoever opens connections and says nothing keeps nobody else out.
 */
import type { EventEmitter } from 'node:events';

export interface Connection extends EventEmitter {
  readonly destroyed: boolean;
  destroy(): unknown;
}

const IDLE_COUNT_MAX = 64;

export class Connections {
  /** In the order in which they fell idle. */
  readonly #idle = new Set<Connection>();

  add(connection: Connection): void {
    connection.once('close', () => this.#idle.delete(connection));
    this.#rest(connection);
  }

  /** Something was asked; it is idle again when the answer has ended, however it ended. */
  occupy(connection: Connection, response: EventEmitter): void {
    this.#idle.delete(connection);
    response.once('close', () => this.#rest(connection));
  }

  #rest(connection: Connection): void {
    if (connection.destroyed) return;
    this.#idle.add(connection);
    if (this.#idle.size <= IDLE_COUNT_MAX) return;
    const longest = this.#idle.values().next().value!;
    this.#idle.delete(longest);
    longest.destroy();
  }
}
