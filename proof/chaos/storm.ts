/**
 * People in a hurry: several of them at once enqueue tasks and cancel, pause, resume, put off, hurry,
 * redrive and discard them while the fleet works and everything fails. Every call is written down with
 * its answer. In the end they resume whatever they had paused, and go home.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, type RunId, runIdMint, systemClock } from '../../src/ground/index.ts';
import {
  type Store,
  StoreBusyError,
  StoreUnreachableError,
  type TaskRow,
} from '../../src/index.ts';
import type { NewTask } from '../../src/store/tasks.ts';
import {
  cancelTask,
  discardTask,
  pauseTask,
  redriveTask,
  rescheduleTask,
  resumeTask,
  retryTask,
} from '../../test/store/acts.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Acknowledgement } from '../history/evidence.ts';
import { isHopeless, STORMED } from './aside-shapes.ts';

export type StormWhat =
  | 'cancel'
  | 'pause'
  | 'resume'
  | 'retry'
  | 'reschedule'
  | 'redrive'
  | 'discard'
  | 'deadLetters';

/** A task that the store has said it has. */
export interface StormTask {
  readonly task: RunId;
  readonly subject: string;
  /** When it was first sent. */
  readonly sentAt: number;
  /** How long each of its generations may take. */
  readonly deadlineMs?: number | undefined;
}

export interface StormCall {
  readonly task: string;
  readonly what: StormWhat;
  /** 'away' where none came: it may have been carried out or not. */
  readonly answer: 'done' | 'requested' | 'tooLate' | 'unknown' | 'no' | 'away' | number;
  /** Of a reschedule that was put off. */
  readonly afterMs?: number | undefined;
  readonly begunAt: number;
  readonly endedAt: number;
}

/** Calls for each task, so that they meet on it. */
const CALLS_A_TASK = 5;
const AGAIN_MS = 100;
const LATER_MS_MAX = 3_000;
/** Calls go to tasks of the last few; the older have ended. */
const RECENT = 12;
const KEY_MS = 24 * 3_600_000;
const LETTERS_MAX = 50;
/** One in so many has a deadline, and one so short that some keep it and some do not. */
const LIMITED_EVERY = 7;
const DEADLINE_MS = 3_000;

export class Storm {
  readonly #clients: readonly Store[];
  readonly #random: Random;
  readonly #mint;
  readonly calls: StormCall[] = [];
  readonly tasks: StormTask[] = [];
  #sent = 0;

  constructor(clients: readonly Store[], random: Random) {
    this.#clients = clients;
    this.#random = random;
    this.#mint = runIdMint(systemClock, random);
  }

  get acknowledged(): Acknowledgement[] {
    return this.tasks.map(({ task, subject }) => ({ task, subject, shape: machineOf(subject) }));
  }

  get answered(): number {
    return this.calls.filter(({ answer }) => answer !== 'away').length;
  }

  /** So many answered calls, spread evenly, from all clients at once. */
  async rage(count: number, seconds: number, isOver: () => boolean): Promise<void> {
    if (count === 0) return;
    const everyMs = (seconds * 1_000 * 0.92 * this.#clients.length) / count;
    await Promise.all(
      this.#clients.map(async (client, index) => {
        await sleep((everyMs * index) / this.#clients.length);
        while (this.answered < count && !isOver()) {
          const begunMs = performance.now();
          if (this.tasks.length * CALLS_A_TASK <= this.calls.length) await this.#enqueue(client);
          else await this.#call(client);
          await sleep(Math.max(0, begunMs + everyMs - performance.now()));
        }
      }),
    );
  }

  /** Nothing that was paused is left behind; to be called when the store can be reached. */
  async goHome(): Promise<void> {
    const client = this.#clients[0]!;
    const paused = new Set(this.calls.flatMap(({ what, task }) => (what === 'pause' ? task : [])));
    for (const task of paused) {
      const call = { task, what: 'resume' } as const;
      do await this.#note(call, () => resumeTask(client, task as RunId));
      while (this.calls.at(-1)?.answer === 'away');
    }
  }

