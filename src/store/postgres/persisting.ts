/**
 * Transactions in which steps persist, on connections that the pool lends. Statements of authors go by
 * the extended protocol, where one message is one statement, so that none of them can end the
 * transaction by the way.
 */
import type pg from 'pg';
import type { Clock } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError, storeMoved } from '../errors.ts';
import {
  type CommitAnswer,
  type DoubtAnswer,
  type Kept,
  type Persisted,
  refuseControl,
  type StoreTransaction,
  transactionOver,
} from '../persisting.ts';
import { RETRIES_SPENT } from '../reasons.ts';
import type { Settlement } from '../tasks.ts';
import type { PodId } from '../words.ts';
import { columnsOf } from './batches.ts';
import { meaningOf, sqlStateOf } from './driver-errors.ts';
import {
  beginPersisting,
  keepRun,
  lookAtPersisted,
  selectIsKept,
  waitForTask,
} from './persisting.sql.ts';
import type { Lent, Pool, Row } from './pool.ts';
import { SETTLEMENT_COLUMNS } from './settler.ts';
import { selectTimeline } from './sql.ts';
import { settleTasks } from './step-tracker-settle.sql.ts';

/** A statement before had failed, so that the server takes no other. */
const ABORTED = '25P02';
/** Sent after a failure, a commit is answered by this word. */
const COMMITTED = 'COMMIT';

/** Of rows that are settled, and committed. */
type Tell = (rows: readonly Row[]) => Promise<void>;

export class PostgresPersisting {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #tell: Tell;

  constructor(pool: Pool, clock: Clock, tell: Tell) {
    this.#pool = pool;
    this.#clock = clock;
    this.#tell = tell;
  }

  async begin(): Promise<StoreTransaction> {
    const { way } = this.#pool;
    const tx = new PostgresTransaction(await this.#pool.lend(), {
      deadlineMs: way.deadlineMs,
      clock: this.#clock,
      tell: this.#tell,
      worded: (text) => this.#pool.worded(text),
    });
    await tx.begin(way.serverMs);
    return tx;
  }

  /** On another server than the one it is meant for nothing that was found counts. */
  async settled(pod: PodId, persisted: Persisted, timeline?: string): Promise<DoubtAnswer> {
    const answer = await this.#settled(pod, persisted);
    if (timeline === undefined) return answer;
    const [row] = await this.#pool.query(selectTimeline);
    if (row?.['timeline'] !== timeline) throw storeMoved();
    return answer;
  }

  async #settled(pod: PodId, persisted: Persisted): Promise<DoubtAnswer> {
    const { task, generation, epoch, lastSeq, lastHash } = persisted;
    const [row] = await this.#pool.query(lookAtPersisted, [pod, task, generation, epoch]);
    if (!row) return 'lost';
    if (persisted.to !== 'claimed') {
      if (row['has_ended'] === true) return row['last_hash'] === lastHash ? 'stood' : 'lost';
      return row['is_held'] === true ? 'open' : 'lost';
    }
    if (row['is_held'] !== true) return 'lost';
    // A statement of its own: the first has seen the records as they were before it waited.
    const [found] = await this.#pool.query(selectIsKept, [task, generation, epoch, lastSeq]);
    return found?.['is_kept'] === true ? 'stood' : 'open';
  }
}

interface TransactionPorts {
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly tell: Tell;
  /** A statement of ours in words that the server allows. */
  readonly worded: (text: string) => string;
}

class PostgresTransaction implements StoreTransaction {
  readonly native: pg.PoolClient;
  readonly #lent: Lent;
  readonly #ports: TransactionPorts;
  #settled: readonly Row[] = [];
  #asking = 0;
  #isOver = false;
  #isReleased = false;

  constructor(lent: Lent, ports: TransactionPorts) {
    this.native = lent.client;
    this.#lent = lent;
    this.#ports = ports;
  }

  async begin(serverMs: number): Promise<void> {
    try {
      await this.#ask({ text: beginPersisting(serverMs) });
    } catch (error) {
      this.#release(true);
      throw meaningOf(error);
    }
  }

