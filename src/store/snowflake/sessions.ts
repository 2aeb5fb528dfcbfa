/**
 * Sessions of one handle, and a deadline around every statement: the driver goes on trying for minutes
 * by itself. What is not answered in time may have happened or not; its session is given up, and whoever
 * asked looks for what it wrote. A statement that gave way to another did nothing, and is sent again.
 */
import { type Clock, FleetqError, pause, type Random } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../errors.ts';
import { DuplicateKeyError, meaningOf, SessionOverError } from './driver-errors.ts';
import type { Answer, Bind, OpenSession, Session } from './executor.ts';

export interface SessionLimits {
  readonly deadlineMs: number;
  readonly countMax: number;
  /** Whose they are, for whoever comes after they were closed; 'store' where nothing is said. */
  readonly owner?: string | undefined;
}

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
}

export class Sessions {
  readonly clock: Clock;
  readonly random: Random;
  readonly #open: OpenSession;
  readonly #limits: SessionLimits;
  readonly #idle: Session[] = [];
  readonly #waiting: (() => void)[] = [];
  #count = 0;
  #isClosed = false;

  constructor(open: OpenSession, limits: SessionLimits, clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
    this.#open = open;
    this.#limits = limits;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const idle = this.#idle.splice(0);
    this.#count -= idle.length;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all(idle.map((session) => session.close()));
  }

  /** Gives `act` a session of its own; what it wrote it sees. */
  async use<Result>(act: (line: Line) => Promise<Result>): Promise<Result> {
    const line = new SessionLine(this);
    try {
      return await act(line);
    } finally {
      line.release();
    }
  }

  async take(): Promise<Session> {
    for (;;) {
      if (this.#isClosed) throw this.#closed();
      const session = this.#idle.pop();
      if (session) return session;
      if (this.#count < this.#limits.countMax) return this.#opened();
      await this.#free();
    }
  }

  /** Whoever has given up waiting is woken no more: that would be somebody else's turn. */
  async #free(): Promise<void> {
    let wake: () => void = ignore;
    const isFree = new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.push(resolve);
    });
    try {
      await this.within(isFree, 'no session was free');
    } catch (error) {
      const index = this.#waiting.indexOf(wake);
      if (index >= 0) this.#waiting.splice(index, 1);
      throw error;
    }
  }

  #closed(): StoreUnreachableError {
    return new StoreUnreachableError(`the ${this.#limits.owner ?? 'store'} has been closed`);
  }

  async #opened(): Promise<Session> {
    this.#count += 1;
    try {
      return await this.within(this.#open(), 'no session was opened');
    } catch (error) {
      this.#leave();
      throw error instanceof FleetqError ? error : meaningOf(error);
    }
  }

  give(session: Session): void {
    if (this.#isClosed) {
      this.drop(session);
      return;
    }
    this.#idle.push(session);
    this.#waiting.shift()?.();
  }

  /** Nobody knows what it is doing: it is not used again. */
  drop(session: Session): void {
    this.#leave();
    session.close().catch(ignore);
  }

  #leave(): void {
    this.#count -= 1;
    this.#waiting.shift()?.();
  }

  /** Answers in time, or not at all. */
  within<Result>(work: Promise<Result>, what: string): Promise<Result> {
    const { deadlineMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(deadlineMs, () =>
        reject(new StoreUnreachableError(`${what} within ${deadlineMs} ms by Snowflake`)),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }
}

class SessionLine implements Line {
  readonly #sessions: Sessions;
  #session: Session | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  release(): void {
    if (this.#session) this.#sessions.give(this.#session);
    this.#session = undefined;
  }

  run: Run = async (text, binds = []) => {
    const { clock, random } = this.#sessions;
    for (let attempts = 1; ; attempts += 1) {
      try {
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
    const run: Run = (text, binds = []) => this.#send(text, binds);
    try {
      const result = await act(run);
      await run('commit');
      return result;
    } catch (error) {
      // Without its session the transaction is over as well.
      if (this.#session) await run('rollback').catch(() => this.#abandon());
      throw error;
    }
  }

  /** A session whose transaction may be open is used by nobody else. */
  #abandon(): void {
    if (this.#session) this.#sessions.drop(this.#session);
    this.#session = undefined;
  }

  async #send(text: string, binds: readonly Bind[]): Promise<Answer> {
    this.#session ??= await this.#sessions.take();
    const session = this.#session;
    try {
      return await this.#sessions.within(session.execute(text, binds), 'nothing was answered');
    } catch (thrown) {
      const error = thrown instanceof StoreUnreachableError ? thrown : meaningOf(thrown);
      if (error instanceof StoreUnreachableError || error instanceof SessionOverError) {
        this.#session = undefined;
        this.#sessions.drop(session);
      }
      throw error;
    }
  }
}

function ignore(): void {}
