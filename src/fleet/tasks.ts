/** Tasks from the side of those who want something done: enqueue, wait, and what they change. */
import { isDeepStrictEqual } from 'node:util';
import { RUN_MS_MAX } from '../engine/index.ts';
import {
  type Clock,
  type ErrorInfo,
  encodeJson,
  identityCodec,
  type Json,
  type MintRunId,
  type RunId,
} from '../ground/index.ts';
import {
  type AbortKind,
  type Ending,
  type Outcome,
  type Plan,
  parseInput,
} from '../machine/index.ts';
import type {
  Act,
  ActAnswer,
  CallerTx,
  Deed,
  Due,
  EnqueueAnswer,
  Follows,
  NewTask,
  StartNote,
  Store,
  TaskRow,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { TaskKeyConflictError, TaskNotFoundError } from './errors.ts';
import { answerTo, BATCH_COUNT_MAX, Gatherer } from './gatherer.ts';
import { Recent } from './recent.ts';
import type { Results } from './results.ts';

export interface TaskOptions {
  readonly key?: string | undefined;
  /** How long the key stands for the task after it has ended. */
  readonly keyMs: number;
  readonly priority?: number | undefined;
  readonly due?: Due | undefined;
  readonly queue?: string | undefined;
  readonly serialKey?: string | undefined;
  readonly follows?: Follows | undefined;
  readonly retriesMax?: number | undefined;
  readonly traceParent?: string | undefined;
  /** A transaction of the caller's, in which it is enqueued. */
  readonly tx?: CallerTx | undefined;
}

export interface TasksPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly results: Results;
  readonly mint: MintRunId;
  readonly payloadBytesMax: number;
  /** Names each change that is asked for; never the same twice. */
  readonly mintRequest: () => string;
  /** Who changes tasks, and by what: told in the audit log. */
  readonly who: string;
  readonly via: string;
  /** Something was enqueued by this process. */
  readonly onEnqueued: () => void;
}

export class Tasks {
  readonly #ports: TasksPorts;
  readonly #recent = new Recent<undefined>();
  readonly #together: Gatherer<{ readonly task: NewTask }>;
  readonly #alone: Gatherer<Lone>;
  #stopped: Error | undefined;

