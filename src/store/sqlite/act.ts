/**
 * What people change, each change with its row in the audit log. The lock on the file is that of the
 * row, too: what is read here stays true until it is written.
 */
import { isoTime, type RunId } from '../../ground/index.ts';
import type { Act, ActAnswer, Deed, Note } from '../acts.ts';
import { isNoted, judge, type LoggedNote, refuseLongNote, refuseUnbounded } from '../audit.ts';
import { boundedTime } from '../bounds.ts';
import type { Patch, Subject } from '../decision.ts';
import { StoreRefusedError } from '../errors.ts';
import type { TaskStatus } from '../words.ts';
import { hasToldItsEnd, histories, keepSegment, nextSeq, redrivenAt } from './archive.ts';
import * as sql from './audit-log.sql.ts';
import { selectBulkAt } from './bulk-operation.sql.ts';
import { letFollowersGo } from './followers.ts';
import { type RawTask, taskRow } from './rows.ts';
import type { Tx, Values } from './session.ts';
import { selectTask } from './tasks.sql.ts';
import { passOnAfter } from './turns.ts';

export interface Acted {
  readonly answer: ActAnswer;
  /** What tasks have become by it, for those who wait for them. */
  readonly changed: readonly { readonly status: TaskStatus }[];
}

export function act(tx: Tx, act: Act): Acted {
  refuseUnbounded(act);
  const { task, requestId: id, who, deed } = act;
  const row = tx.get<ActedRow>(selectTask, { task });
  const logged = tx.get<RawLogged>(sql.selectLogged, { id });
  const { answer, write } = judge(act, {
    logged: logged && loggedOf(logged),
    task: row && subjectOf(tx, row),
    now: tx.now,
    isFenced: isFenced(tx, act),
  });
  if (!write || !row) return { answer, changed: [] };
  const { patch, keepsOutcome, forkDeadlineMs } = write.change;
  if (deed.what === 'fork') fork(tx, row, deed, forkDeadlineMs);
  if (keepsOutcome) keepOutcome(tx, row);
  apply(tx, row, patch);
  if (row.serial_key !== null) passOnAfter(tx, task);
  letFollowersGo(tx, task);
  const words = { id, who, what: deed.what, task, detail: write.detail };
  tx.run(sql.insertLogged, { ...words, now: tx.now });
  return { answer, changed: [{ status: deed.what === 'fork' ? 'pending' : statusOf(answer) }] };
}

function isFenced(tx: Tx, { bulk, isDryRun }: Act): boolean {
  return bulk !== undefined && !isDryRun && !tx.get(selectBulkAt, bulk);
}

export function note(tx: Tx, given: Note): boolean {
  const { requestId: id, who, what, task } = refuseLongNote(given);
  const detail = JSON.stringify(given.detail);
  const logged = tx.get<RawLogged>(sql.selectLogged, { id });
  if (isNoted(given, logged && loggedOf(logged))) return true;
  tx.run(sql.insertLogged, { id, who, what, task: task ?? null, detail, now: tx.now });
  return false;
}

/** What a row of people's has besides what a claim looks at. */
type ActedRow = RawTask & {
  readonly key_ms: number;
  readonly put_off_ms: number;
};

interface RawLogged {
  readonly who: string;
  readonly what: string;
  readonly task_id: RunId | null;
  readonly detail: string | null;
}

function loggedOf({ who, what, task_id: task, detail }: RawLogged): LoggedNote {
  return { who, what, task: task ?? undefined, detail: detail ?? undefined };
}

function statusOf(answer: ActAnswer): TaskStatus {
  const status = 'after' in answer ? answer.after.status : 'claimed';
  // Whatever wakes it earlier is worth a look.
  return status === 'waiting' ? 'pending' : status;
}

function subjectOf(tx: Tx, row: ActedRow): Subject {
  const { task_id: task, generation } = row;
  return {
    ...taskRow(row),
    keyMs: row.key_ms,
    keyGeneration: row.key_generation,
    isSerial: row.serial_key !== null,
    putOffMs: row.put_off_ms,
    begunAt: redrivenAt(tx, { task, generation: generation - 1 }) ?? row.created_at,
    hasToldItsEnd: hasToldItsEnd(tx, row),
    hasRecords: histories(tx, [{ task, generation }]).length > 0,
  };
}

function apply(tx: Tx, { task_id: task }: RawTask, patch: Patch): void {
  const columns = Object.keys(patch) as sql.ChangedColumn[];
  if (columns.length === 0) return;
  const values = Object.fromEntries(columns.map((name) => [name, stored(patch[name])]));
  tx.run(sql.updateTask(columns), { ...values, task, now: tx.now });
}

function stored(value: Patch[keyof Patch]): Values[string] {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value ?? null;
}

/** The row forgets how it ended; the history of the old generation does not. */
function keepOutcome(tx: Tx, row: RawTask): void {
  const { status, outcome, error } = row;
  const run = { task: row.task_id, generation: row.generation, epoch: row.claim_epoch };
  const hash = row.last_hash ?? '';
  // Where records were archived that the settle did not speak of, it comes after those too.
  const seq = nextSeq(tx, run, row.last_seq);
  const finishedAt = isoTime(row.finished_at ?? tx.now);
  const event = { type: 'OUTCOME', status, outcome, error, finishedAt };
  keepSegment(tx, {
    ...run,
    firstSeq: seq,
    lastSeq: seq,
    prevHash: hash,
    lastHash: hash,
    state: 'outcome',
    events: JSON.stringify([event]),
  });
}

function fork(
  tx: Tx,
  { task_id: task }: RawTask,
  deed: Extract<Deed, { readonly what: 'fork' }>,
  deadlineMs: number | undefined,
): void {
  const { as, payload, records, lastSeq, lastHash, state } = deed;
  const isNew = tx.run(sql.insertFork, {
    task,
    as,
    payload,
    deadline_at: deadlineMs === undefined ? null : boundedTime(Math.ceil(tx.now + deadlineMs)),
    last_seq: lastSeq,
    last_hash: lastHash ?? null,
    now: tx.now,
  });
  if (!isNew) throw new StoreRefusedError(`there is a task ${as} already`);
  if (records === undefined || lastHash === undefined) return;
  const of = { task: as, generation: 1, epoch: 1, firstSeq: 0, lastSeq };
  keepSegment(tx, { ...of, prevHash: '', lastHash, state, events: records });
}
