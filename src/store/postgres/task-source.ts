/** Tasks and the audit log in Postgres, as readers look through them. */
import { isoTime } from '../../ground/index.ts';
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
import type { Row } from './pool.ts';
import type { ReadPool } from './read-pool.ts';
import * as statements from './reader.sql.ts';
import { auditRowOf, taskGlanceOf } from './rows.ts';

const AT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
const NOWHERE = { at: 'infinity', id: '' };

export class PostgresTaskSource implements TaskSource, AuditSource {
  readonly pace = { rowsFirst: 1_000, rowsMax: 50_000, sliceMs: 150 };
  readonly #pool: ReadPool;

  constructor(pool: ReadPool) {
    this.#pool = pool;
  }

  async now(): Promise<number> {
    return Number((await this.#pool.query(statements.selectNow))[0]?.['now_ms']);
  }

  async liveRoutes(): Promise<readonly string[]> {
    const rows = await this.#pool.query(statements.selectLiveRoutes);
    return rows.map((row) => row['route'] as string);
  }

  async slice(reach: Reach, foundMax: number): Promise<Slice> {
    const rows = await this.#pool.ask(statements.selectSlice(reach, foundMax));
    const found = rows.filter((row) => row['fits'] === true).map(foundOf);
    const last = rows.at(-1);
    const isEnd = last === undefined || (last['place'] as number) < reach.rowsMax;
    return { found, end: isEnd && found.length < foundMax ? undefined : last && endOf(last) };
  }

  async tally(reach: Reach, parts: Parts): Promise<Tally> {
    const rows = await this.#pool.ask(statements.selectTally(reach, parts));
    const last = rows.find((row) => row['position'] !== null);
    const counts = rows.filter((row) => row['position'] === null);
    const isEnd = last === undefined || (last['count'] as number) < reach.rowsMax;
    return {
      counts: counts.map((row) => ({
        part: row['part'] as number,
        status: row['status'] as TaskStatus,
        count: row['count'] as number,
      })),
      end: isEnd ? undefined : endOf(last),
    };
  }

  async gather(hook: Hook): Promise<readonly string[] | undefined> {
    const { column, exact, prefixes } = hook;
    if (column === 'id' && prefixes.length === 0) return exact;
    if (column === 'key') return this.#gatherKeys(hook);
    const ends = prefixes.map(afterAllOf);
    if (ends.includes(undefined)) return undefined;
    const text = column === 'id' ? statements.gatherIds : statements.gatherHeld;
    return fewOf(await this.#pool.query(text, [exact, prefixes, ends, HOOKED_MAX + 1]), 'task_id');
  }

  async #gatherKeys({ exact, machines }: Hook): Promise<readonly string[] | undefined> {
    const select = () => this.#pool.query(statements.selectKeyMachines, [HOOKED_MAX + 1]);
    const wanted = machines ?? fewOf(await select(), 'machine');
    if (wanted === undefined) return undefined;
    const values = [wanted, exact, HOOKED_MAX + 1];
    return fewOf(await this.#pool.query(statements.gatherKeys, values), 'task_id');
  }

  async among(
    ids: readonly string[],
    reach: Omit<Reach, 'rowsMax'>,
    foundMax: number,
  ): Promise<readonly Found[]> {
    return (await this.#pool.ask(statements.selectAmong(ids, reach, foundMax))).map(foundOf);
  }

  async auditSlice(reach: AuditReach): Promise<AuditSlice> {
    const { task, who, what, after = NOWHERE, rowsMax, foundMax } = reach;
    const text = task === undefined ? statements.selectAudit : statements.selectAuditOfTask;
    const asked = [who ?? null, what ?? null, after.at, after.id, rowsMax, foundMax, task ?? null];
    const rows = await this.#pool.query(text, asked);
    const found = rows.filter((row) => row['fits'] === true).map(auditFoundOf);
    const last = rows.at(-1);
    const isEnd = last === undefined || (last['place'] as number) < rowsMax;
    return {
      found,
      end: isEnd && found.length < foundMax ? undefined : last && auditFoundOf(last),
    };
  }

  /** A day that is none, or a year before the first, would be an error of the server. */
  isAt(text: string): boolean {
    if (!AT.test(text)) return false;
    const ms = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 23)}Z`);
    return !Number.isNaN(ms) && isoTime(ms).startsWith(text.slice(0, 10)) && text >= '0001';
  }
}

/** Undefined where they are too many. */
function fewOf(rows: readonly Row[], column: string): string[] | undefined {
  return rows.length > HOOKED_MAX ? undefined : rows.map((row) => row[column] as string);
}

function foundOf(row: Row): Found {
  return { at: row['position'] as string, id: row['task_id'] as string, task: taskGlanceOf(row) };
}

function auditFoundOf(row: Row): AuditFound {
  return { at: row['position'] as string, id: row['id'] as string, row: auditRowOf(row) };
}

function endOf(row: Row) {
  const createdMs = row['created_at'] as number;
  return { at: row['position'] as string, id: row['task_id'] as string, createdMs };
}
