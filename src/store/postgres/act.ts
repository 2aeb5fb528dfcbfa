/**
 * What people change, each change with its row in the audit log. One transaction: the row is held, and
 * what is read after that stays true until it is written. It is the only row that is held, so nobody
 * who works through many of them can be in its way for good.
 */
import type { Act, ActAnswer, Deed, Note } from '../acts.ts';
import {
  isNoted,
  judge,
  type Logged,
  refuseLongNote,
  refuseUnbounded,
  type Verdict,
} from '../audit.ts';
import type { Patch, Subject } from '../decision.ts';
import { StoreBusyError, StoreRefusedError } from '../errors.ts';
import * as statements from './audit-log.sql.ts';
import { holdBulkAt } from './bulk-operation.sql.ts';
import type { Hinter } from './hinter.ts';
import type { Pool, Row, Send } from './pool.ts';
import { auditRowOf, taskRowOf } from './rows.ts';
import type { PostgresTurns } from './turns.ts';

export class PostgresActor {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #turns: PostgresTurns;

  constructor(pool: Pool, hinter: Hinter, turns: PostgresTurns) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#turns = turns;
  }

  async act(act: Act): Promise<ActAnswer> {
    refuseUnbounded(act);
    const { answer, write, row } = await this.#pool.transaction((send) => perform(send, act));
    if (write && 'after' in answer) this.#hint(act.deed, answer.after.status);
    if (write) await this.#turns.passOn([row]);
    return answer;
  }

  note(given: Note): Promise<boolean> {
    return note((text, values) => this.#pool.query(text, values), given);
  }

  #hint(deed: Deed, status: string): void {
    if (deed.what === 'cancel' && status === 'cancelled') this.#hinter.hint('ended');
    else if (status === 'pending' || status === 'waiting' || deed.what === 'fork')
      this.#hinter.hint('ready');
  }
}

/** Whether it was there already. */
export async function note(send: Send, given: Note): Promise<boolean> {
  const { requestId, who, what, task, detail } = refuseLongNote(given);
  const values = [requestId, who, what, task ?? null, JSON.stringify(detail)];
  if ((await send(statements.insertLogged, values)).length > 0) return false;
  const [row] = await send(statements.selectLogged, [requestId]);
  return isNoted(given, row && auditRowOf(row));
}

async function perform(send: Send, act: Act): Promise<Verdict & { readonly row: Row }> {
  const { task, requestId, who, deed } = act;
  const isFenced = await isFencedBy(send, act);
  await send(statements.lockTask, [task]);
  const [row = {}] = await send(statements.selectSubject, [task, requestId]);
  const verdict = judge(act, {
    logged: loggedOf(row),
    task: row['task_id'] === null ? undefined : subjectOf(row),
    now: row['now'] as number,
    isFenced,
  });
  if (!verdict.write) return { ...verdict, row };
  const { change, detail } = verdict.write;
  const logged = await send(statements.insertLogged, [requestId, who, deed.what, task, detail]);
  // Somebody has just used it for another task: begun again, this will be told so.
  if (logged.length === 0) throw new StoreBusyError(`the request id ${requestId} is in use`);
  if (deed.what === 'fork') await fork(send, task, deed, change.forkDeadlineMs);
  if (change.keepsOutcome) await send(statements.keepOutcome, [task]);
  await apply(send, task, change.patch);
  return { ...verdict, row };
}

/** Whoever takes the operation over, or stops it, waits for this transaction. */
async function isFencedBy(send: Send, { bulk, isDryRun }: Act): Promise<boolean> {
  if (!bulk || isDryRun) return false;
  return (await send(holdBulkAt, [bulk.id, bulk.epoch])).length === 0;
}

function loggedOf(row: Row): Logged | undefined {
  const [what, task, detail] = [row['logged_what'], row['logged_task'], row['logged_detail']];
  if (what === null) return undefined;
  const maybe = (text: unknown) => (text ?? undefined) as string | undefined;
  return { what: what as string, task: maybe(task), detail: maybe(detail) };
}

function subjectOf(row: Row): Subject {
  return {
    ...taskRowOf(row),
    keyMs: row['key_ms'] as number,
    keyGeneration: row['key_generation'] as number,
    isSerial: row['is_serial'] as boolean,
    hasToldItsEnd: row['has_told_its_end'] as boolean,
    hasRecords: row['has_records'] as boolean,
    begunAt: row['begun_at'] as number,
    putOffMs: row['put_off_ms'] as number,
  };
}

async function apply(send: Send, task: string, patch: Patch): Promise<void> {
  const columns = Object.keys(patch) as statements.ChangedColumn[];
  if (columns.length === 0) return;
  const values = columns.map((name) => patch[name] ?? null);
  await send(statements.updateTask(columns), [task, ...values]);
}

async function fork(
  send: Send,
  task: string,
  deed: Extract<Deed, { readonly what: 'fork' }>,
  deadlineMs: number | undefined,
): Promise<void> {
  const { as, payload, records, lastSeq, lastHash = null, state } = deed;
  const values = [task, as, payload, deadlineMs ?? null, lastSeq, lastHash];
  const made = await send(statements.insertFork, values);
  if (made.length === 0) throw new StoreRefusedError(`there is a task ${as} already`);
  if (records === undefined || lastHash === null) return;
  await send(statements.insertBeginning, [as, lastSeq, lastHash, state, records]);
}
