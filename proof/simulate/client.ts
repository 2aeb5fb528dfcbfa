/**
 * Whoever wants things done: enqueues tasks over a while, with keys where it will try again, waits for
 * their results, and changes its mind about some.
 */
import { Results } from '../../src/fleet/results.ts';
import { type TaskOptions, Tasks } from '../../src/fleet/tasks.ts';
import { pause, type RunId, runIdMint } from '../../src/ground/index.ts';
import type { Ending } from '../../src/machine/index.ts';
import type { Store } from '../../src/store/store.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { CancelCall } from '../history/evidence.ts';
import type { Auditor } from './auditor.ts';
import type { Traits } from './kept-seeds.ts';
import { LIMITED_NAMES } from './limited-shapes.ts';
import { LONELY_NAMES } from './lonely-shapes.ts';
import { Link, storeFor } from './network.ts';
import { Process } from './process.ts';
import { SHAPES } from './shapes.ts';
import { planFor, VERSIONED, versionsOf } from './versions.ts';
import { type Wishes, wishesFor } from './wishes.ts';
import type { World } from './world.ts';

const KEY_MS = 7 * 86_400_000;
const RETRY_MS = 300;
const AWAITED_EVERY = 4;
/** As many of them as of three other machines. */
const LONELY_OFTEN = [...LONELY_NAMES, ...LONELY_NAMES, ...LONELY_NAMES];

export interface Wanted {
  readonly machine: string;
  readonly n: number;
  /** Nobody waits for its result: it is looked at when all is over. */
  readonly isLeftAlone?: boolean;
  /** Acknowledged: from then on it must not be lost. */
  id: RunId | undefined;
  ending: Ending | undefined;
  /** `done`: the store said that it is cancelled. */
  cancelled: 'no' | 'asked' | 'done';
  /** What was answered to whoever wanted it cancelled. */
  answer?: CancelCall['answer'];
}

/** What else there is to be enqueued, and wished for. */
type MoreTasks = Partial<Traits>;

function namesOf({ hasDeploys, hasDeadlines, hasIslands }: MoreTasks): string[] {
  const versioned = hasDeploys ? VERSIONED : [];
  const lonely = hasIslands ? LONELY_OFTEN : [];
  return [...versioned, ...(hasDeadlines ? LIMITED_NAMES : []), ...lonely];
}

export class Client {
  readonly wanted: Wanted[] = [];
  readonly link = new Link();
  readonly #world: World;
  readonly #process: Process;
  readonly #store: Store;
  readonly #tasks: Tasks;
  readonly #machines: readonly string[];
  readonly #more: MoreTasks;
  #unacknowledged = 0;
  #requests = 0;
  #unheard = 0;

