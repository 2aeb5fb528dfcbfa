/**
 * Transactions in which steps persist, one at a time on a connection of their own. While one is open
 * nobody else writes to the file, heartbeats included: so it is taken back where its author takes time.
 */
import { type Cancel, type Clock, turn } from '../../ground/index.ts';
import { StoreRefusedError, TransactionLateError } from '../errors.ts';
import {
  type CommitAnswer,
  type DoubtAnswer,
  type Persisted,
  refuseControl,
  type StoreTransaction,
  transactionOver,
} from '../persisting.ts';
import type { PodId } from '../words.ts';
import { keepSegment } from './archive.ts';
import { type Connection, isBusy, isRefusal, openConnection, storeError } from './connection.ts';
import { keepClaim, selectIsKept } from './persisting.sql.ts';
import type { RawTask } from './rows.ts';
import { beginWrite, commit, rollback } from './session.sql.ts';
import { type Session, type SessionOptions, type Tx, txOver, unlessBusy } from './session.ts';
import { type Changed, hasEnded, settle } from './settle.ts';
import { selectTask } from './tasks.sql.ts';

/** Others wait for the file for so long, and longer; so that they get it before they give up. */
const OPEN_MS_MAX = 2_000;

export interface PersistingPorts extends SessionOptions {
  readonly session: Session;
  /** Who waits for tasks to end, or to be ready, hears of it. */
  readonly tell: (changed: readonly Changed[]) => void;
}

export class SqlitePersisting {
  readonly #ports: PersistingPorts;
  #connection: Connection | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: PersistingPorts) {
    this.#ports = ports;
  }

  /** Resolves when the one before it is over. */
  async begin(): Promise<StoreTransaction> {
    const { session, clock, tell } = this.#ports;
    const before = this.#turn;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#turn = over;
    await before;
    try {
      const connection = await unlessBusy(session.file, this.#ports, () => this.#begun());
      session.giveWay(over);
      return new SqliteTransaction(connection, { clock, tell, onOver: end });
    } catch (error) {
      end();
      throw error;
    }
  }

  #begun(): Connection {
    this.#connection ??= openConnection(this.#ports.session.file, () => undefined);
    this.#connection.prepare(beginWrite).run();
    return this.#connection;
  }

  settled(pod: PodId, persisted: Persisted): Promise<DoubtAnswer> {
    return this.#ports.session.read((tx) => {
      const { task, generation, epoch, lastSeq, lastHash } = persisted;
      const row = tx.get<RawTask>(selectTask, { task });
      if (row?.generation !== generation || row.claim_epoch !== epoch) return 'lost';
      if (persisted.to !== 'claimed' && hasEnded(row)) {
        return row.last_hash === lastHash ? 'stood' : 'lost';
      }
      if (row.status !== 'claimed' || row.claimed_by !== pod) return 'lost';
      if (persisted.to !== 'claimed') return 'open';
      return tx.get(selectIsKept, { task, generation, epoch, seq: lastSeq }) ? 'stood' : 'open';
    });
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

interface TransactionPorts extends Pick<PersistingPorts, 'tell'> {
  readonly clock: Clock;
  readonly onOver: () => void;
}

class SqliteTransaction implements StoreTransaction {
  readonly native: Connection;
  readonly #ports: TransactionPorts;
  readonly #cancelLimit: Cancel;
  #isOver = false;
  #isLate = false;

  constructor(connection: Connection, ports: TransactionPorts) {
    this.native = connection;
    this.#ports = ports;
    this.#cancelLimit = ports.clock.after(OPEN_MS_MAX, () => {
      this.#isLate = true;
      this.#end();
    });
  }

  async query(text: string, values: readonly unknown[] = []): Promise<unknown[]> {
    // SQLite answers at once: whoever asks on and on would never let the loop turn.
    await turn(this.#ports.clock);
    this.#refuseOver();
    refuseControl(text);
    const statement = this.native.prepare(text);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return [];
  }

  async commit(pod: PodId, persisted: Persisted): Promise<CommitAnswer> {
    this.#refuseOver();
    try {
      const changed = settleIn(
        txOver((sql) => this.native.prepare(sql)),
        pod,
        persisted,
      );
      if (changed.status === undefined) return 'lost';
      this.native.prepare(commit).run();
      this.#ports.tell([changed]);
      return 'stood';
    } catch (error) {
      // A rule of the author's own that is looked at last, or a lock: it is taken back, for certain.
      if (isRefusal(error) || isBusy(error)) throw storeError(error, this.native.name);
      return 'doubt';
    } finally {
      this.#end();
    }
  }

  async rollback(): Promise<void> {
    this.#end();
  }

  #refuseOver(): void {
    if (this.#isLate) throw new TransactionLateError(OPEN_MS_MAX);
    if (this.#isOver) throw transactionOver();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    try {
      if (this.native.inTransaction) this.native.prepare(rollback).run();
    } finally {
      this.#ports.onOver();
    }
  }
}

/** What the task became; nothing where the claim does not stand. */
function settleIn(tx: Tx, pod: PodId, persisted: Persisted): Changed {
  if (persisted.to === 'claimed') {
    const { task, generation, epoch, tail } = persisted;
    const version = tail.version ?? null;
    if (tx.run(keepClaim, { pod, task, generation, epoch, version, now: tx.now }) === 0) {
      return { status: undefined };
    }
    const fork = keepSegment(tx, tail);
    if (fork !== undefined) throw new StoreRefusedError(`the history has forked at ${fork}`);
    return { status: 'claimed' };
  }
  const [settled] = settle(tx, pod, [persisted]);
  if (settled?.answer.kind === 'refused') throw new StoreRefusedError(settled.answer.reason);
  return settled ?? { status: undefined };
}
