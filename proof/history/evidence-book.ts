/**
 * Evidence that is kept by task until the task is looked at: on disk, in a database that SQLite makes
 * for as long as it is open, so that a million tasks need no more memory than a thousand.
 */
import Database from 'better-sqlite3';
import type {
  Acknowledgement,
  CancelCall,
  Effect,
  EndRow,
  Snapshot,
  StoreCall,
} from './evidence.ts';

type Table = 'effect' | 'asked' | 'cancel' | 'call';

const TABLES = `
  create table effect (task text not null, line text not null);
  create table asked (task text not null, subject text not null, shape text not null, line text not null);
  create table cancel (task text not null, line text not null);
  create table call (task text not null, line text not null);
  create table seen (task text not null, machine text not null, key text);`;
const INDEXES = `
  create index effect_task on effect (task);
  create index asked_task on asked (task);
  create index cancel_task on cancel (task);
  create index call_task on call (task);`;

export interface Evidence {
  readonly effects: Iterable<Effect>;
  readonly acknowledged: Iterable<Acknowledgement>;
  readonly cancels?: Iterable<CancelCall> | undefined;
  readonly calls?: Iterable<StoreCall> | undefined;
  readonly snapshots?: readonly Snapshot[] | undefined;
}

const SKEW_MS_MIN = 50;
const SKEW_SPAN_MS = 5_000;
/** More of a kind are told as so many: by then it does not matter any more. */
const WORDS_MAX = 1_000;

export class EvidenceBook {
  readonly #db = new Database('');
  readonly snapshots: readonly Snapshot[];
  readonly effectCount: number;
  readonly askedCount: number;
  readonly #every: number;
  readonly #statements: Readonly<Record<Table, Database.Statement>>;
  readonly #see: Database.Statement;
  /** By pod: the spans of time in which its clock was wrong. */
  readonly #skewed = new Set<string>();

  /** Store calls are kept of so many tasks, chosen by their ids. */
  constructor(evidence: Evidence, sampleCount: number) {
    this.#db.exec(`pragma journal_mode = off; pragma synchronous = off; ${TABLES} begin`);
    this.snapshots = evidence.snapshots ?? [];
    this.askedCount = this.#keep('asked', evidence.acknowledged, (entry) => [
      [entry.task, entry.subject, entry.shape, JSON.stringify(entry)],
    ]);
    this.#every = Math.max(1, Math.floor(this.askedCount / sampleCount));
    this.effectCount = this.#keep('effect', evidence.effects, (effect) => {
      this.#noteSkew(effect);
      return [[effect.task, JSON.stringify(effect)]];
    });
    this.#keep('cancel', evidence.cancels ?? [], (call) => [[call.task, JSON.stringify(call)]]);
    this.#keep('call', evidence.calls ?? [], (call) =>
      call.tasks
        .filter(({ task }) => this.isSampled(task))
        .map((one) => [one.task, JSON.stringify({ ...call, tasks: [one] })]),
    );
    this.#db.exec(INDEXES);
    const linesOf = (table: string) =>
      this.#db.prepare(`select line from ${table} where task = ? order by rowid`).pluck();
    this.#statements = {
      effect: linesOf('effect'),
      asked: linesOf('asked'),
      cancel: linesOf('cancel'),
      call: linesOf('call'),
    };
    this.#see = this.#db.prepare('insert into seen values (?, ?, ?)');
  }

  #keep<T>(table: Table, things: Iterable<T>, rowsOf: (thing: T) => string[][]): number {
    const marks = table === 'asked' ? '?, ?, ?, ?' : '?, ?';
    const insert = this.#db.prepare(`insert into ${table} values (${marks})`);
    let count = 0;
    for (const thing of things) {
      for (const row of rowsOf(thing)) insert.run(row);
      count += 1;
    }
    return count;
  }

  #noteSkew({ pod, at, ownAt = at }: Effect): void {
    if (Math.abs(ownAt - at) <= SKEW_MS_MIN) return;
    const span = Math.floor(at / SKEW_SPAN_MS);
    for (const near of [span - 1, span, span + 1]) this.#skewed.add(`${pod} ${near}`);
  }

  /** Whether the clock of this pod was wrong at about those times: it may have been set since. */
  wasSkewed(pod: string, from: number, to: number): boolean {
    const last = Math.floor(to / SKEW_SPAN_MS);
    for (let span = Math.floor(from / SKEW_SPAN_MS); span <= last; span += 1) {
      if (this.#skewed.has(`${pod} ${span}`)) return true;
    }
    return false;
  }

  isSampled(task: string): boolean {
    let number = 7;
    for (const letter of task) number = (number * 31 + letter.codePointAt(0)!) % 1_000_003;
    return number % this.#every === 0;
  }

  effectsOf(task: string): Effect[] {
    return this.#linesOf('effect', task);
  }
  acknowledgementsOf(task: string): Acknowledgement[] {
    return this.#linesOf('asked', task);
  }
  cancelsOf(task: string): CancelCall[] {
    return this.#linesOf('cancel', task);
  }
  callsOf(task: string): StoreCall[] {
    return this.#linesOf('call', task);
  }

  #linesOf<T>(table: Table, task: string): T[] {
    return (this.#statements[table].all(task) as string[]).map((line) => JSON.parse(line) as T);
  }

  /** The store has this task. */
  see({ task, machine, key }: EndRow): void {
    this.#see.run(task, machine, key ?? null);
  }

  get seenCount(): number {
    return this.#count('select count(*) from seen');
  }

  /** Acknowledged, and not in the store. */
  unseen(): string[] {
    return this.#words(`select task || ': ' || shape || ' was acknowledged, and is not in the store'
      from asked where task not in (select task from seen)`);
  }

  /** In the store, and never acknowledged. */
  unasked(): string[] {
    return this.#words(`select task || ': nobody has enqueued it'
      from seen where task not in (select task from asked)`);
  }

  /** Executed, and not in the store. */
  unknown(): string[] {
    return this.#words(`select distinct task || ': it was executed, and nobody knows it'
      from effect where task not in (select task from seen)`);
  }

  /** Keys that stand for several tasks, by the answers or by the rows. */
  keysTwice(): string[] {
    return [
      ...this.#words(`select subject || ': its key was answered with several tasks'
        from asked group by shape, subject having count(distinct task) > 1`),
      ...this.#words(`select key || ': several rows of ' || machine || ' have this key'
        from seen where key is not null group by machine, key having count(*) > 1`),
    ];
  }

  #words(query: string): string[] {
    return this.#db.prepare(`${query} limit ${WORDS_MAX}`).pluck().all() as string[];
  }

  #count(query: string): number {
    return this.#db.prepare(query).pluck().get() as number;
  }

  close(): void {
    this.#db.close();
  }
}
