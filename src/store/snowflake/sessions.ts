/**
 * Sessions of one handle, and a deadline around every statement: the driver goes on trying for minutes
 * by itself. What is not answered in time may have happened or not; its session is given up, and whoever
 * asked looks for what it wrote.
 */
import { type Clock, FleetqError, type Random } from '../../ground/index.ts';
import { StoreUnreachableError } from '../errors.ts';
import { meaningOf } from './driver-errors.ts';
import type { OpenSession, Session } from './executor.ts';
import { type Line, SessionLine } from './line.ts';
import type { OwnWrites } from './own-writes.ts';

export type { Line, Run } from './line.ts';

export interface SessionLimits {
  readonly deadlineMs: number;
  readonly countMax: number;
  /** Whose they are, for whoever comes after they were closed; 'store' where nothing is said. */
  readonly owner?: string | undefined;
}

export class Sessions {
  readonly clock: Clock;
  readonly random: Random;
  readonly #open: OpenSession;
  readonly #limits: SessionLimits;
  /** Where sessions may read late what others wrote; undefined where they do not, or may. */
  own: OwnWrites | undefined;
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
      const session = this.#idle.splice(this.own?.surest(this.#idle) ?? -1, 1).at(0);
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

function ignore(): void {}
