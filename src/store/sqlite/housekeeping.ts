/** Ends what can never run, with the reason, and removes what ended long ago. */
import type { RunId } from '../../ground/index.ts';
import type { Pruned } from '../pods.ts';
import { DEADLINE_PASSED, ID_MALFORMED, MACHINE_UNKNOWN } from '../reasons.ts';
import type { TaskRow } from '../tasks.ts';
import { deleteAudited, selectAudited } from './audit-log.sql.ts';
import { deleteBulks, selectBulksOld } from './bulk-operation.sql.ts';
import { letFollowersGo } from './followers.ts';
import * as sql from './housekeeping.sql.ts';
import { deleteTerms } from './leader-terms.sql.ts';
import { deletePodsDown, selectPodsDown } from './pods.sql.ts';
import { type RawTask, taskRow } from './rows.ts';
import { attempt, BATCH_COUNT_MAX, type Tx, type Values } from './session.ts';
import { endTask } from './tasks.sql.ts';
import { deleteThrottles } from './throttle-state.sql.ts';
import { passOnAfter } from './turns.ts';

export function failHopeless(tx: Tx, graceMs: number, countMax: number): TaskRow[] {
  const before = tx.now - Math.round(graceMs);
  const failed: TaskRow[] = [];
  const fail = (select: string, outcome: string, error: string, values: Values = {}) => {
    const count = Math.min(countMax, BATCH_COUNT_MAX) - failed.length;
    if (count <= 0) return;
    for (const { task_id: task } of tx.all<{ task_id: RunId }>(select, { ...values, count })) {
      const ended = { task, status: 'failed', outcome, error, now: tx.now };
      const done = attempt(() => tx.get<RawTask>(endTask, ended));
      if (!('answer' in done && done.answer)) continue;
      passOnAfter(tx, task);
      letFollowersGo(tx, task);
      failed.push(taskRow(done.answer));
    }
  };
  fail(sql.selectMalformed, 'aborted', ID_MALFORMED);
  fail(sql.selectOfUnknownMachines, 'aborted', MACHINE_UNKNOWN, { before });
  fail(sql.selectPastDeadline, 'timedOut', DEADLINE_PASSED, { now: tx.now, before });
  return failed;
}

const has = (tx: Tx, select: string, before: number) =>
  tx.all(select, { now: tx.now, before, count: 1 }).length > 0;

export function hasHopeless(tx: Tx, graceMs: number): boolean {
  const before = tx.now - Math.round(graceMs);
  const hopeless = [sql.selectMalformed, sql.selectOfUnknownMachines, sql.selectPastDeadline];
  return hopeless.some((select) => has(tx, select, before));
}

export function hasOld(tx: Tx, finishedBeforeMs: number, auditedBeforeMs?: number): boolean {
  const before = tx.now - Math.round(finishedBeforeMs);
  const old = [sql.selectPrunable, sql.selectKeysExpired, selectPodsDown, selectBulksOld];
  return (
    old.some((select) => has(tx, select, before)) ||
    (auditedBeforeMs !== undefined && has(tx, selectAudited, tx.now - Math.round(auditedBeforeMs)))
  );
}

export function prune(
  tx: Tx,
  finishedBeforeMs: number,
  countMax: number,
  auditedBeforeMs?: number,
): Pruned {
  const count = Math.max(0, Math.min(countMax, BATCH_COUNT_MAX));
  const before = tx.now - Math.round(finishedBeforeMs);
  const keys = tx.run(sql.expireKeys, { now: tx.now, count });
  const old = tx.all<{ task_id: RunId }>(sql.selectPrunable, { before, count });
  for (const { task_id: task } of old) {
    tx.run(sql.deleteEvents, { task });
    tx.run(sql.deleteSignals, { task });
    tx.run(sql.deleteTask, { task });
  }
  tx.run(deletePodsDown, { before, count });
  tx.run(deleteTerms, { before, count });
  tx.run(deleteThrottles, { before, now: tx.now });
  tx.run(deleteBulks, { before, count });
  const audited =
    auditedBeforeMs === undefined
      ? []
      : tx.all(deleteAudited, { before: tx.now - Math.round(auditedBeforeMs), count });
  const isMore = count > 0 && [keys, old.length, audited.length].includes(count);
  return { removed: old.length + audited.length, isMore };
}
