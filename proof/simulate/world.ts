/**
 * One simulation: its time, its chance, the shared tables, what has gone wrong, and a trace that comes
 * out the same for the same seed. A story in words is kept only where somebody wants to read it.
 */
import { createHash } from 'node:crypto';
import type { Clock, Random } from '../../src/ground/index.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import { traitsOf } from './kept-seeds.ts';
import type { Mutant } from './mutants.ts';
import { BEGIN_MS } from './process.ts';
import { Schedule } from './schedule.ts';

const VIOLATION_COUNT_MAX = 20;
/** So many lines are hashed at once. */
const TRACE_COUNT = 500;

export interface WorldOptions {
  readonly seed: number;
  readonly mutant?: Mutant | undefined;
  /** Whether somebody sets the clock of the store; by the seed's number where nothing is said. */
  readonly setsStoreClock?: boolean | undefined;
  /** Gets every line of the story as it happens. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** While the store's clock is so far from the true time. */
interface Era {
  readonly sinceMs: number;
  readonly offMs: number;
}

export class World {
  readonly seed: number;
  readonly mutant: Mutant | undefined;
  readonly setsStoreClock: boolean;
  readonly schedule = new Schedule();
  /** For what the simulation itself decides; pods have chance of their own. */
  readonly random: Random;
  readonly tables: MemoryTables;
  readonly violations: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #eras: Era[] = [{ sinceMs: 0, offMs: 0 }];
  /** Tasks of which the store has lost something, ever. */
  readonly rewound = new Set<string>();
  /** When all that was broken was put right. */
  healedMs = 0;
  readonly #trace = createHash('sha256');
  #untraced: string[] = [];
  readonly #onLine: ((line: string) => void) | undefined;

  constructor({ seed, mutant, onLine, ...options }: WorldOptions) {
    this.seed = seed;
    this.setsStoreClock = options.setsStoreClock ?? traitsOf(seed).setsStoreClock;
    this.mutant = mutant;
    this.#onLine = onLine;
    this.random = seededRandom(seed * 2_654_435_761);
    this.tables = new MemoryTables({ clock: this.#clock(), random: this.fork() });
  }

  /** The server's own time and its turns: nobody can pause it. */
  #clock(): Clock {
    const { schedule } = this;
    const now = () => Math.floor(BEGIN_MS + schedule.nowMs + this.#eras.at(-1)!.offMs);
    return {
      now,
      monotonicMs: () => schedule.nowMs,
      after: (delayMs, act) => schedule.at(schedule.nowMs + delayMs, act),
      soon: (act) => void schedule.at(schedule.nowMs, act),
    };
  }

  /** Somebody sets the store's clock: from now on it is so far from the true time. */
  setStoreClock(offMs: number): void {
    this.say('store', `has its clock set to be ${(offMs / 60_000).toFixed(0)} minutes ahead`);
    this.count('store clock jumps');
    this.#eras.push({ sinceMs: this.nowMs, offMs });
  }

  /** When the store's clock was set last; before everything where nobody has set it. */
  get storeSetMs(): number {
    return this.#eras.length > 1 ? this.#eras.at(-1)!.sinceMs : Number.NEGATIVE_INFINITY;
  }

  /** When it truly was what the store has written down as this time, at the latest. */
  trueMsOf(storeTime: number): number {
    const msIn = ({ offMs }: Era) => storeTime - BEGIN_MS - offMs;
    const isIn = (era: Era, index: number) => {
      const untilMs = this.#eras[index + 1]?.sinceMs ?? this.nowMs;
      return msIn(era) >= Math.floor(era.sinceMs) && msIn(era) <= untilMs;
    };
    return msIn(this.#eras.findLast(isIn) ?? this.#eras[0]!);
  }

  get nowMs(): number {
    return this.schedule.nowMs;
  }

  /** Chance for somebody else, so that what one draws does not change what another does. */
  fork(): Random {
    return seededRandom(this.seedOf());
  }

  seedOf(): number {
    return below(this.random, 2 ** 31);
  }

  within(fromMs: number, toMs: number): number {
    return fromMs + this.random.fraction() * (toMs - fromMs);
  }

  pick<T>(items: readonly T[]): T {
    return items[below(this.random, items.length)]!;
  }

  /** Part of the trace; a line of the story. */
  say(who: string, what: string): void {
    this.#untraced.push(`${this.nowMs} ${who} ${what}`);
    if (this.#untraced.length >= TRACE_COUNT) this.#hash();
    this.tell(who, what);
  }

  /** A line of the story that is not worth a trace. */
  tell(who: string, what: string): void {
    this.#onLine?.(`${(this.nowMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(10)} ${what}`);
  }

  #hash(): void {
    this.#trace.update(this.#untraced.join('\n'));
    this.#untraced = [];
  }

  get isTold(): boolean {
    return this.#onLine !== undefined;
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** A promise was broken. */
  violate(promise: string, how: string): void {
    this.say('VIOLATION', `${promise}: ${how}`);
    if (this.violations.length < VIOLATION_COUNT_MAX) {
      this.violations.push(`${promise}: ${how} (at ${(this.nowMs / 1_000).toFixed(3)} s)`);
    }
  }

  traceHash(): string {
    this.#hash();
    return this.#trace.copy().digest('hex').slice(0, 16);
  }
}
