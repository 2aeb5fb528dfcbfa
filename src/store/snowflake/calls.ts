/**
 * How a call is carried out: rows onto a desk, the rules, and what they changed back into the tables;
 * all of it again where somebody was faster. One session for all of an attempt, which sees what it wrote.
 */
import { pause } from '../../ground/index.ts';
import { StoreBusyError } from '../errors.ts';
import type { MemoryTables } from '../memory/tables.ts';
import { Bell } from './bell.ts';
import { STEP_TRACKER, TABLES, type Table } from './columns.ts';
import { Desk } from './desk.ts';
import { gatherNow, type Reading } from './gather.ts';
import { OwnWrites } from './own-writes.ts';
import type { Line, Sessions } from './sessions.ts';
import { OvertakenError, type Writing, write } from './writer.ts';

export type Gather = (reading: Reading) => Promise<unknown>;
export type Decide<Result> = (tables: MemoryTables) => Result;
export type Fence = NonNullable<Writing['fence']>;

export interface Sureness<Result> {
  /** It is to be decided by whatever anybody wrote before. */
  readonly isSure: boolean;
  /** At least what these tables hold. */
  readonly sureOf: readonly Table[];
  /** Whether an answer says that something is not there, or not so: a read that is late says the same. */
  readonly isDoubtful: (result: Result, hasChanges: boolean) => boolean;
}

export interface Each<Result> {
  readonly result: Result;
  /** Tasks that were to be written, and those that were. */
  readonly wanted: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
  /** Its history, or a key of it, was there before: nothing of it counts. */
  readonly isOvertaken: boolean;
}

const ATTEMPTS_MAX = 12;
const WAIT_MS = 20;
const WAIT_MS_MAX = 2_000;

export class Calls {
  readonly sessions: Sessions;
  readonly isHybrid: boolean;
  /** Whether a session may read late what others wrote: no answer rests on such a read alone. */
  readonly isLate: boolean;
  readonly #bell: Bell;

  private constructor(sessions: Sessions, isHybrid: boolean, isLate: boolean) {
    this.sessions = sessions;
    this.isHybrid = isHybrid;
    this.isLate = isLate;
    this.#bell = new Bell(sessions.clock);
  }

  /** Of hybrid tables the latest is read by every session; see ./driver.ts. */
  static ofStore(sessions: Sessions, isHybrid: boolean): Calls {
    if (!isHybrid) sessions.own = new OwnWrites();
    return new Calls(sessions, isHybrid, !isHybrid);
  }

  /** Nothing is decided by what people are shown: it may be a little old, and costs no write. */
  static ofReader(sessions: Sessions, isHybrid: boolean): Calls {
    return new Calls(sessions, isHybrid, false);
  }

  /** Reads, and writes nothing. `isSure`: whatever anybody wrote before. */
  look<Result>(gather: Gather, answer: Decide<Result>, isSure = false): Promise<Result> {
    return this.sessions.use(async (line) => {
      if (isSure) line.beSure(TABLES);
      return answer((await this.#gathered(line.run, gather)).tables);
    });
  }

  /** All or nothing, and decided again until it stands. */
  async change<Result>(
    gather: Gather,
    decide: Decide<Result>,
    { isDoubtful, sureOf = [], ...given }: Partial<Sureness<Result>> = {},
  ): Promise<Result> {
    const { clock, random } = this.sessions;
    let isSure = given.isSure ?? !this.isLate;
    for (let attempts = 1; ; attempts += 1) {
      try {
        const changed = await this.sessions.use(async (line) => {
          line.beSure(isSure ? TABLES : sureOf);
          const desk = await this.#gathered(line.run, gather);
          const decided = isSure ? { result: decide(desk.tables) } : tried(decide, desk.tables);
          if (!decided) return undefined;
          const { result } = decided;
          if (!isSure && isDoubtful?.(result, desk.hasChanges)) return undefined;
          await this.#bell.ring(line.run, desk);
          await write(line, desk, random, { isHybrid: this.isHybrid, isWhole: true });
          await this.#ringLate(line, desk);
          return { result };
        });
        if (changed) return changed.result;
        isSure = true;
      } catch (error) {
        if (!(error instanceof StoreBusyError) || attempts >= ATTEMPTS_MAX) throw error;
        // A rival, or something that is not seen here yet: if it is again, it is to be seen.
        isSure ||= error instanceof OvertakenError && attempts > 1;
        await pause(clock, Math.min(WAIT_MS * 2 ** attempts, WAIT_MS_MAX) * random.fraction());
      }
    }
  }

  /** Each task by itself, once: whoever calls sees to those that were not written. */
  changeEach<Result>(
    gather: Gather,
    decide: Decide<Result>,
    { fence, isSure = false }: { readonly fence?: Fence; readonly isSure?: boolean } = {},
  ): Promise<Each<Result>> {
    return this.sessions.use(async (line) => {
      if (isSure) line.beSure(TABLES);
      const desk = await this.#gathered(line.run, gather);
      const result = decide(desk.tables);
      const ids = desk.changes(STEP_TRACKER).map(({ cells }) => `${cells['task_id']}`);
      const wanted = new Set(ids);
      await this.#bell.ring(line.run, desk);
      const written = await this.#writeEach(line, desk, fence);
      await this.#ringLate(line, desk);
      return { result, wanted, written: written ?? new Set(), isOvertaken: !written };
    });
  }

  /** Where the locks took so long that somebody may have lain down, looked, and seen nothing. */
  async #ringLate({ run }: Line, desk: Desk): Promise<void> {
    // What was written stands, heard or not.
    await this.#bell.ring(run, desk).catch(() => undefined);
  }

  async #writeEach(
    line: Line,
    desk: Desk,
    fence: Fence | undefined,
  ): Promise<ReadonlySet<string> | undefined> {
    const { random } = this.sessions;
    try {
      return await write(line, desk, random, { isHybrid: this.isHybrid, isWhole: false, fence });
    } catch (error) {
      if (error instanceof OvertakenError) return undefined;
      throw error;
    }
  }

  async #gathered(run: Line['run'], gather: Gather): Promise<Desk> {
    const { clock, random } = this.sessions;
    const desk = new Desk(clock, random);
    const reading = { run, desk };
    await gather(reading);
    await gatherNow(reading);
    return desk;
  }
}

/** Undefined where it was refused: by what was read, which may be of different times. */
function tried<Result>(
  decide: Decide<Result>,
  tables: MemoryTables,
): { result: Result } | undefined {
  try {
    return { result: decide(tables) };
  } catch {
    return undefined;
  }
}
