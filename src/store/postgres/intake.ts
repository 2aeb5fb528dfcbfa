/** Tasks on their way in. */
import type { RunId } from '../../ground/index.ts';
import type { StartNote } from '../acts.ts';
import type { CallerTx } from '../caller-tx.ts';
import { StoreBusyError } from '../errors.ts';
import { refuseNotRunnable } from '../runnable.ts';
import type { CheckAnswers } from '../store.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { routeOf, type TaskStatus } from '../words.ts';
import { note } from './act.ts';
import { columnsOf } from './batches.ts';
import { CallerTxs, type Way } from './caller-tx.ts';
import { type Hinter, notifyOnCommit } from './hinter.ts';
import { inOrder, keyOf, putNew, TASK_COLUMNS } from './new-tasks.ts';
import type { Pool, Row } from './pool.ts';
import * as statements from './step-tracker.sql.ts';
import type { PostgresTurns } from './turns.ts';

const ENQUEUE_BATCH_MAX = 1_000;
/** How often a key may be freed by somebody between our looking for it and our taking it. */
const KEY_ATTEMPTS = 5;

export class PostgresIntake {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #turns: PostgresTurns;
  readonly #callers: CallerTxs;

  constructor(pool: Pool, hinter: Hinter, turns: PostgresTurns) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#turns = turns;
    this.#callers = new CallerTxs(pool);
  }

  async enqueue(
    tasks: readonly NewTask[],
    check: CheckAnswers = () => undefined,
    started?: StartNote,
    tx?: CallerTx,
  ): Promise<EnqueueAnswer[]> {
    if (tasks.length === 0) return [];
    refuseNotRunnable(tasks);
    if (tx) return this.#enqueueIn(tx, tasks, check);
    const isFew = started === undefined && tasks.length <= ENQUEUE_BATCH_MAX;
    const answers =
      (isFew ? await putNew(this.#pool, tasks) : undefined) ??
      (await this.#putCarefully(tasks, check, started));
    const ready = readyOf(tasks, answers);
    if (ready.count > 0) this.#hinter.hint('ready', ready);
    await this.#turns.giveOn(
      tasks.map(({ queue, serialKey }) => ({ queue, serial_key: serialKey })),
    );
    const followed = tasks.flatMap(({ follows }) => (follows ? [{ task_id: follows.run }] : []));
    // They may have ended before this was committed.
    if (followed.length > 0) await this.#turns.passOn(followed);
    return answers;
  }

  #putCarefully(
    tasks: readonly NewTask[],
    check: CheckAnswers,
    started: StartNote | undefined,
  ): Promise<EnqueueAnswer[]> {
    return this.#pool.transaction(async (send) => {
      const answers = await this.#insertAll({ send, columnsOf }, tasks);
      check(answers);
      if (started) await note(send, { ...started, task: answers[0]!.id });
      return answers;
    });
  }

  /** The hint goes out with the caller's commit. */
  #enqueueIn(
    tx: CallerTx,
    tasks: readonly NewTask[],
    check: CheckAnswers,
  ): Promise<EnqueueAnswer[]> {
    return this.#callers.within(tx, async (way) => {
      const answers = await this.#insertAll(way, tasks);
      check(answers);
      // What waits for its turn is given one by whoever looks next.
      const isSerial = tasks.some(({ serialKey }) => serialKey !== undefined);
      const ready = readyOf(tasks, answers);
      if (!isSerial && ready.count === 0) return answers;
      // Of such a one it is not known how many are ready then.
      await way.send(notifyOnCommit, [[this.#hinter.wordsOnCommit(isSerial ? {} : ready)]]);
      return answers;
    });
  }

  async #insertAll(way: Way, tasks: readonly NewTask[]): Promise<EnqueueAnswer[]> {
    const answers = new Map<NewTask, EnqueueAnswer>();
    const sorted = inOrder(tasks);
    for (let start = 0; start < sorted.length; start += ENQUEUE_BATCH_MAX) {
      await this.#insert(way, sorted.slice(start, start + ENQUEUE_BATCH_MAX), answers);
    }
    return tasks.map((task) => answers.get(task)!);
  }

  /** What is not inserted is there already; unless it has gone since, which is tried again. */
  async #insert(
    way: Way,
    batch: readonly NewTask[],
    answers: Map<NewTask, EnqueueAnswer>,
  ): Promise<void> {
    const { send, columnsOf } = way;
    let open = batch;
    for (let attempts = 0; open.length > 0; attempts += 1) {
      if (attempts >= KEY_ATTEMPTS) throw new StoreBusyError('keys come and go too fast');
      const keyed = open.filter(({ key }) => key !== undefined);
      const keys = columnsOf(keyed, [(task) => task.machine, (task) => task.key]);
      if (keyed.length > 0) await send(statements.freeKeys, keys);
      const inserted = await send(statements.enqueueTasks, columnsOf(open, TASK_COLUMNS));
      const statusOf = new Map(
        inserted.map((row) => [row['task_id'], row['status'] as TaskStatus]),
      );
      for (const task of open) {
        const status = statusOf.get(task.id);
        if (status === undefined || !statusOf.delete(task.id)) continue;
        answers.set(task, { id: task.id, isNew: true, status, payload: task.payload });
      }
      open = open.filter((task) => !answers.has(task));
      if (open.length === 0) return;
      await this.#findStanding(way, open, answers);
      open = open.filter((task) => !answers.has(task));
    }
  }

  async #findStanding(
    { send, columnsOf }: Way,
    tasks: readonly NewTask[],
    answers: Map<NewTask, EnqueueAnswer>,
  ): Promise<void> {
    const byId = new Map(
      (await send(statements.selectStandingById, [tasks.map(({ id }) => id)])).map(
        (row) => [row['task_id'], row] as const,
      ),
    );
    const keyed = tasks.filter(({ key }) => key !== undefined);
    const rows = keyed.length
      ? await send(
          statements.selectStandingByKey,
          columnsOf(keyed, [(task) => task.machine, (task) => task.key]),
        )
      : [];
    const byKey = new Map<string, Row>(
      rows.map((row) => [`${row['machine']}\n${row['key']}`, row] as const),
    );
    for (const task of tasks) {
      const standing = byId.get(task.id) ?? byKey.get(keyOf(task));
      if (standing) answers.set(task, standingAnswer(standing));
    }
  }
}

function standingAnswer(row: Row): EnqueueAnswer {
  return {
    id: row['task_id'] as RunId,
    isNew: false,
    status: row['status'] as TaskStatus,
    payload: (row['payload'] ?? 'null') as string,
  };
}

function readyOf(tasks: readonly NewTask[], answers: readonly EnqueueAnswer[]) {
  const ready = tasks.filter((_, at) => answers[at]!.isNew && answers[at]!.status === 'pending');
  return { count: ready.length, routes: [...new Set(ready.map(routeOf))] };
}
