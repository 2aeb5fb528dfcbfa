/**
 * People who change tasks while the storm goes on: pause, resume, retry and redrive them. Whoever gets
 * no answer sends the same request again. What was asked once is done once (I40), and nobody goes on
 * with what is paused; in the end everything is resumed, and has to end like the rest.
 */
import { pause } from '../../src/ground/index.ts';
import { type Act, type ActAnswer, type Deed, revisionOf } from '../../src/store/acts.ts';
import { hasToldItsEnd } from '../../src/store/memory/archive.ts';
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { Store } from '../../src/store/store.ts';
import type { TaskRow } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Auditor } from './auditor.ts';
import { Link, storeFor } from './network.ts';
import { Process } from './process.ts';
import type { World } from './world.ts';

const EVERY_MS = 400;
const PAGE_COUNT = 50;
const SEND_COUNT_MAX = 6;
const LOOK_MS = 50;
/** Two heartbeats: whoever is silent for so long may be dead. */
const SILENT_MS_MIN = 1_000;
const ORPHAN_COUNT_MAX = 3;
/** Runs with less time than this are judged by their deadlines, and left alone. */
const TIME_MS_MIN = 3_600_000;

export class People {
  readonly #world: World;
  readonly #process: Process;
  readonly #store: Store;
  #count = 0;
  /** Acts that are on their way. */
  #sending = 0;
  #isHealed = false;
  /** Who has what is to pause, when it was looked at last, and how much had been asked by then. */
  #asked: { readonly of: ReadonlyMap<string, string>; readonly acts: number } = {
    of: new Map(),
    acts: 0,
  };

  constructor(world: World, auditor: Auditor, weather: Link, stormMs: number) {
    this.#world = world;
    this.#process = new Process(world.schedule, 'people', world.seedOf());
    const link = new Link();
    this.#store = storeFor({ world, auditor, process: this.#process, link, store: weather });
    for (let atMs = EVERY_MS; atMs < stormMs; atMs += EVERY_MS) {
      this.#at(atMs, () => this.#any());
      this.#at(atMs, () => this.#orphans());
    }
    for (let atMs = LOOK_MS; atMs < stormMs; atMs += LOOK_MS) {
      world.schedule.at(atMs, () => this.look(), this.#process);
    }
  }

  /** From now on everything that is paused is resumed, until nothing is. */
  heal(): void {
    this.#isHealed = true;
    this.#at(this.#world.schedule.nowMs, () => this.#resumeAll());
  }

  /** I40: nobody has what is paused in hand, nor comes to it once that is asked for. */
  look(): void {
    const { tasks, audit } = this.#world.tables;
    const asked = new Map<string, string>();
    for (const task of tasks.values()) {
      if (task.control !== 'pause' || hasToldItsEnd(this.#world.tables, task)) continue;
      asked.set(task.taskId, task.claimedBy ?? '');
      const before = this.#asked.of.get(task.taskId) ?? task.claimedBy;
      if (before !== task.claimedBy && this.#asked.acts === audit.size) {
        const whose = `${task.claimedBy}, which took it from ${before}`;
        this.#world.violate('I40', `${task.taskId} is to pause, and is given to ${whose}`);
      }
    }
    this.#asked = { of: asked, acts: audit.size };
    for (const { taskId, status, paused } of this.#world.tables.tasks.values()) {
      if (paused && status === 'claimed') {
        this.#world.violate('I40', `${taskId} is paused, and somebody goes on with it`);
      }
    }
  }

  async #any(): Promise<void> {
    if (this.#isHealed) return;
    const { random } = this.#process;
    const what = (['pause', 'pause', 'resume', 'retry', 'redrive'] as const)[below(random, 5)]!;
    const status = what === 'redrive' ? 'failed' : STATUSES[below(random, STATUSES.length)];
    const rows = await this.#store.list({ status, countMax: PAGE_COUNT });
    const row = rows[below(random, rows.length)];
    if (!row || isShort(row) || row.machine.startsWith('recovery/')) return;
    await this.#do(row, what === 'redrive' ? { what, isFresh: false } : { what });
  }

  /** Pauses of what nobody may be left to hear of: so pauses meet rescues, which are rare. */
  async #orphans(): Promise<void> {
    const { tables } = this.#world;
    const silentSince = tables.now() - SILENT_MS_MIN;
    const heardAt = (pod: PodId) => tables.pods.get(pod)?.lastHeartbeat ?? silentSince;
    const isOrphan = ({ claimedBy, control }: TaskRecord) =>
      claimedBy !== undefined && control === undefined && heardAt(claimedBy) < silentSince;
    const orphans = this.#isHealed ? [] : tables.tasksWhere(isOrphan);
    const rows = await this.#store.find(orphans.slice(0, ORPHAN_COUNT_MAX).map(idOf));
    for (const row of rows) {
      if (isShort(row) || row.machine.startsWith('recovery/')) continue;
      await this.#do(row, { what: 'pause' });
    }
  }

  async #resumeAll(): Promise<void> {
    const isHeld = ({ paused, control }: TaskRecord) => paused || control === 'pause';
    for (;;) {
      const held = this.#world.tables.tasksWhere((task) => isHeld(task) && !task.finishedAt);
      if (held.length === 0 && this.#sending === 0) return;
      for (const { taskId } of held) {
        const [row] = await this.#store.find([taskId]);
        if (row) await this.#do(row, { what: 'resume' });
      }
      await pause(this.#process.clock, EVERY_MS);
    }
  }

  /** Sent again and again until there is an answer: done once, and logged once. */
  async #do(row: TaskRow, deed: Deed): Promise<void> {
    // Whoever had looked before the storm was over would pause what nobody resumes any more.
    if (this.#isHealed && deed.what !== 'resume') return;
    this.#count += 1;
    const requestId = `people-${this.#count}`;
    const ifRevision = this.#isHealed ? undefined : revisionOf(row);
    const act = { requestId, who: 'people', via: 'simulation', task: row.id, deed, ifRevision };
    const answer = await this.#send(act);
    const logged = this.#world.tables.audit.has(requestId);
    if (answer && (answer.kind === 'refused') === logged) {
      const how = logged ? 'and is in the audit log' : 'and is not in the audit log';
      this.#world.violate('I40', `${requestId} was ${answer.kind}, ${how}`);
    }
    this.#judgeOnce(act, answer);
    if (!answer || answer.kind === 'refused') return;
    this.#world.count(`people ${deed.what}`);
    this.#world.say('people', `${deed.what} ${row.id.slice(-6)}: ${answer.kind}`);
  }

  async #send(act: Act): Promise<ActAnswer | undefined> {
    this.#sending += 1;
    try {
      return await this.#sendAgain(act);
    } finally {
      this.#sending -= 1;
    }
  }

  async #sendAgain(act: Act): Promise<ActAnswer | undefined> {
    for (let sent = 0; sent < SEND_COUNT_MAX; sent++) {
      try {
        return await this.#store.act(act);
      } catch {
        await pause(this.#process.clock, LOOK_MS);
      }
    }
    return undefined;
  }

  /** I40: what was done is done; under the same id nothing more comes of it. */
  #judgeOnce(act: Act, answer: ActAnswer | undefined): void {
    if (answer?.kind !== 'done' || act.deed.what !== 'redrive') return;
    const before = Number(answer.before.revision.split('.')[0]);
    const after = Number(answer.after.revision.split('.')[0]);
    const { generation = 0 } = this.#world.tables.tasks.get(act.task) ?? {};
    if (after !== before + 1 || generation < after) {
      this.#world.violate('I40', `${act.requestId} made generation ${after} of ${before}`);
    }
  }

  #at(atMs: number, act: () => Promise<void>): void {
    this.#world.schedule.at(atMs, () => void act().catch(() => undefined), this.#process);
  }
}

const STATUSES = ['pending', 'waiting', 'claimed'] as const;

const idOf = ({ taskId }: TaskRecord) => taskId;

function isShort({ deadlineAt, createdAt }: TaskRow): boolean {
  return deadlineAt !== undefined && deadlineAt - createdAt < TIME_MS_MIN;
}
