/**
 * Whoever wants the tasks of a story: enqueues them with their keys, waits for their ends, cancels one,
 * mends what another has failed by and drives it anew.
 * One that was killed is followed by another, which knows the keys and nothing else.
 */
import { Results } from '../../src/fleet/results.ts';
import { Tasks } from '../../src/fleet/tasks.ts';
import { pause, type RunId, runIdMint } from '../../src/ground/index.ts';
import type { Ending } from '../../src/machine/index.ts';
import type { Store } from '../../src/store/store.ts';
import { redriveTask } from '../../test/store/acts.ts';
import type { Auditor } from '../simulate/auditor.ts';
import type { Wanted } from '../simulate/client.ts';
import { Link, storeFor } from '../simulate/network.ts';
import { Process } from '../simulate/process.ts';
import { MENDED, type Outside, planNamed } from '../simulate/shapes.ts';
import type { World } from '../simulate/world.ts';
import type { TaskPlan } from './stories.ts';

const KEY_MS = 7 * 86_400_000;
const RETRY_MS = 300;

export interface WantingPorts {
  readonly world: World;
  readonly auditor: Auditor;
  readonly outside: Outside;
  readonly weather: Link;
}

export function wantedOf({ machine, n }: TaskPlan): Wanted {
  return { machine, n, id: undefined, ending: undefined, cancelled: 'no' };
}

export class Wanting {
  readonly process: Process;
  readonly #ports: WantingPorts;
  readonly #store: Store;
  readonly #tasks: Tasks;
  readonly #mint: () => RunId;
  #left = 0;
  #requests = 0;

  constructor(ports: WantingPorts) {
    const { world, weather: store } = ports;
    this.#ports = ports;
    this.process = new Process(world.schedule, 'client', world.seedOf());
    const { clock, random } = this.process;
    this.#store = storeFor({ ...ports, process: this.process, link: new Link(), store });
    this.#mint = runIdMint(clock, random);
    const shared = this.#store;
    this.#tasks = new Tasks({
      store: shared,
      clock,
      results: new Results({ store: shared, clock, random }),
      mint: () => this.#minted(),
      payloadBytesMax: 65_536,
      mintRequest: () => `client-${++this.#requests}`,
      who: 'client',
      via: 'test',
      onEnqueued: () => undefined,
    });
  }

  #isThere = false;

  /** What is to be found by `check` is there before anybody can know of the task. */
  #minted(): RunId {
    const run = this.#mint();
    if (!this.#isThere) return run;
    const value = this.#thereValue;
    const found = { run, step: 'full', value, by: 'before', epoch: 0 };
    this.#ports.outside.published.set(`there before ${run}`, [found]);
    return run;
  }

  #thereValue = 0;

  get isContent(): boolean {
    return this.#left === 0;
  }

  begin(plans: readonly TaskPlan[], wanted: readonly Wanted[]): void {
    const { world } = this.#ports;
    this.#left = plans.length;
    world.schedule.at(world.nowMs, () => void this.#want(plans, wanted), this.process);
  }

  async #want(plans: readonly TaskPlan[], wanted: readonly Wanted[]): Promise<void> {
    for (const [index, plan] of plans.entries()) {
      const one = wanted[index]!;
      const before = one.id;
      this.#isThere = plan.isThere ?? false;
      this.#thereValue = plan.n + 1;
      const id = await this.#persist(() => this.#enqueue(plan, `key-${index}`));
      if (before !== undefined && before !== id) {
        this.#ports.world.violate('I6', `one key has given ${before} and then ${id}`);
      }
      one.id = id;
      this.#follow(one, id);
      if (plan.cancelMs !== undefined) void this.#cancel(one, id, plan.cancelMs);
    }
  }

  #enqueue({ machine, n, pace, afterMs }: TaskPlan, key: string): Promise<RunId> {
    const due = afterMs === undefined ? undefined : { afterMs };
    return this.#tasks.enqueue(planNamed(machine), { n, pace }, { key, keyMs: KEY_MS, due });
  }

  #follow(wanted: Wanted, id: RunId): void {
    this.#end(id).then(
      (ending) => {
        wanted.ending = ending;
        this.#left -= 1;
      },
      (error: unknown) => this.#ports.world.violate('I1', `${id}: ${String(error)}`),
    );
  }

  /** One that can be mended has not ended when it fails. */
  async #end(id: RunId): Promise<Ending> {
    for (;;) {
      const ending = await this.#tasks.ending(id, undefined);
      const { machine, status, generation } = await this.#persist(() => this.#tasks.find(id));
      if (machine !== MENDED.name) return ending;
      if (status === 'completed') {
        const { world } = this.#ports;
        if (generation !== 2) world.violate('I30', `${id} is of generation ${generation}`);
        return ending;
      }
      if (status === 'failed') await this.#redrive(id, generation);
    }
  }

  /** Pressed twice, and again where no answer comes: there is one new generation. */
  async #redrive(id: RunId, generation: number): Promise<void> {
    const { outside, world } = this.#ports;
    outside.mended?.add(id);
    const press = () => redriveTask(this.#store, id, { generation }, { isFresh: false });
    const answers = await Promise.all([this.#persist(press), this.#persist(press)]);
    const made = answers.filter((answer) => answer !== undefined).length;
    world.say('client', `redrives ${id.slice(-6)} of generation ${generation}: ${made}`);
    if (made > 1) world.violate('I30', `${id} was redriven ${made} times at once`);
  }

  async #cancel(wanted: Wanted, id: RunId, afterMs: number): Promise<void> {
    await pause(this.process.clock, afterMs);
    if (wanted.cancelled === 'no') wanted.cancelled = 'asked';
    const answer = await this.#persist(() => this.#tasks.cancel(id, 'it is not wanted any more'));
    this.#ports.world.say('client', `cancels ${id.slice(-6)}: ${answer}`);
    if (answer === 'done') wanted.cancelled = 'done';
  }

  /** What may be tried again is tried again. */
  async #persist<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if ((error as { verdict?: string }).verdict !== 'retry') throw error;
        await pause(this.process.clock, RETRY_MS);
      }
    }
  }
}
