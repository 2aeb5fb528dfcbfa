/**
 * Serial keys: of one queue and one key, one task at a time has the turn, until it ends. Whoever ends it
 * gives the turn on by a statement of its own, after the commit. Claimers look for what came in or
 * became due, and go round all keys from time to time, for somebody may have died between the two. None
 * of this is needed for safety: that two have one turn is refused by an index.
 */
import { type Clock, FleetqError } from '../../ground/index.ts';
import { sqlStateOf } from './driver-errors.ts';
import { PostgresFollowers } from './followers.ts';
import type { Hinter } from './hinter.ts';
import type { Pool, Row } from './pool.ts';
import * as statements from './turns.sql.ts';

const ARRIVAL_COUNT_MAX = 500;
/** Under a backlog claims come back full: nobody looks more often than this then. */
const LOOK_MS = 250;
/** After a claim that found less than it asked for, the next one mostly finds nothing, and looks. */
const SHORT_LOOK_MS = 1_000;
/** By then a run that was claimed has begun, which is what its caller waits for. */
const LATER_MS = 20;
const ROUND_MS = 2_000;
/** Of a fleet, each pod looks so many times more rarely, and no more: all of them look for all. */
const SHARERS_MAX = 4;
const ROUND_COUNT_MAX = 200;
/** How often two who give the same turn may meet before it is left to the next look. */
const RIVAL_ATTEMPTS = 3;
const RIVAL = '23505';

export interface SerialKey {
  readonly queue: string;
  readonly serialKey: string;
}

export class PostgresTurns {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #clock: Clock;
  readonly #followers: PostgresFollowers;
  #sharers = 1;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #roundMs = Number.NEGATIVE_INFINITY;
  /** Where the round is: the keys after this one are next. */
  #at: readonly [queue: string, serialKey: string] = ['', ''];

  constructor(pool: Pool, hinter: Hinter, clock: Clock) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#clock = clock;
    this.#followers = new PostgresFollowers(pool, hinter, clock);
  }

  /** So many pods are up, and look too. */
  sharedBy(podCount: number): void {
    this.#sharers = Math.max(1, Math.min(SHARERS_MAX, podCount));
  }

  /** Of rows that may have ended: who follows them goes, and their keys' next ones have their turn. */
  async passOn(rows: readonly Row[]): Promise<void> {
    await this.#followers.letGo(rows);
    await this.giveOn(rows);
  }

  /** Of rows that have come in, or ended: the keys that are free have their next ones. */
  async giveOn(rows: readonly Row[]): Promise<void> {
    const serial = rows.filter((row) => typeof row['serial_key'] === 'string');
    if (serial.length === 0) return;
    const keys = ['queue', 'serial_key', 'served_until'].map((column) =>
      serial.map((row) => row[column]),
    );
    try {
      const given = await this.#give(statements.giveTurns, keys);
      const count = given.filter(isGiven).length;
      if (count > 0) this.#hinter.hint('ready', { count });
    } catch (error) {
      if (!(error instanceof FleetqError)) throw error;
      // What was to be done before this is committed: the next claim looks, and does the rest.
      this.#lookedMs = Number.NEGATIVE_INFINITY;
      this.#roundMs = Number.NEGATIVE_INFINITY;
    }
  }

  /** Whether this pod should look, though there was something to claim. */
  isLate({ wasFull }: { readonly wasFull: boolean }): boolean {
    const restMs = (wasFull ? LOOK_MS : SHORT_LOOK_MS) * this.#sharers;
    return this.#clock.monotonicMs() - this.#lookedMs >= restMs;
  }

  /** For a pod that has begun with something: it is notified of what it may claim then. */
  lookLater(): void {
    this.#lookedMs = this.#clock.monotonicMs();
    const look = async () => {
      if (await this.look()) this.#hinter.hint('ready');
    };
    // Where that fails, the next claim looks.
    this.#clock.after(LATER_MS, () => void look().catch(() => undefined), { idle: true });
  }

  /** True where a turn was given: there is more to claim. */
  async look(): Promise<boolean> {
    this.#lookedMs = this.#clock.monotonicMs();
    const arrived = await this.#give(statements.giveArrivals, [ARRIVAL_COUNT_MAX]);
    if (arrived.length > 0) await this.#pool.query(statements.markArrivals, [ARRIVAL_COUNT_MAX]);
    const overdue = await this.#goRound();
    const hasGone = await this.#followers.look(this.#sharers);
    return hasGone || [...arrived, ...overdue].some(isGiven);
  }

  async #goRound(): Promise<Row[]> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#roundMs < ROUND_MS * this.#sharers) return [];
    this.#roundMs = nowMs;
    const keys = await this.#give(statements.giveOverdue, [...this.#at, ROUND_COUNT_MAX]);
    const last = keys.length < ROUND_COUNT_MAX ? undefined : keys.at(-1);
    this.#at = last ? [last['queue'] as string, last['serial_key'] as string] : ['', ''];
    return keys;
  }

  async #give(text: string, values: readonly unknown[]): Promise<Row[]> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const keys = await this.#pool.often(text, values);
        if (attempts >= RIVAL_ATTEMPTS || !keys.some(wasOvertaken)) return keys;
      } catch (error) {
        if (sqlStateOf((error as FleetqError).cause) !== RIVAL) throw error;
        if (attempts >= RIVAL_ATTEMPTS) return [];
      }
    }
  }
}

function wasOvertaken(row: Row): boolean {
  return row['was_overtaken'] === true;
}

function isGiven(row: Row): boolean {
  return row['is_given'] === true;
}