  constructor(world: World, auditor: Auditor, weather: Link, more: MoreTasks = {}) {
    this.#world = world;
    this.#more = more;
    this.#machines = [...SHAPES.map(({ name }) => name), ...namesOf(more)];
    const process = new Process(world.schedule, 'client', world.seedOf());
    this.#process = process;
    const { clock, random } = process;
    this.#store = storeFor({ world, auditor, process, link: this.link, store: weather });
    const store = this.#store;
    this.#tasks = new Tasks({
      store,
      clock,
      results: new Results({ store, clock, random }),
      mint: runIdMint(clock, random),
      payloadBytesMax: 65_536,
      mintRequest: () => `client-${++this.#requests}`,
      who: 'client',
      via: 'simulation',
      onEnqueued: () => undefined,
    });
  }

  /** Everything that was to be enqueued has been, and every result has been heard. */
  get isContent(): boolean {
    return this.#unacknowledged === 0 && this.#unheard === 0;
  }

  /** So many tasks of mixed shapes, spread over this time. */
  begin(count: number, spreadMs: number): void {
    const world = this.#world;
    this.#unacknowledged = count;
    for (let n = 0; n < count; n++) {
      const isEarly = world.random.fraction() < 0.4;
      const atMs = world.nowMs + (isEarly ? 0 : world.within(0, spreadMs));
      const wanted = this.#choose(n);
      world.schedule.at(atMs, () => this.#want(wanted, n), this.#process);
    }
  }

  #choose(n: number): Wanted {
    const machine = this.#world.pick(this.#machines);
    const isLeftAlone = n % AWAITED_EVERY !== 0;
    const wanted: Wanted = {
      machine,
      n,
      isLeftAlone,
      id: undefined,
      ending: undefined,
      cancelled: 'no',
    };
    this.wanted.push(wanted);
    return wanted;
  }

  #want(wanted: Wanted, n: number): void {
    this.#enqueue(wanted, n)
      .catch((error: unknown) => this.#world.violate('client', String(error)))
      .finally(() => {
        this.#unacknowledged -= 1;
      });
  }

  async #enqueue(wanted: Wanted, n: number): Promise<void> {
    const { random, clock } = this.#process;
    const hasKey = below(random, 3) > 0;
    const isSlow = below(random, 12) === 0;
    const pace = isSlow ? 2_000 + below(random, 5_000) : 2 + below(random, 250);
    const options: TaskOptions = {
      key: hasKey ? `key-${n}` : undefined,
      keyMs: KEY_MS,
      priority: below(random, 3),
      due: below(random, 6) === 0 ? { afterMs: below(random, 4_000) } : undefined,
      ...this.#wishes(wanted.machine),
    };
    const plan = await this.#plan(wanted.machine);
    for (;;) {
      try {
        wanted.id = await this.#tasks.enqueue(plan, { n, pace }, options);
        break;
      } catch (error) {
        if ((error as { verdict?: string }).verdict !== 'retry') throw error;
        // Without a key nobody can tell whether it is there: then it is left at that.
        if (!hasKey) return;
        await pause(clock, RETRY_MS);
      }
    }
    this.#world.say('client', `has ${wanted.machine} ${n} as ${wanted.id.slice(-6)}`);
    const { id } = wanted;
    if (!wanted.isLeftAlone) this.#await(wanted, id);
    if (below(random, 12) === 0) await this.#cancel(wanted, id);
  }

  #wishes(machine: string): Wishes {
    const taskCount = this.wanted.length;
    const known = () => this.wanted.flatMap(({ id }) => id ?? []);
    return wishesFor(machine, this.#process.random, { ...this.#more, taskCount, known });
  }

  /** Of whichever version, whoever has it just now; but nobody asks for what there has never been. */
  async #plan(machine: string) {
    if (!VERSIONED.includes(machine)) return planFor(machine, 1);
    const { random, clock } = this.#process;
    const isKnown = () =>
      [...this.#world.tables.registry.values()].some((row) => row.machine === machine);
    while (!isKnown()) await pause(clock, RETRY_MS);
    const versions = versionsOf(machine);
    return planFor(machine, versions[below(random, versions.length)]!);
  }

  #await(wanted: Wanted, id: RunId): void {
    this.#unheard += 1;
    this.#tasks.ending(id, undefined).then(
      (ending) => {
        wanted.ending = ending;
        this.#unheard -= 1;
      },
      (error: unknown) => {
        this.#unheard -= 1;
        if (!this.#isLost(id)) this.#world.violate('I1', `${id}: ${String(error)}`);
      },
    );
  }

  /** A server that took over has never heard of it. */
  #isLost(id: RunId): boolean {
    return this.#world.rewound.has(id) && !this.#world.tables.tasks.has(id);
  }

  async #cancel(wanted: Wanted, id: RunId): Promise<void> {
    const { random, clock } = this.#process;
    await pause(clock, below(random, 6_000));
    wanted.cancelled = 'asked';
    for (;;) {
      try {
        const answer = await this.#tasks.cancel(id, 'it is not wanted any more');
        this.#world.say('client', `cancels ${id.slice(-6)}: ${answer}`);
        this.#world.count('cancels');
        wanted.answer = answer;
        if (answer === 'done') wanted.cancelled = 'done';
        return;
      } catch {
        if (this.#isLost(id)) return;
        await pause(clock, RETRY_MS);
      }
    }
  }
}
