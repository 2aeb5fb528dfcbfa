/** Tasks and the audit log of an account, as readers look through them: slice by slice, newest first. */
import type { RunId } from '../../ground/index.ts';
import { taskRowOf } from '../memory/rows.ts';
import type { AuditRecord, TaskRecord } from '../memory/tables.ts';
import type { AuditReach, AuditSlice, AuditSource } from '../reading/audit.ts';
import type { Hook } from '../reading/question.ts';
import { cutError } from '../reading/searching.ts';
import type { End, Found, Parts, Reach, Slice, Tally, TaskSource } from '../reading/source.ts';
import type { Calls } from './calls.ts';
import { AUDIT_LOG, recordOf, STEP_TRACKER } from './columns.ts';
import type { Row } from './executor.ts';
import { gatherFleet } from './gather.ts';
import { limitOf } from './sql.ts';
import * as statements from './task-source.sql.ts';

export class SnowflakeTaskSource implements TaskSource, AuditSource {
  /** A statement costs a third of a second whatever it reads, so each reads much. */
  readonly pace = { rowsFirst: 1_000, rowsMax: 16_000, sliceMs: 1_000 };
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  now(): Promise<number> {
    return this.#calls.look(
      async () => undefined,
      (tables) => tables.now(),
    );
  }

  liveRoutes(): Promise<readonly string[]> {
    return this.#calls.look(
      (reading) => gatherFleet(reading),
      (tables) => tables.podsWhere(({ status }) => status === 'up').flatMap(({ routes }) => routes),
    );
  }

  async slice(reach: Reach, foundMax: number): Promise<Slice> {
    const { looked, end } = await this.#look(reach);
    const found = looked.filter(({ task }) => reach.question.fits(task));
    return { found: found.slice(0, foundMax), end };
  }

  async tally(reach: Reach, { fromMs, widthMs }: Parts): Promise<Tally> {
    const { looked, end } = await this.#look(reach);
    const found = looked.filter(({ task }) => reach.question.fits(task));
    return {
      counts: found.map(({ task: { createdAt, status } }) => {
        return { part: Math.floor((createdAt - fromMs) / widthMs), status, count: 1 };
      }),
      end,
    };
  }

  /** Nothing is found at once here: everything is walked. */
  async gather(_hook: Hook): Promise<undefined> {
    return undefined;
  }

  async among(
    ids: readonly string[],
    reach: Omit<Reach, 'rowsMax'>,
    foundMax: number,
  ): Promise<readonly Found[]> {
    const { found } = await this.slice({ ...reach, rowsMax: this.pace.rowsMax }, Infinity);
    return found.filter(({ id }) => ids.includes(id)).slice(0, foundMax);
  }

  async auditSlice({ task, who, what, after, rowsMax, foundMax }: AuditReach): Promise<AuditSlice> {
    const rows = await this.#rows(statements.selectAudit(limitOf(rowsMax + 1)), [
      ...[task ?? '', task ?? ''],
      ...placeOf(after),
    ]);
    const records = rows.map((row) => recordOf<AuditRecord>(AUDIT_LOG, row));
    const looked = records.slice(0, rowsMax);
    const found = looked
      .filter((row) => (who ?? row.who) === row.who && (what ?? row.what) === row.what)
      .slice(0, foundMax)
      .map(({ id, at, taskId, detail, ...row }) => ({
        at: `${at}`,
        id,
        row: { requestId: id, at, ...row, task: taskId as RunId | undefined, detail },
      }));
    const last = records.length > rowsMax ? looked.at(-1) : undefined;
    return { found, end: last && { at: `${last.at}`, id: last.id } };
  }

  isAt(text: string): boolean {
    return /^-?\d{1,15}$/.test(text);
  }

  async #look({ question, after, rowsMax }: Reach): Promise<{
    looked: readonly Found[];
    end: End | undefined;
  }> {
    const { statuses, from, until } = question;
    const rows = await this.#rows(statements.selectTasks(limitOf(rowsMax + 1)), [
      ...[JSON.stringify(statuses), from, until],
      ...placeOf(after),
    ]);
    const looked = rows.slice(0, rowsMax).map(foundOf);
    const last = rows.length > rowsMax ? looked.at(-1) : undefined;
    const end = last && { at: last.at, id: last.id, createdMs: last.task.createdAt };
    return { looked, end };
  }

  #rows(text: string, binds: readonly (string | number)[]): Promise<readonly Row[]> {
    return this.#calls.sessions.use(async ({ run }) => (await run(text, binds)).rows);
  }
}

/** Empty where everything is asked for. */
function placeOf(
  after: { readonly at: string; readonly id: string } | undefined,
): (string | number)[] {
  const at = Number(after?.at ?? 0);
  return [after === undefined ? 0 : 1, at, at, after?.id ?? ''];
}

function foundOf(row: Row): Found {
  const record = recordOf<TaskRecord>(STEP_TRACKER, row);
  const { payload: _, result: __, ...task } = taskRowOf(record);
  const glance = { ...task, error: cutError(task.error) };
  return { at: `${record.createdAt}`, id: record.taskId, task: glance };
}
