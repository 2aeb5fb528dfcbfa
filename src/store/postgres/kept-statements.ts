/** Statements that a connection keeps: what they are called, and how long their plans are kept. */
import type { Clock } from '../../ground/index.ts';

/** Names of the statements that connections keep. */
const names = new Map<string, string>();
/** Each connection of a server has room for so many. */
const NAME_COUNT_MAX = 100;
const PLAN_AGE_MS_MIN = 1_000;

/** The same for the same text, on every connection. */
export function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= NAME_COUNT_MAX) return known;
  const name = `fleetq_${names.size}`;
  names.set(text, name);
  return name;
}

/** What a connection is, to this file. */
interface Connection {
  query(text: string): Promise<unknown>;
}

/**
 * A plan that was made for an empty table may be a bad one for a full table, and Postgres makes it anew only
 * once its statistics change, a minute later or more. So plans are made anew as connections age: after 1, 2,
 * 4, 8 … seconds. None is older than half of its connection.
 */
export class KeptPlans {
  readonly #clock: Clock;
  readonly #ages = new WeakMap<Connection, { readonly bornMs: number; renewAtMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before a kept statement is sent. */
  async renew(connection: Connection): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const age = this.#ages.get(connection);
    if (age === undefined) {
      this.#ages.set(connection, { bornMs: nowMs, renewAtMs: nowMs + PLAN_AGE_MS_MIN });
    } else if (nowMs >= age.renewAtMs) {
      age.renewAtMs = nowMs + (nowMs - age.bornMs);
      await connection.query('discard plans');
    }
  }
}
