/**
 * Tasks that follow others. Whoever ends a task lets its followers go by a statement of its own, after the
 * commit; pods go round all that wait from time to time, for somebody may have died between the two. None
 * of this is needed for safety: what becomes of a follower is read from the rows alone.
 */
import { type Clock, FleetqError } from '../../ground/index.ts';
import { FOLLOWED_NOT_COMPLETED } from '../reasons.ts';
import * as statements from './followers.sql.ts';
import type { Hinter } from './hinter.ts';
import type { Pool, Row } from './pool.ts';

const BATCH_MAX = 1_000;
/** Of one call; whoever is left is found by those who go round. */
const BATCHES_MAX = 20;
const ROUND_MS = 3_000;

export class PostgresFollowers {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #clock: Clock;
  #roundMs = Number.NEGATIVE_INFINITY;
  /** Where the round is: those after this one are next. */
  #at: readonly [run: string, task: string] = ['', ''];

  constructor(pool: Pool, hinter: Hinter, clock: Clock) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#clock = clock;
  }

  /** Of rows that may have ended: one that says it is followed by nobody is not asked about. */
  async letGo(rows: readonly Row[]): Promise<void> {
    let runs = rows
      .filter((row) => row['is_followed'] !== false && row['task_id'] !== undefined)
      .map((row) => row['task_id']);
    try {
      for (let batches = 0; runs.length > 0 && batches < BATCHES_MAX; batches += 1) {
        const values = [runs, BATCH_MAX, FOLLOWED_NOT_COMPLETED];
        const gone = await this.#pool.query(statements.letFollowersGo, values);
        const ended = this.#tell(gone);
        runs = gone.length < BATCH_MAX ? ended : [...runs, ...ended];
      }
    } catch (error) {
      if (!(error instanceof FleetqError)) throw error;
      // What was to be done before this is committed: the next round does the rest.
      this.#roundMs = Number.NEGATIVE_INFINITY;
    }
  }

  /** True where one is ready: there is more to claim. So many pods look. */
  async look(sharers: number): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#roundMs < ROUND_MS * sharers) return false;
    this.#roundMs = nowMs;
    const values = [...this.#at, BATCH_MAX, FOLLOWED_NOT_COMPLETED];
    const seen = await this.#pool.query(statements.letOverdueGo, values);
    const last = seen.length < BATCH_MAX ? undefined : seen.at(-1);
    this.#at = last ? [last['follows'] as string, last['task_id'] as string] : ['', ''];
    const ended = this.#tell(seen);
    if (ended.length > 0) await this.letGo(ended.map((id) => ({ task_id: id })));
    return seen.some(({ status }) => status === 'pending');
  }

  /** Those that ended: they may be followed themselves. */
  #tell(rows: readonly Row[]): unknown[] {
    const count = rows.filter(({ status }) => status === 'pending').length;
    if (count > 0) this.#hinter.hint('ready', { count });
    const ended = rows.filter(({ status }) => status === 'cancelled');
    if (ended.length > 0) this.#hinter.hint('ended');
    return ended.map((row) => row['task_id']);
  }
}