  async query(text: string, values: readonly unknown[] = []): Promise<unknown[]> {
    if (this.#isOver) throw transactionOver();
    refuseControl(text);
    return (await this.#ask(extended(text, values))).rows;
  }

  async commit(pod: PodId, persisted: Persisted, timeline?: string): Promise<CommitAnswer> {
    if (this.#isOver) throw transactionOver();
    this.#isOver = true;
    try {
      if (!(await this.#fenced(pod, persisted, timeline ?? null))) {
        await this.#takeBack();
        return 'lost';
      }
    } catch (error) {
      // Nobody has asked for a commit, so there will be none.
      await this.#takeBack();
      if (error instanceof StoreBusyError) throw error;
      if (sqlStateOf(error) !== ABORTED) throw meaningOf(error);
      throw new StoreBusyError('a statement of persist has failed, so nothing of it can commit', {
        cause: error,
        hint: 'let what a query of tx throws pass, or put a savepoint around it',
      });
    }
    return this.#commit(persisted);
  }

  async #commit({ to }: Persisted): Promise<CommitAnswer> {
    try {
      const { command } = await this.#ask({ text: 'commit' });
      this.#release(false);
      if (command !== COMMITTED) throw new StoreBusyError('the server took the transaction back');
      if (to !== 'claimed') await this.#ports.tell(this.#settled);
      return 'stood';
    } catch (error) {
      if (error instanceof StoreBusyError) throw error;
      // Only a server that says why it refused has certainly not done it.
      const isSure = sqlStateOf(error) !== undefined && !isInDoubt(error);
      this.#release(!isSure);
      if (isSure) throw error;
      return 'doubt';
    }
  }

  /** A row that somebody else has locked is waited for: passed over, it would look like a lost claim. */
  async #fenced(pod: PodId, persisted: Persisted, timeline: string | null): Promise<boolean> {
    if (await this.#settle(pod, persisted, timeline)) return true;
    await this.#ask(extended(waitForTask, [persisted.task]));
    if (await this.#settle(pod, persisted, timeline)) return true;
    const text = this.#ports.worded(selectTimeline);
    const [row] = (await this.#ask({ text })).rows as Row[];
    if (timeline !== null && row?.['timeline'] !== timeline) throw storeMoved();
    return false;
  }

  async #settle(pod: PodId, persisted: Persisted, timeline: string | null): Promise<boolean> {
    const asked =
      persisted.to === 'claimed'
        ? keeping(pod, persisted, timeline)
        : settling(pod, persisted, timeline);
    const worded = { ...asked, text: this.#ports.worded(asked.text!) };
    this.#settled = (await this.#ask(worded)).rows as Row[];
    return this.#settled.length > 0;
  }

  async rollback(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#takeBack();
  }

  async #takeBack(): Promise<void> {
    // A statement that is on its way would have to be waited for: without its connection it ends.
    if (this.#asking > 0) return this.#release(true);
    await this.#ask({ text: 'rollback' }).then(
      () => this.#release(false),
      () => this.#release(true),
    );
  }

  #release(isToDestroy: boolean): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#lent.release(isToDestroy);
  }

  /** Takes the connection away where no answer comes; whoever asked hears of that. */
  async #ask(query: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#asking += 1;
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = this.#ports.clock.after(this.#ports.deadlineMs, () => {
        this.#isOver = true;
        this.#release(true);
        const message = `Postgres did not answer within ${this.#ports.deadlineMs} ms`;
        reject(new StoreUnreachableError(message));
      });
    });
    try {
      return await Promise.race([this.native.query(query), late]);
    } finally {
      cancel();
      this.#asking -= 1;
    }
  }
}

/** One statement to a message, also where it has no values. */
function extended(text: string, values: readonly unknown[]): pg.QueryConfig {
  return { text, values: [...values], queryMode: 'extended' } as pg.QueryConfig;
}

function settling(pod: PodId, settlement: Settlement, timeline: string | null): pg.QueryConfig {
  const columns = columnsOf([settlement], SETTLEMENT_COLUMNS);
  return extended(settleTasks, [pod, ...columns, RETRIES_SPENT, timeline]);
}

function keeping(
  pod: PodId,
  { task, generation, epoch, tail }: Kept,
  timeline: string | null,
): pg.QueryConfig {
  const { firstSeq, lastSeq, prevHash, lastHash, state, events, version } = tail;
  const segment = [firstSeq, lastSeq, prevHash, lastHash, state, events];
  return extended(keepRun, [pod, task, generation, epoch, ...segment, version ?? null, timeline]);
}

/** Shut down, cut off, or out of its mind: what it had begun may be done all the same. */
function isInDoubt(error: unknown): boolean {
  return /^(40003|57|08|58|XX)/.test(sqlStateOf(error) ?? '');
}