  constructor(ports: TasksPorts) {
    this.#ports = ports;
    const { clock, store } = ports;
    this.#together = new Gatherer({
      clock,
      countMax: BATCH_COUNT_MAX,
      send: (given) => store.enqueue(given.map(({ task }) => task)),
    });
    this.#alone = new Gatherer({
      clock,
      countMax: 1,
      send: ([one]) => this.put(one!.plan, [one!.task], one!.note),
    });
  }

  /** Resolves when nobody waits for the store to have a task any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#together.idle(), this.#alone.idle()]);
  }

  /** What has not been sent by now will not be. */
  stop = (error: Error): void => {
    this.#stopped = error;
    this.#together.stop(error);
    this.#alone.stop(error);
  };

  /** Resolves when the store has committed it. The same key and input give the same task. */
  async enqueue(
    plan: Plan,
    input: unknown,
    options: TaskOptions,
    note?: StartNote,
  ): Promise<RunId> {
    const task = await this.read(plan, input, options);
    if (this.#stopped) throw this.#stopped;
    // In a transaction of the caller's the run may be as new as this: only the caller can see it.
    if (task.follows && !options.tx) await this.find(task.follows.run as RunId);
    if (options.tx) return (await this.put(plan, [task], note, options.tx))[0]!.id;
    if (isAlone(task, note)) return (await this.#alone.put({ plan, task, note })).id;
    const answer = await this.#together.put({ task });
    this.#stored(plan, [answer]);
    return answer.id;
  }

  /** All of them, which are of this machine, or none. */
  async put(
    plan: Plan,
    tasks: readonly NewTask[],
    note?: StartNote,
    tx?: CallerTx,
  ): Promise<readonly EnqueueAnswer[]> {
    // Before anything is committed: whoever hears of a conflict has enqueued nothing.
    const check = (found: readonly EnqueueAnswer[]) => {
      found.forEach((answer, index) => {
        const { key = '', payload } = tasks[index]!;
        if (answer.isNew || isSameJson(answer.payload, payload)) return;
        throw new TaskKeyConflictError({ machine: plan.name, key, task: answer.id, index });
      });
    };
    if (this.#stopped) throw this.#stopped;
    const found = await this.#ports.store.enqueue(tasks, check, note, tx);
    const answers = found.map((answer, index) => answerTo(tasks[index]!, answer));
    this.#stored(plan, answers, tx);
    return answers;
  }

  #stored(
    { name: machine, version }: Plan,
    answers: readonly EnqueueAnswer[],
    tx?: CallerTx,
  ): void {
    const count = answers.filter(({ isNew }) => isNew).length;
    if (count > 0) tell('task.enqueued', () => ({ machine, version, count }));
    if (!tx) this.#remember(answers);
    this.#ports.onEnqueued();
  }

  /** Which of them it was told to be there lately. */
  recent = (): readonly RunId[] => [...this.#recent.all().keys()];

  #remember(answers: readonly EnqueueAnswer[]): void {
    const { store, clock } = this.#ports;
    if (!store.restore) return;
    const nowMs = clock.monotonicMs();
    this.#recent.prune(nowMs);
    for (const { id } of answers) this.#recent.add(id, undefined, 0, nowMs);
  }

  /** A task as the store takes it; throws where the machine does not want its input. */
  async read(plan: Plan, input: unknown, options: TaskOptions): Promise<NewTask> {
    const { clock, mint, payloadBytesMax } = this.#ports;
    const what = `the input of ${plan.name}`;
    const payload = encodeJson(input, what, payloadBytesMax);
    await parseInput(clock, plan, JSON.parse(payload) as Json);
    return {
      id: mint(),
      machine: plan.name,
      version: plan.version,
      queue: options.queue ?? 'default',
      priority: options.priority ?? 0,
      due: options.due,
      payload,
      key: options.key,
      keyMs: options.keyMs,
      retriesMax: options.retriesMax,
      deadlineMs: plan.runTimeoutMs ?? RUN_MS_MAX,
      traceParent: options.traceParent,
      serialKey: options.serialKey,
      follows: options.follows,
    };
  }

  async find(id: RunId): Promise<TaskRow> {
    const [row] = await this.#ports.store.find([id]);
    if (!row) throw new TaskNotFoundError(id);
    return row;
  }

  async ending(id: RunId, until: AbortSignal | undefined): Promise<Ending> {
    return endingOf(await this.#ports.results.ended(id, until));
  }

  async cancel(id: RunId, reason: string): Promise<ChangeAnswer> {
    const answer = changed(await this.act(id, { what: 'cancel', reason }));
    this.#ports.results.hint();
    return answer;
  }

  async reschedule(id: RunId, due: Due): Promise<ChangeAnswer> {
    const answer = changed(await this.act(id, { what: 'reschedule', due }));
    this.#ports.onEnqueued();
    return answer;
  }

  async pause(id: RunId): Promise<ChangeAnswer> {
    return changed(await this.act(id, { what: 'pause' }));
  }

  async resume(id: RunId): Promise<ChangeAnswer> {
    const answer = changed(await this.act(id, { what: 'resume' }));
    this.#ports.onEnqueued();
    return answer;
  }

  /** Once, though the store may have to be asked more than once; with its row in the audit log. */
  async act(task: RunId, deed: Deed, options: ActOptions = {}): Promise<ActAnswer> {
    const { store, who, via } = this.#ports;
    const requestId = options.requestId ?? this.#ports.mintRequest();
    const answer = await store.act({ ...options, requestId, who, via, task, deed });
    if (answer.kind === 'refused' && answer.why === 'unknown') throw new TaskNotFoundError(task);
    if (answer.kind === 'done' && !answer.isDryRun && !answer.isRepeated) tellAct(task, deed, who);
    return answer;
  }
}

/** What may have to wait for others, or belongs to something else, goes by itself. */
function isAlone({ key, follows }: NewTask, note: StartNote | undefined): boolean {
  return key !== undefined || follows !== undefined || note !== undefined;
}

type Lone = Readonly<{ plan: Plan; task: NewTask; note: StartNote | undefined }>;

/** What a request may say besides. */
export type ActOptions = Partial<Pick<Act, 'requestId' | 'ifRevision' | 'isDryRun'>>;

/** `done`: it is as asked. `requested`: its owner will see to it. `tooLate`: it cannot be any more. */
export type ChangeAnswer = 'done' | 'requested' | 'tooLate';

function changed({ kind }: ActAnswer): ChangeAnswer {
  if (kind === 'refused') return 'tooLate';
  return kind === 'requested' ? 'requested' : 'done';
}

function tellAct(run: RunId, { what }: Deed, who: string): void {
  if (what === 'pause') tell('task.paused', () => ({ run, isAsked: false, who }));
  if (what === 'resume') tell('task.resumed', () => ({ run, who }));
}

/** A task's row as the end of a run. What only the store knows ends as what it comes closest to. */
export function endingOf(row: TaskRow): Ending {
  const error = row.error === undefined ? undefined : errorOf(row.error);
  const outcomes: Partial<Record<string, Outcome>> = { crashLoop: 'exhausted' };
  const fallback: Outcome = row.status === 'cancelled' ? 'cancelled' : 'aborted';
  const outcome = row.outcome === undefined ? fallback : (outcomes[row.outcome] ?? row.outcome);
  return {
    outcome: outcome as Outcome,
    state: row.status,
    output: row.result === undefined ? undefined : resultOf(row, row.result),
    reason: error?.message,
    kind: error?.kind,
    error,
  };
}

/** What could not be opened on its way here says by that why. */
function resultOf({ id, generation }: TaskRow, result: string): Json {
  return JSON.parse(
    identityCodec.decode(result, { run: id, what: `result ${generation}` }),
  ) as Json;
}

function errorOf(text: string): ErrorInfo & { readonly kind?: AbortKind } {
  try {
    const {
      name = 'Error',
      message = text,
      ...rest
    } = JSON.parse(text) as Partial<ErrorInfo & { readonly kind: AbortKind }>;
    return { name, message, ...rest };
  } catch {
    return { name: 'Error', message: text };
  }
}

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return isDeepStrictEqual(JSON.parse(a), JSON.parse(b));
  } catch {
    return false;
  }
}
