/** Tasks on their way in: enqueued, claimed, and found again by those who hold them. */
import type { Clock, RunId } from '../../ground/index.ts';
import type { StartNote } from '../acts.ts';
import { boundedSpan, PAYLOAD_BYTES_MAX } from '../bounds.ts';
import type { CallerTx } from '../caller-tx.ts';
import { StoreBusyError } from '../errors.ts';
import { refuseNotRunnable } from '../runnable.ts';
import type { CheckAnswers, MirrorAnswer } from '../store.ts';
import type { ClaimedTask, ClaimRequest, EnqueueAnswer, MirroredRun, NewTask } from '../tasks.ts';
import { type PodId, routeOf, type TaskStatus } from '../words.ts';
import { note } from './act.ts';
import { batchesOf, columnsOf } from './batches.ts';
import { CallerTxs, type Way } from './caller-tx.ts';
import { behindOf, claimSingly } from './careful-claim.ts';
import { ClaimEdge } from './claim-edge.ts';
import { isBadRow } from './driver-errors.ts';
import { type Hinter, notifyOnCommit } from './hinter.ts';
import type { PostgresLimits } from './limits.ts';
import { inOrder, keyOf, putNew, TASK_COLUMNS } from './new-tasks.ts';
import type { Pool, Row } from './pool.ts';
import { claimedTaskOf, claimOf } from './rows.ts';
import * as statements from './step-tracker.sql.ts';
import * as taking from './step-tracker-claim.sql.ts';
import { mendHeld } from './step-tracker-mend.sql.ts';
import type { PostgresTurns } from './turns.ts';

const ENQUEUE_BATCH_MAX = 1_000;
const MIRROR_BATCH_MAX = 500;
const CLAIM_COUNT_MAX = 1_000;
const HELD_COUNT_MAX = 10_000;
/** In `cas`, out of so many times what is wanted each pod picks its own. */
const OVER_FETCH = 4;
/** How often a key may be freed by somebody between our looking for it and our taking it. */
const KEY_ATTEMPTS = 5;

export class PostgresIntake {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #turns: PostgresTurns;
  readonly #limits: PostgresLimits;
  readonly #callers: CallerTxs;
  readonly #clock: Clock;
  readonly #edge = new ClaimEdge();

  constructor(
    pool: Pool,
    hinter: Hinter,
    turns: PostgresTurns,
    limits: PostgresLimits,
    clock: Clock,
  ) {
    this.#pool = pool;
    this.#clock = clock;
    this.#hinter = hinter;
    this.#turns = turns;
    this.#limits = limits;
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

  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const claimed = await this.#claim(request);
    if (request.head !== 'ready' || request.isReserve) return claimed;
    if (claimed.length === 0) return (await this.#turns.look()) ? this.#claim(request) : claimed;
    // What is claimed does not wait for the turns of other tasks.
    const wasFull = claimed.length >= Math.min(request.countMax, CLAIM_COUNT_MAX);
    if (this.#turns.isLate({ wasFull })) this.#turns.lookLater();
    return claimed;
  }

  async #claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const { pod, routes, journal, token, head, timeline } = request;
    const { payloadBytesMax = PAYLOAD_BYTES_MAX } = request;
    const count = Math.min(request.countMax, CLAIM_COUNT_MAX);
    if (count <= 0 || routes.length === 0) return [];
    const { claimMode } = this.#pool.way;
    const isWhole = head !== 'ready' || this.#edge.isWhole(this.#clock.monotonicMs());
    const dueFrom = isWhole ? [] : this.#edge.dueFromOf(routes);
    const valuesOf = (fetchMax: number, max: number, from: readonly number[]) => {
      const behind = behindOf(request);
      const rest = [token, payloadBytesMax, timeline ?? null, max];
      return [pod, routes, journal, fetchMax, behind, from, ...rest];
    };
    const unlimited = async (max: number) => {
      const values = valuesOf(claimMode === 'cas' ? max * OVER_FETCH : max, max, dueFrom);
      try {
        if (head !== 'ready')
          return await this.#pool.query(taking.claimTasks[claimMode][head], values);
        return await this.#claimReady(isWhole, values, routes);
      } catch (error) {
        if (!isBadRow(error)) throw error;
        return claimSingly(this.#pool, request, max, payloadBytesMax);
      }
    };
    const rows = await this.#limits.claim(
      request,
      count,
      (max) => valuesOf(max, max, []),
      unlimited,
    );
    return rows.map(claimedTaskOf);
  }

  async #claimReady(
    isWhole: boolean,
    values: readonly unknown[],
    routes: readonly string[],
  ): Promise<Row[]> {
    const { claimMode } = this.#pool.way;
    const fromMs = this.#clock.monotonicMs();
    const rows = isWhole
      ? await this.#pool.query(taking.claimTasks[claimMode].ready, values)
      : await this.#pool.query(taking.claimKnown[claimMode], [
          ...values,
          ...this.#edge.knownOf(routes),
        ]);
    const nowMs = this.#clock.monotonicMs();
    this.#edge.looked(isWhole, rows, { nowMs, tookMs: nowMs - fromMs });
    return rows;
  }

  async held(
    pod: PodId,
    after: string,
    countMax: number,
    payloadBytesMax = PAYLOAD_BYTES_MAX,
  ): Promise<ClaimedTask[]> {
    const values = [pod, after, Math.min(countMax, HELD_COUNT_MAX), payloadBytesMax];
    const found = await this.#pool.query(taking.selectHeld, values);
    if (found.every((row) => Number.isSafeInteger(row['claim_epoch']))) {
      return found.map(claimedTaskOf);
    }
    // An epoch that was rounded on its way here fences nothing: its claim could never be settled.
    await this.#pool.query(mendHeld, [pod]);
    return (await this.#pool.query(taking.selectHeld, values)).map(claimedTaskOf);
  }

  async hasSuspects(routes: readonly string[]): Promise<boolean> {
    if (routes.length === 0) return false;
    const [row] = await this.#pool.query(taking.selectHasSuspects, [routes]);
    return row?.['has_suspects'] === true;
  }

  async mirror(pod: PodId, runs: readonly MirroredRun[]): Promise<MirrorAnswer[]> {
    const claims = new Map<string, Row>();
    for (const batch of batchesOf(runs, MIRROR_BATCH_MAX, ({ id }) => id)) {
      const columns = columnsOf<MirroredRun>(batch, [
        (run) => run.id,
        (run) => run.machine,
        (run) => run.version,
        (run) => run.payload,
        (run) => run.journal,
        ({ deadlineMs }) => deadlineMs && boundedSpan(deadlineMs),
        (run) => boundedSpan(run.startedAgoMs),
      ]);
      const held = await this.#pool.query(taking.mirrorRuns, [pod, ...columns]);
      for (const row of held) claims.set(row['task_id'] as string, row);
      const rest = batch.filter(({ id }) => !claims.has(id));
      if (rest.length === 0) continue;
      const asked = columnsOf(rest, [(run) => run.id, (run) => run.journal]);
      const found = await this.#pool.query(taking.selectMirrored, [pod, ...asked]);
      for (const row of found) claims.set(row['task_id'] as string, row);
    }
    return runs.map(({ id }) => mirrorAnswer(id, claims.get(id)));
  }
}

function mirrorAnswer(task: RunId, row: Row | undefined): MirrorAnswer {
  return row ? { ...claimOf(row), kind: 'held' } : { task, kind: 'foreign' };
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
