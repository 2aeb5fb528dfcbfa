/**
 * What questions are asked with: sessions of their own, each used by one question at a time, and two
 * small tables. What a question may have left in a session ends with the session.
 */
import { describeError } from '../../../ground/index.ts';
import type { Answer, Bind, Session } from '../executor.ts';
import type { TableKind } from '../migrate.ts';
import type { SnowflakeWay } from '../options.ts';
import type { Sessions } from '../sessions.ts';
import * as texts from './probe.sql.ts';

/** Sends one statement; what the driver throws is thrown as it came. */
export type Ask = (text: string, binds?: readonly Bind[], requestId?: string) => Promise<Answer>;

/** How a statement was refused. */
export interface Refused {
  readonly code: string | undefined;
  readonly sqlState: string | undefined;
  readonly message: string;
  readonly thrown: unknown;
}

export interface BenchOptions {
  readonly way: SnowflakeWay;
  readonly sessions: Sessions;
  /** Names its tables, which are nobody else's. */
  readonly tag: string;
}

export class Bench {
  readonly way: SnowflakeWay;
  readonly sessions: Sessions;
  readonly tag: string;
  /** Of the tables that were made. */
  readonly kinds: TableKind[] = [];
  /** Schemas that could not be removed. */
  readonly left: string[] = [];

  constructor({ way, sessions, tag }: BenchOptions) {
    this.way = way;
    this.sessions = sessions;
    this.tag = tag;
  }

  tableOf(kind: TableKind): string {
    return `fleetq_probe_${this.tag}_${kind}`;
  }

  nowMs(): number {
    return this.sessions.clock.monotonicMs();
  }

  /** One session, which is as it was afterwards. */
  async one<Result>(act: (ask: Ask) => Promise<Result>): Promise<Result> {
    const session = await this.sessions.take();
    let isSound = false;
    try {
      const result = await act(this.#asking(session));
      isSound = true;
      return result;
    } finally {
      if (isSound) this.sessions.give(session);
      else this.sessions.drop(session);
    }
  }

  /** Several, which may hold transactions and other limits: nobody uses them after that. */
  async several<Result>(count: number, act: (asks: Ask[]) => Promise<Result>): Promise<Result> {
    const taking = Array.from({ length: count }, () => this.sessions.take());
    const taken = await Promise.allSettled(taking);
    const sessions = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    try {
      const missing = taken.find((one) => one.status === 'rejected');
      if (missing) throw missing.reason;
      return await act(sessions.map((session) => this.#asking(session)));
    } finally {
      for (const session of sessions) this.sessions.drop(session);
    }
  }

  #asking(session: Session): Ask {
    return (text, binds = [], requestId) =>
      this.sessions.within(session.execute(text, binds, requestId), 'nothing was answered');
  }

  /** Every row as it was in the beginning. */
  async lay(kind: TableKind): Promise<void> {
    await this.one(async (ask) => {
      await ask(texts.deleteRows(this.tableOf(kind)));
      await ask(texts.insertRows(this.tableOf(kind)), [JSON.stringify(texts.ROWS)]);
    });
  }

  /** What was found in it counts, whether it can be removed or not. */
  async dropSchema(schema: string): Promise<void> {
    const kept = await refusalOf(this.one((ask) => ask(texts.dropSchema(schema))));
    if (kept) this.left.push(schema);
  }

  /** What of its own could not be removed. */
  async clear(): Promise<string[]> {
    const { left } = this;
    for (const kind of this.kinds) {
      const table = this.tableOf(kind);
      await this.one((ask) => ask(texts.dropTable(table))).catch(() => left.push(table));
    }
    return left;
  }
}

/** What comes of a statement that may be refused. */
export async function refusalOf(work: Promise<unknown>): Promise<Refused | undefined> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    const { code, sqlState } = thrown as { code?: unknown; sqlState?: unknown };
    return {
      code: code === undefined ? undefined : String(code).padStart(6, '0'),
      sqlState: typeof sqlState === 'string' ? sqlState : undefined,
      message: describeError(thrown).message.split('\n').join(' '),
      thrown,
    };
  }
}

/** `000627 (57014)`. */
export function codeOf({ code, sqlState }: Refused): string {
  return sqlState === undefined ? (code ?? 'no code') : `${code ?? 'no code'} (${sqlState})`;
}
