/**
 * Tasks and the audit log in SQLite, as readers look through them. A statement holds the event loop
 * while it runs, so slices are short: nobody's heartbeat waits for them.
 */
import type { RunId } from '../../ground/index.ts';
import type { AuditFound, AuditReach, AuditSlice, AuditSource } from '../reading/audit.ts';
import type { Hook } from '../reading/question.ts';
import {
  type Found,
  HOOKED_MAX,
  type Parts,
  type Reach,
  type Slice,
  type Tally,
  type TaskSource,
} from '../reading/source.ts';
import { afterAllOf } from '../reading/words.ts';
import type { TaskStatus } from '../words.ts';
import * as sql from './reader.sql.ts';
import { type RawGlance, taskGlance } from './rows.ts';
import type { Values } from './session.ts';

/** Sends one statement. */
export type Ask = <Row>(text: string, values: Values) => Promise<Row[]>;

type Looked<Row> = Row & { readonly looked: number | null };

interface RawTally {
  readonly part: number | null;
  readonly status: TaskStatus | null;
  readonly count: number;
  readonly task_id: string;
  readonly created_at: number;
}

interface RawAudit {
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly task_id: RunId | null;
  readonly detail: string | null;
}

const NOWHERE = { at: `${Number.MAX_SAFE_INTEGER}`, id: '' };

export class SqliteTaskSource implements TaskSource, AuditSource {
  readonly pace = { rowsFirst: 500, rowsMax: 20_000, sliceMs: 20 };
  readonly now: () => Promise<number>;
  readonly #ask: Ask;

  constructor(ask: Ask, now: () => Promise<number>) {
    this.#ask = ask;
    this.now = now;
  }

  async liveRoutes(): Promise<readonly string[]> {
    const rows = await this.#ask<{ route: string }>(sql.selectLiveRoutes, {});
    return rows.map(({ route }) => route);
  }

  async slice(reach: Reach, foundMax: number): Promise<Slice> {
    const { text, values } = sql.selectSlice(reach, foundMax);
    const rows = await this.#ask<Looked<RawGlance>>(text, values);
    const last = rows.find(({ looked }) => looked !== null);
    const found = rows.filter(({ looked }) => looked === null).map(foundOf);
    const isEnd = (last?.looked ?? 0) < reach.rowsMax;
    return { found: found.sort(newestFirst), end: last && !isEnd ? endOf(last) : undefined };
  }

  async tally(reach: Reach, parts: Parts): Promise<Tally> {
    const { text, values } = sql.selectTally(reach, parts);
    const rows = await this.#ask<RawTally>(text, values);
    const last = rows.find(({ part }) => part === null);
    const isEnd = (last?.count ?? 0) < reach.rowsMax;
    return {
      counts: rows.flatMap(({ part, status, count }) =>
        part === null || status === null ? [] : [{ part, status, count }],
      ),
      end: last && !isEnd ? endOf(last) : undefined,
    };
  }

  async gather(hook: Hook): Promise<readonly string[] | undefined> {
    const { column, exact, prefixes } = hook;
    if (column === 'id' && prefixes.length === 0) return exact;
    if (column === 'key') return this.#gatherKeys(hook);
    const spans = prefixes.map((prefix) => [prefix, afterAllOf(prefix)]);
    if (spans.some(([, end]) => end === undefined)) return undefined;
    const text = column === 'id' ? sql.gatherIds : sql.gatherHeld;
    const values = { words: JSON.stringify(exact), spans: JSON.stringify(spans) };
    return fewOf(await this.#tasksOf(text, values));
  }

  async #gatherKeys({ exact, machines }: Hook): Promise<readonly string[] | undefined> {
    const wanted = machines ?? fewOf(await this.#keyMachines());
    if (wanted === undefined) return undefined;
    const values = { machines: JSON.stringify(wanted), keys: JSON.stringify(exact) };
    return fewOf(await this.#tasksOf(sql.gatherKeys, values));
  }

  async #keyMachines(): Promise<string[]> {
    const values = { count: HOOKED_MAX + 1 };
    const rows = await this.#ask<{ machine: string }>(sql.selectKeyMachines, values);
    return rows.map(({ machine }) => machine);
  }

  async #tasksOf(text: string, values: Values): Promise<string[]> {
    const asked = { ...values, count: HOOKED_MAX + 1 };
    return (await this.#ask<{ task_id: string }>(text, asked)).map(({ task_id }) => task_id);
  }

  async among(
    ids: readonly string[],
    reach: Omit<Reach, 'rowsMax'>,
    foundMax: number,
  ): Promise<readonly Found[]> {
    const { text, values } = sql.selectAmong([...new Set(ids)], reach, foundMax);
    return (await this.#ask<RawGlance>(text, values)).map(foundOf);
  }

  async auditSlice(reach: AuditReach): Promise<AuditSlice> {
    const { task = null, who = null, what = null, after = NOWHERE, rowsMax, foundMax } = reach;
    const text = task === null ? sql.selectAudit : sql.selectAuditOfTask;
    const asked = { task, who, what, at: Number(after.at), id: after.id };
    const values = { ...asked, rows: rowsMax, count: foundMax };
    const rows = await this.#ask<Looked<RawAudit>>(text, values);
    const last = rows.find(({ looked }) => looked !== null);
    const found = rows.filter(({ looked }) => looked === null).map(auditFoundOf);
    const isEnd = (last?.looked ?? 0) < rowsMax;
    return {
      found: found.sort(newestFirst),
      end: last && !isEnd ? auditFoundOf(last) : undefined,
    };
  }

  isAt(text: string): boolean {
    return /^-?\d{1,15}$/.test(text);
  }
}

function fewOf(found: readonly string[]): readonly string[] | undefined {
  return found.length > HOOKED_MAX ? undefined : found;
}

function foundOf(row: RawGlance): Found {
  return { at: `${row.created_at}`, id: row.task_id, task: taskGlance(row) };
}

function auditFoundOf(row: RawAudit): AuditFound {
  const { id, at, who, what, task_id, detail } = row;
  const task = task_id ?? undefined;
  return {
    at: `${at}`,
    id,
    row: { requestId: id, at, who, what, task, detail: detail ?? undefined },
  };
}

function endOf({ created_at: createdMs, task_id: id }: Pick<RawTally, 'created_at' | 'task_id'>) {
  return { at: `${createdMs}`, id, createdMs };
}

type Placed = { readonly at: string; readonly id: string };

/** A union has no order of its own. */
function newestFirst(one: Placed, other: Placed): number {
  return (
    Number(other.at) - Number(one.at) || Buffer.compare(Buffer.from(other.id), Buffer.from(one.id))
  );
}
