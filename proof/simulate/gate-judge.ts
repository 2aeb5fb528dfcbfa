/**
 * Limits and standstills: nothing is claimed of a queue that is full or paused, nor of a machine that is.
 * What people were told counts, and not what the tables say they were told; what was claimed before may
 * stay so. Adopters take nothing new into a queue.
 */
import type { FlowAnswer, FlowChange } from '../../src/store/queues.ts';
import type { World } from './world.ts';

export class GateJudge {
  readonly #world: World;
  readonly #done = new Set<string>();
  readonly #limits = new Map<string, number>();
  readonly #paused = new Set<string>();
  /** By queue: what is claimed of it. */
  readonly #claimed = new Map<string, Set<string>>();
  #isUsed = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** A change was carried out: once for each request, however often it is sent. */
  changed(change: FlowChange, { kind }: FlowAnswer): void {
    this.#isUsed = true;
    const isFirst = !this.#done.has(change.requestId);
    // One that found it so leaves no row: sent again later, it is carried out.
    if (kind === 'done') this.#done.add(change.requestId);
    if (kind === 'done' && isFirst) this.#note(change);
    this.#compare(change);
  }

  #note({ deed }: FlowChange): void {
    this.#world.count(deed.what);
    if (deed.what === 'queue.limit') {
      if (deed.limit === undefined) this.#limits.delete(deed.queue);
      else this.#limits.set(deed.queue, deed.limit);
      return;
    }
    const name = 'queue' in deed ? `queue ${deed.queue}` : `machine ${deed.machine}`;
    if (deed.what.endsWith('.pause')) this.#paused.add(name);
    else this.#paused.delete(name);
  }

  #compare({ requestId, deed }: FlowChange): void {
    const { queues, machines } = this.#world.tables.flow;
    if ('machine' in deed) {
      if (machines.has(deed.machine) === this.#paused.has(`machine ${deed.machine}`)) return;
    } else {
      const { limit, isPaused = false } = queues.get(deed.queue) ?? {};
      const isSame = isPaused === this.#paused.has(`queue ${deed.queue}`);
      if (isSame && limit === this.#limits.get(deed.queue)) return;
    }
    this.#world.violate('gate', `${deed.what} (${requestId}) is not as people were told`);
  }

  /** These may have changed by a call. */
  look(tasks: readonly string[], verb: string): void {
    if (!this.#isUsed) return;
    const added = tasks.filter((task) => this.#see(task));
    for (const id of added) this.#judge(id, verb);
  }

  /** Whether it has been claimed, by whoever, and was not before. */
  #see(id: string): boolean {
    const task = this.#world.tables.tasks.get(id);
    if (!task || task.pinnedTo !== undefined) return false;
    const claimed = this.#claimed.get(task.queue) ?? new Set();
    this.#claimed.set(task.queue, claimed);
    if (task.status !== 'claimed') {
      claimed.delete(id);
      return false;
    }
    if (claimed.has(id)) return false;
    claimed.add(id);
    return true;
  }

  #judge(id: string, verb: string): void {
    const { queue, machine } = this.#world.tables.tasks.get(id)!;
    const fault = (how: string) =>
      this.#world.violate('gate', `${id} was claimed, ${how} (${verb})`);
    this.#world.count('judged gates');
    if (this.#paused.has(`queue ${queue}`)) fault(`and queue ${queue} is paused`);
    if (this.#paused.has(`machine ${machine}`)) fault(`and machine ${machine} is paused`);
    const limit = this.#limits.get(queue);
    const count = this.#claimed.get(queue)!.size;
    if (limit === undefined) return;
    if (count === limit) this.#world.count('full queues');
    if (count > limit) fault(`as number ${count} of queue ${queue}, whose limit is ${limit}`);
  }
}
