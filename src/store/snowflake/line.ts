/**
 * What one call speaks through: a session, as long as that lives. A statement that gave way to another did
 * nothing, and is sent again; what is read is at least as new as what this handle wrote before.
 */
import { pause } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../errors.ts';
import type { Table } from './columns.ts';
import { DuplicateKeyError, meaningOf, SessionOverError } from './driver-errors.ts';
import type { Answer, Bind, Session } from './executor.ts';
import { tablesOf } from './own-writes.ts';
import type { Sessions } from './sessions.ts';
import { touchOf } from './sql.ts';

const BUSY_ATTEMPTS = 8;
const BUSY_WAIT_MS = 50;
const BUSY_WAIT_MS_MAX = 5_000;

/** Sends one statement. */
export type Run = (text: string, binds?: readonly Bind[]) => Promise<Answer>;

/** What one call of the store speaks through: one session, as long as that lives. */
export interface Line {
  /** By itself, committed when it answers; sent again where another statement was in its way. */
  readonly run: Run;
  /** Several as one; all of it is to be done again where that is busy. */
  transaction<Result>(act: (run: Run) => Promise<Result>): Promise<Result>;
  /** From here on what anybody wrote there before is read, wherever reads may be late. */
  beSure(tables: readonly Table[]): void;
}

export class SessionLine implements Line {
  readonly #sessions: Sessions;
  #session: Session | undefined;
  /** Tables of which more than its own writes is wanted, and those of them it has caught up with. */
  #wanted: readonly Table[] = [];
  readonly #sure = new Set<Table>();
  /** What an open transaction has written, and what was known when that was sent. */
  #open: Map<Table, number> | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  release(): void {
    if (this.#session) this.#sessions.give(this.#session);
    this.#session = undefined;
  }

  beSure(tables: readonly Table[]): void {
    this.#wanted = tables;
    this.#sure.clear();
  }

  run: Run = async (text, binds = []) => {
    const { clock, random } = this.#sessions;
    for (let attempts = 1; ; attempts += 1) {
      try {
        await this.#catchUp(tablesOf(text).reads);
        return await this.#send(text, binds);
      } catch (error) {
        const isOurs = error instanceof StoreBusyError && !(error instanceof DuplicateKeyError);
        if (!isOurs || attempts >= BUSY_ATTEMPTS) throw error;
        const waitMs = Math.min(BUSY_WAIT_MS * 2 ** (attempts - 1), BUSY_WAIT_MS_MAX);
        await pause(clock, waitMs * random.fraction());
      }
    }
  };

  async transaction<Result>(act: (run: Run) => Promise<Result>): Promise<Result> {
    await this.run('begin');
    this.#open = new Map();
    const run: Run = (text, binds = []) => this.#send(text, binds);
    try {
      const result = await act(run);
      await this.#commit();
      return result;
    } catch (error) {
      // Without its session the transaction is over as well.
      if (this.#session) await run('rollback').catch(() => this.#giveUp());
      throw error;
    } finally {
      this.#open = undefined;
    }
  }

  async #commit(): Promise<void> {
    const { own } = this.#sessions;
    const session = this.#session;
    const note = (by?: Session) => {
      for (const [table, before] of this.#open ?? []) own?.note(table, before, by);
    };
    try {
      await this.#sent('commit', []);
      note(session);
    } catch (error) {
      note();
      throw error;
    }
  }

  /** A session whose transaction may be open, or that may be doing anything, is used by nobody else. */
  #giveUp(): void {
    if (this.#session) this.#sessions.drop(this.#session);
    this.#session = undefined;
    this.#sure.clear();
  }

  /** Its own write of a table shows a session whatever was written there before. */
  async #catchUp(tables: readonly Table[]): Promise<void> {
    const { own } = this.#sessions;
    if (!own) return;
    for (const table of tables) {
      this.#session ??= await this.#sessions.take();
      const session = this.#session;
      const isSure = this.#wanted.includes(table)
        ? this.#sure.has(table)
        : !own.isBehind(session, table);
      if (isSure) continue;
      const before = own.countOf(table);
      await this.#sent(touchOf(table), []);
      own.saw(table, before, session);
      this.#sure.add(table);
    }
  }

  async #send(text: string, binds: readonly Bind[]): Promise<Answer> {
    const { own } = this.#sessions;
    const table = tablesOf(text).writes;
    if (!own || !table) return this.#sent(text, binds);
    const before = own.countOf(table);
    try {
      const answer = await this.#sent(text, binds);
      if (answer.count > 0 && this.#open === undefined) own.note(table, before, this.#session);
      else if (answer.count > 0) this.#open?.set(table, this.#open.get(table) ?? before);
      return answer;
    } catch (error) {
      // Nobody knows: whoever looks for it has to see it.
      if (error instanceof StoreUnreachableError && !this.#open) own.note(table, before);
      throw error;
    }
  }

  async #sent(text: string, binds: readonly Bind[]): Promise<Answer> {
    this.#session ??= await this.#sessions.take();
    const session = this.#session;
    try {
      return await this.#sessions.within(session.execute(text, binds), 'nothing was answered');
    } catch (thrown) {
      const error = thrown instanceof StoreUnreachableError ? thrown : meaningOf(thrown);
      const isGone = error instanceof StoreUnreachableError || error instanceof SessionOverError;
      if (isGone) this.#giveUp();
      throw error;
    }
  }
}