  async #enqueue(client: Store): Promise<void> {
    const index = this.#sent;
    this.#sent += 1;
    const task = this.#task(index);
    const sentAt = Date.now();
    for (;;) {
      try {
        await client.enqueue([task]);
        this.tasks.push({
          task: task.id,
          subject: task.key!,
          sentAt,
          deadlineMs: task.deadlineMs,
        });
        return;
      } catch (error) {
        rethrowUnlessAway(error);
        await sleep(AGAIN_MS);
      }
    }
  }

  #task(index: number): NewTask {
    const subject = `a${index}`;
    return {
      id: this.#mint(),
      machine: machineOf(subject),
      version: 1,
      queue: 'default',
      priority: 1,
      due: index % 5 === 0 ? { afterMs: LATER_MS_MAX } : undefined,
      payload: JSON.stringify({ subject }),
      key: subject,
      keyMs: KEY_MS,
      retriesMax: undefined,
      deadlineMs: index % LIMITED_EVERY === 4 ? DEADLINE_MS : undefined,
      traceParent: undefined,
    };
  }

  async #call(client: Store): Promise<void> {
    const recent = this.tasks.slice(-RECENT);
    const { task } = recent[below(this.#random, recent.length)]!;
    const what = this.#what();
    if (what === 'redrive') return this.#redrive(client, task);
    const afterMs = what === 'reschedule' ? below(this.#random, LATER_MS_MAX) : undefined;
    await this.#note({ task, what, afterMs }, () => this.#ask(client, what, task, afterMs ?? 0));
  }

  async #note(
    call: Pick<StormCall, 'task' | 'what' | 'afterMs'>,
    ask: () => Promise<StormCall['answer']>,
  ): Promise<void> {
    const begunAt = Date.now();
    const answer = await ask().catch((error): StormCall['answer'] => {
      rethrowUnlessAway(error);
      return 'away';
    });
    this.calls.push({ ...call, answer, begunAt, endedAt: Date.now() });
    if (answer === 'away') await sleep(AGAIN_MS);
  }

  #what(): StormWhat {
    const place = below(this.#random, 100);
    if (place < 15) return 'cancel';
    if (place < 30) return 'pause';
    if (place < 45) return 'resume';
    if (place < 50) return 'retry';
    if (place < 65) return 'reschedule';
    if (place < 88) return 'redrive';
    return place < 95 ? 'discard' : 'deadLetters';
  }

  async #ask(
    client: Store,
    what: Exclude<StormWhat, 'redrive'>,
    task: RunId,
    afterMs: number,
  ): Promise<StormCall['answer']> {
    switch (what) {
      case 'cancel':
        return cancelTask(client, task, 'a storm');
      case 'pause':
        return pauseTask(client, task);
      case 'resume':
        return resumeTask(client, task);
      case 'retry':
        return retryTask(client, task);
      case 'reschedule':
        return rescheduleTask(client, task, { afterMs });
      case 'discard': {
        const [row] = await client.find([task]);
        return row && (await discardTask(client, task, row)) ? 'done' : 'no';
      }
      case 'deadLetters':
        return (await client.list({ isDeadLetter: true, countMax: LETTERS_MAX })).length;
    }
  }

  /** Pressed twice at once, as people do: one of them at most may get it. */
  async #redrive(client: Store, task: RunId): Promise<void> {
    const other = this.#clients[below(this.#random, this.#clients.length)]!;
    const isFresh = below(this.#random, 2) === 0;
    const call = { task, what: 'redrive' } as const;
    let seen: TaskRow | undefined;
    try {
      [seen] = await client.find([task]);
    } catch (error) {
      rethrowUnlessAway(error);
    }
    if (!seen) return;
    const row = seen;
    await Promise.all(
      [client, other].map((by) =>
        this.#note(call, async () => (await redriveTask(by, task, row, { isFresh })) ?? 'no'),
      ),
    );
  }
}

function machineOf(subject: string): string {
  return STORMED[isHopeless(subject) ? 0 : Number(subject.slice(1)) % STORMED.length]!;
}

function rethrowUnlessAway(error: unknown): void {
  const isAway = error instanceof StoreUnreachableError || error instanceof StoreBusyError;
  if (!isAway) throw error;
}
