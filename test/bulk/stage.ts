/** Dead letters in memory, a bulk operation over them, and processes that work it off and may die. */
import { expect } from 'vitest';
import { bulksOf } from '../../src/fleet/bulk/bulks.ts';
import { type Cancel, type Clock, type RunId, systemClock } from '../../src/ground/index.ts';
import {
  type BulkRow,
  MemoryStore,
  MemoryTables,
  type NewBulk,
  type Store,
  StoreUnreachableError,
  type Way,
} from '../../src/store/index.ts';
import { newBulk, orderFor } from '../store/conform-bulk.ts';
import { MACHINE } from '../store/factories.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** Time passes as soon as somebody waits for it. */
export class JumpClock implements Clock {
  #ms = Date.UTC(2030, 0, 1);
  now = () => this.#ms;
  monotonicMs = () => this.#ms;
  pass(ms: number): void {
    this.#ms += ms;
  }
  after(delayMs: number, act: () => void): Cancel {
    const dueMs = this.#ms + delayMs;
    let isWanted = true;
    systemClock.soon(() => {
      if (!isWanted) return;
      this.#ms = Math.max(this.#ms, dueMs);
      act();
    });
    return () => {
      isWanted = false;
    };
  }
  soon = (act: () => void) => systemClock.soon(act);
}

/** A process between its shift and the tables: it dies with its call of this number. */
export class Mortal {
  #calls = 0;
  isDead = false;
  readonly #diesAt: number;
  readonly #how: 'before' | 'after';
  constructor(diesAt = Number.POSITIVE_INFINITY, how: 'before' | 'after' = 'before') {
    this.#diesAt = diesAt;
    this.#how = how;
  }
  readonly way: Way = async (_, act) => {
    this.#calls += 1;
    this.#refuseDead();
    const isLast = this.#calls >= this.#diesAt;
    if (isLast && this.#how === 'before') this.isDead = true;
    this.#refuseDead();
    const answer = act();
    if (isLast) this.isDead = true;
    // Others have a turn between a call and its answer, as over a network.
    await new Promise<void>((resolve) => systemClock.soon(resolve));
    this.#refuseDead();
    return answer;
  };
  #refuseDead(): void {
    if (this.isDead) throw new StoreUnreachableError('this process is dead');
  }
}

export const REDRIVE: Partial<NewBulk> = {
  what: 'redrive',
  deed: JSON.stringify({ what: 'redrive', isFresh: false }),
  filter: 'status:failed',
};

export class Stage {
  readonly clock: Clock & { pass(ms: number): void };
  readonly tables: MemoryTables;
  readonly store: Store;
  #token = 0;

  constructor(clock: Clock & { pass(ms: number): void } = new JumpClock()) {
    this.clock = clock;
    this.tables = new MemoryTables({ clock, random: seededRandom(3) });
    this.store = new MemoryStore(this.tables);
  }

  letters(count: number): RunId[] {
    return Array.from({ length: count }, () => {
      this.clock.pass(1);
      const now = this.tables.now();
      const error = JSON.stringify({ name: 'Error', message: 'no such bucket' });
      const ended = { status: 'failed', outcome: 'aborted', error, finishedAt: now } as const;
      return this.tables.insert({ machine: MACHINE, payload: '{}', ...ended }).taskId;
    });
  }

  async begin(options: Partial<NewBulk> = {}): Promise<BulkRow> {
    const bulk = newBulk({ ...REDRIVE, ...options });
    return (await this.store.beginBulk(bulk)).bulk;
  }

  row(id: string): BulkRow {
    return this.tables.bulks.get(id)!;
  }

  order(id: string, what: 'pause' | 'resume' | 'cancel') {
    return this.store.orderBulk(orderFor(id, { what }));
  }

  /** What the machine does, in a process of its own. Rejects where that has died. */
  async shift(
    id: string,
    options: {
      readonly mortal?: Mortal;
      readonly token?: number;
      readonly signal?: AbortSignal;
      readonly onTurn?: (turns: number) => Promise<unknown> | undefined;
    } = {},
  ): Promise<'nothing' | 'ended'> {
    const { mortal = new Mortal(), signal = new AbortController().signal, onTurn } = options;
    this.#token += 1;
    const store = new MemoryStore(this.tables, { way: mortal.way });
    const bulks = bulksOf({ store, clock: this.clock, random: seededRandom(this.#token), life });
    const of = {
      bulk: id,
      run: this.row(id).shiftRun,
      token: options.token ?? this.#token,
      attempt: 1,
    };
    const ended = await bulks.work(of, async (shift) => {
      for (let turns = 1; await shift.turn(signal); turns += 1) {
        await onTurn?.(turns);
        signal.throwIfAborted();
        if (!shift.isOver) continue;
        await shift.handOver();
        return 'ended' as const;
      }
      return 'ended' as const;
    });
    return ended ?? 'nothing';
  }

  /** Each of them was redriven once, by this operation, and is counted once. */
  expectRedriven(id: string, letters: readonly RunId[]): void {
    for (const letter of letters) {
      expect(this.tables.tasks.get(letter), letter).toMatchObject({
        generation: 2,
        status: 'pending',
      });
      const rows = [...this.tables.audit.values()].filter(({ taskId }) => taskId === letter);
      expect(rows).toMatchObject([{ who: 'ann', what: 'redrive' }]);
      expect(JSON.parse(rows[0]!.detail!)).toMatchObject({ via: `bulk:${id}` });
    }
    const { found, done, requested, already, refused } = this.row(id);
    expect({ found, done, requested, already, refused }).toEqual({
      found: letters.length,
      done: letters.length,
      requested: 0,
      already: 0,
      refused: 0,
    });
  }
}

const life = () => undefined;
