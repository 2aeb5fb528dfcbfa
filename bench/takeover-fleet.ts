/**
 * Three pods on one database, to be killed one after the other. What their handlers do is heard from
 * the processes themselves; what is archived is asked of the store. Nothing is waited for without end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunId, runIdMint, systemClock, systemRandom } from '../src/ground/index.ts';
import type { NewTask } from '../src/store/index.ts';
import { BenchDatabase, type BenchPod, startBenchPod, wallMs } from './fleet-pods.ts';

/** What was measured says nothing: something that had to happen first has not. */
export class VoidError extends Error {}

export interface Call {
  readonly pod: string;
  readonly run: string;
  readonly place: string;
  readonly at: number;
}

export interface NamedPod extends BenchPod {
  readonly name: string;
}

interface Told extends Omit<Call, 'pod'> {
  readonly kind: string;
}

const POD_COUNT = 3;
const START_MS_MAX = 30_000;
const CLAIM_MS_MAX = 60_000;
const LOOK_MS = 10;
const HELD_AT = 'second.work';
const mint = runIdMint(systemClock, systemRandom);

export async function until(
  what: string,
  msMax: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const giveUpAt = wallMs() + msMax;
  while (!(await within(what, msMax, Promise.resolve(isSo())))) {
    if (wallMs() > giveUpAt) throw new VoidError(`not within ${msMax} ms: ${what}`);
    await sleep(LOOK_MS);
  }
}

export async function within<T>(what: string, msMax: number, awaited: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new VoidError(`not within ${msMax} ms: ${what}`)), msMax);
  });
  return Promise.race([awaited, late]).finally(() => clearTimeout(timer));
}

export class TakeoverFleet {
  readonly database: BenchDatabase;
  readonly calls: Call[] = [];
  readonly #options: object;
  readonly #pods = new Map<string, NamedPod>();
  #started = 0;

  private constructor(database: BenchDatabase, options: object) {
    this.database = database;
    this.#options = { ...options, store: database.url, slots: 256, tellsPhases: true };
  }

  static async start(options: object): Promise<TakeoverFleet> {
    const database = await within('a database', 2 * START_MS_MAX, BenchDatabase.start());
    return new TakeoverFleet(database, options);
  }

  async fill(): Promise<void> {
    while (this.#pods.size < POD_COUNT) await this.#startPod();
  }

  /** By age: the first of them leads. */
  async byAge(): Promise<NamedPod[]> {
    const rows = await within('the list of pods', START_MS_MAX, this.database.store.pods());
    return rows
      .filter(({ status }) => status === 'up')
      .sort((one, other) => one.bornAt - other.bornAt)
      .flatMap(({ name }) => this.#pods.get(name) ?? []);
  }

  /** Gives out tasks, one by one so that all pods get some, until this one holds so many. */
  async giveUntil(pod: NamedPod, countMin: number, givenMax: number): Promise<Set<string>> {
    const given: RunId[] = [];
    const held = () => this.#begunBy(pod.name, given);
    while (held().size < countMin && given.length < givenMax) {
      const task = newTask();
      given.push(task.id);
      await within('enqueue', START_MS_MAX, this.database.store.enqueue([task]));
      await sleep(5 + systemRandom.fraction() * 20);
    }
    await until(
      'every task is in its last phase, and the store has all before it',
      CLAIM_MS_MAX,
      () => this.#isArchived(given),
    );
    if (held().size < countMin) {
      throw new VoidError(`${pod.name} holds ${held().size} of ${given.length} tasks`);
    }
    return held();
  }

  /** SIGKILL, and the disk goes too. Answers when. */
  async kill(pod: NamedPod): Promise<number> {
    this.#pods.delete(pod.name);
    const at = wallMs();
    await within(`the end of ${pod.name}`, START_MS_MAX, pod.kill());
    return at;
  }

  /** When another pod was in the phase after the last archived one, of each of these runs. */
  async takenOver(
    runs: ReadonlySet<string>,
    { name: dead }: NamedPod,
    msMax: number,
  ): Promise<number[]> {
    const first = new Map<string, number>();
    await until('another pod goes on with each of the runs', msMax, () => {
      for (const { pod, run, place, at } of this.calls) {
        const isWanted = pod !== dead && place === HELD_AT && runs.has(run);
        if (isWanted && !first.has(run)) first.set(run, at);
      }
      return first.size === runs.size;
    });
    return [...first.values()];
  }

  /** What was held may end, and everything does. */
  async letGo(): Promise<void> {
    await until('every task has ended', CLAIM_MS_MAX, async () => {
      for (const { child } of this.#pods.values()) child.send('letGo');
      return (await this.database.openCount()) === 0;
    });
  }

  async checkRules(): Promise<void> {
    const looking = this.database.store.violations();
    const broken = await within('a look at the rules', START_MS_MAX, looking);
    if (broken.length > 0) throw new Error(`rules are broken: ${JSON.stringify(broken)}`);
  }

  async stop(): Promise<void> {
    for (const pod of [...this.#pods.values()]) await this.kill(pod);
    await within('the end of the database', START_MS_MAX, this.database.stop());
  }

  async #startPod(): Promise<void> {
    const name = `pod-${++this.#started}`;
    const starting = startBenchPod({ ...this.#options, podName: name });
    const pod = Object.assign(await within(`${name} is ready`, START_MS_MAX, starting), { name });
    this.#pods.set(name, pod);
    pod.child.on('message', ({ kind, run, place, at }: Told) => {
      if (kind === 'phase') this.calls.push({ pod: name, run, place, at });
    });
  }

  #begunBy(name: string, given: readonly RunId[]): Set<string> {
    const isGiven = new Set<string>(given);
    const begun = this.calls.filter(
      ({ pod, run, place }) => pod === name && place === HELD_AT && isGiven.has(run),
    );
    return new Set(begun.map(({ run }) => run));
  }

  async #isArchived(given: readonly RunId[]): Promise<boolean> {
    const begun = new Set(this.calls.flatMap(({ run, place }) => (place === HELD_AT ? [run] : [])));
    if (!given.every((run) => begun.has(run))) return false;
    const runs = given.map((task) => ({ task, generation: 1 }));
    const segments = await this.database.store.histories(runs);
    return segments.filter(({ state }) => state === HELD_AT).length === given.length;
  }
}

function newTask(): NewTask {
  const of = { machine: 'bench-held', version: 1, queue: 'default', priority: 0, due: undefined };
  const rest = { key: undefined, keyMs: 0, retriesMax: undefined, traceParent: undefined };
  return { ...of, ...rest, id: mint(), payload: '{"n":1}', deadlineMs: 3_600_000 };
}
