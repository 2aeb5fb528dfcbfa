/** What a leader does for the fleet: takes from the dead, fails the hopeless, forgets the old. */
import type { RunId } from '../../ground/index.ts';
import { PAYLOAD_BYTES_MAX } from '../bounds.ts';
import type { Pruned } from '../pods.ts';
import {
  CRASH_LOOP,
  DEADLINE_PASSED,
  ID_MALFORMED,
  LEADER_DIED,
  MACHINE_UNKNOWN,
} from '../reasons.ts';
import type { TakenTask, Taking, TaskRow } from '../tasks.ts';
import type { Claim, PodId } from '../words.ts';
import { deleteAudited, selectAudited } from './audit-log.sql.ts';
import { deleteBulks, selectHasOldBulks } from './bulk-operation.sql.ts';
import { isBadRow } from './driver-errors.ts';
import type { Hinter } from './hinter.ts';
import { deleteTerms } from './leader-terms.sql.ts';
import { deletePods } from './pod-health.sql.ts';
import type { Pool, Row } from './pool.ts';
import { takenTaskOf, taskRowOf } from './rows.ts';
import { selectTasks } from './step-tracker.sql.ts';
import { mendHeld, mendOpen } from './step-tracker-mend.sql.ts';
import { restoreClaims } from './step-tracker-restore.sql.ts';
import * as statements from './step-tracker-sweep.sql.ts';
import { deleteThrottles } from './throttle-state.sql.ts';
import type { PostgresTurns } from './turns.ts';

const TAKE_COUNT_MAX = 500;
const FAIL_COUNT_MAX = 500;
const PRUNE_COUNT_MAX = 1_000;

export class PostgresRecovery {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #turns: PostgresTurns;

  constructor(pool: Pool, hinter: Hinter, turns: PostgresTurns) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#turns = turns;
  }

  async take(taking: Taking): Promise<TakenTask[]> {
    const { from, by, to, countMax, crashed, spreadMs, payloadBytesMax, only } = taking;
    const count = Math.min(countMax, TAKE_COUNT_MAX);
    if (count <= 0) return [];
    const whose = [crashed === 'all', Array.isArray(crashed) ? crashed : [], crashed === 'none'];
    const values = [by, from, count, ...whose, spreadMs, CRASH_LOOP];
    const last = to === 'pool' ? LEADER_DIED : (payloadBytesMax ?? PAYLOAD_BYTES_MAX);
    const which =
      typeof only === 'object'
        ? [null, only.map(({ task }) => task), only.map(({ epoch }) => epoch)]
        : [only ?? null];
    const statement = statements.takeTasks[to][typeof only === 'object' ? 'ofThese' : 'ofAll'];
    const rows = await this.#mending(mendHeld, [from], () =>
      this.#pool.query(statement, [...values, last, ...which]),
    );
    await this.#turns.passOn(rows);
    const taken = rows.map(takenTaskOf).sort((one, other) => (one.task < other.task ? -1 : 1));
    const ready = taken.filter(({ status }) => status === 'pending').length;
    if (ready > 0) this.#hinter.hint('ready', { count: ready });
    if (taken.some(({ status }) => status === 'failed' || status === 'cancelled')) {
      this.#hinter.hint('ended');
    }
    return taken;
  }

  async restore(pod: PodId, claims: readonly Claim[]): Promise<RunId[]> {
    if (claims.length === 0) return [];
    const columns = [
      claims.map(({ task }) => task),
      claims.map(({ generation }) => generation),
      claims.map(({ epoch }) => epoch),
    ];
    const rows = await this.#pool.query(restoreClaims, [pod, ...columns]);
    return rows.map((row) => row['task_id'] as RunId);
  }

  async failHopeless(graceMs: number, countMax: number): Promise<TaskRow[]> {
    const count = Math.min(countMax, FAIL_COUNT_MAX);
    if (count <= 0) return [];
    const errors = [ID_MALFORMED, MACHINE_UNKNOWN, DEADLINE_PASSED];
    const failed = await this.#mending(mendOpen, [count], () =>
      this.#pool.query(statements.failHopelessTasks, [graceMs, count, errors]),
    );
    if (failed.length === 0) return [];
    this.#hinter.hint('ended');
    await this.#turns.passOn(failed);
    const ids = failed.map((row) => row['task_id']);
    return (await this.#pool.query(selectTasks, [ids])).map(taskRowOf);
  }

  /** One row with which nobody can count must not stop what is done for all the others. */
  async #mending(
    mend: string,
    values: readonly unknown[],
    act: () => Promise<Row[]>,
  ): Promise<Row[]> {
    try {
      return await act();
    } catch (error) {
      if (!isBadRow(error)) throw error;
      const mended = await this.#pool.query(mend, values);
      if (mended.length === 0) throw error;
      return act();
    }
  }

  async hasHopeless(graceMs: number): Promise<boolean> {
    return (await this.#pool.query(statements.selectHasHopeless, [graceMs, 1])).length > 0;
  }

  async hasOld(finishedBeforeMs: number, auditedBeforeMs?: number): Promise<boolean> {
    const old = await this.#pool.byIndexes(statements.selectHasOld, [finishedBeforeMs]);
    const bulks = await this.#pool.query(selectHasOldBulks, [finishedBeforeMs]);
    return (
      [...old, ...bulks].some((row) => row['has_old'] === true) ||
      (await this.#hasAudited(auditedBeforeMs))
    );
  }

  async #hasAudited(beforeMs: number | undefined): Promise<boolean> {
    if (beforeMs === undefined) return false;
    return (await this.#pool.query(selectAudited, [beforeMs, 1])).length > 0;
  }

  async prune(
    finishedBeforeMs: number,
    countMax: number,
    auditedBeforeMs?: number,
  ): Promise<Pruned> {
    const count = Math.max(0, Math.min(countMax, PRUNE_COUNT_MAX));
    const freed = await this.#pool.byIndexes(statements.clearKeys, [count]);
    await this.#pool.query(deletePods, [finishedBeforeMs]);
    await this.#pool.query(deleteTerms, [finishedBeforeMs, count]);
    await this.#pool.query(deleteThrottles, [finishedBeforeMs]);
    await this.#pool.query(deleteBulks, [finishedBeforeMs, count]);
    if (count === 0) return { removed: 0, isMore: false };
    const ended = await this.#pool.byIndexes(statements.deleteEnded, [finishedBeforeMs, count]);
    // Last: not every role may.
    const audited =
      auditedBeforeMs === undefined
        ? []
        : await this.#pool.query(deleteAudited, [auditedBeforeMs, count]);
    const isMore = [freed, ended, audited].some(({ length }) => length === count);
    return { removed: ended.length + audited.length, isMore };
  }
}
