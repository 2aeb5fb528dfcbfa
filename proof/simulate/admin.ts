/**
 * Somebody with a console: redrives and discards dead letters, puts tasks off, asks pods to drain, and
 * sweeps as an outsider may. Whatever is refused, or lost on its way, is left at that.
 */
import { outageOf } from '../../src/fleet/index.ts';
import { pause } from '../../src/ground/index.ts';
import type { Worklist } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { TaskRow } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { discardTask, redriveTask, rescheduleTask } from '../../test/store/acts.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Auditor } from './auditor.ts';
import { Link, storeFor } from './network.ts';
import { Process } from './process.ts';
import type { World } from './world.ts';

const PAGE_COUNT = 50;
const BATCH_COUNT = 500;
const SPREAD_MS = 1_000;
const LOOK_MS = 20;
const LOOK_COUNT_MAX = 150;

function isAnybodyDead({ dead, ownerless }: Worklist): boolean {
  return dead.length + ownerless.length > 0;
}

export class Admin {
  readonly #world: World;
  readonly #process: Process;
  readonly #store: Store;
  readonly #silentMs: number;

  constructor(world: World, auditor: Auditor, weather: Link, silentMs: number) {
    this.#world = world;
    this.#silentMs = silentMs;
    this.#process = new Process(world.schedule, 'admin', world.seedOf());
    const link = new Link();
    this.#store = storeFor({ world, auditor, process: this.#process, link, store: weather });
  }

  /** Two press the button at once: there is one new generation, not two. */
  redrive(): void {
    this.#act(async () => {
      const letter = this.#pick(await this.#deadLetters());
      if (!letter) return;
      const { id, generation, machine } = letter;
      // One that has acted on the outside would rightly do so again.
      const isFresh = machine === 'doomed' && below(this.#process.random, 2) === 0;
      const press = () => redriveTask(this.#store, id, { generation }, { isFresh });
      const answers = await Promise.all([press(), press()]);
      const made = answers.filter((answer) => answer !== undefined).length;
      if (made > 1) this.#world.violate('I30', `${id} was redriven ${made} times at once`);
      this.#done('redrives', `redrives ${id.slice(-6)}`, made);
    });
  }

  discard(): void {
    this.#act(async () => {
      const letter = this.#pick(await this.#deadLetters());
      if (!letter || !(await discardTask(this.#store, letter.id, letter))) return;
      this.#done('discards', `discards ${letter.id.slice(-6)}`);
    });
  }

  reschedule(): void {
    this.#act(async () => {
      const status = below(this.#process.random, 2) === 0 ? 'pending' : 'waiting';
      const task = this.#pick(await this.#store.list({ status, countMax: PAGE_COUNT }));
      if (!task) return;
      const afterMs = below(this.#process.random, 4_000);
      const answer = await rescheduleTask(this.#store, task.id, { afterMs });
      if (answer === 'done') this.#done('reschedules', `puts ${task.id.slice(-6)} off`);
    });
  }

  askToDrain(pod: string, name: string): void {
    this.#act(async () => {
      const isAsked = await this.#store.requestDrain(pod as PodId);
      if (isAsked) this.#done('drains asked for', `asks ${name} to drain`);
    });
  }

  /** What needs no judgement: pods that are fenced already, and claims whose owner is gone. */
  sweep(): void {
    this.#act(async () => {
      let found = await this.#store.worklist(this.#silentMs);
      // The fleet is quick about its dead: whoever wants to be in time has to look often.
      for (let look = 0; look < LOOK_COUNT_MAX && !isAnybodyDead(found); look++) {
        await pause(this.#process.clock, LOOK_MS);
        found = await this.#store.worklist(this.#silentMs);
      }
      const { isOutage } = outageOf(found, found.silent.length);
      const willing = new Set(found.dead.filter((p) => p.deadBy === p.pod).map(({ pod }) => pod));
      for (const pod of [...found.dead.map((glimpse) => glimpse.pod), ...found.ownerless]) {
        await this.#takeAll(pod, !willing.has(pod) && !isOutage);
        await this.#store.retire(pod);
        this.#done('sweeps by outsiders', `sweeps ${pod.slice(-6)}`);
      }
    });
  }

  async #takeAll(from: PodId, countsCrash: boolean): Promise<void> {
    const by = `command-${this.#process.random.hex(8)}` as PodId;
    const crashed = countsCrash ? 'all' : 'none';
    const taking = { from, by, to: 'pool', countMax: BATCH_COUNT, crashed } as const;
    while ((await this.#store.take({ ...taking, spreadMs: SPREAD_MS })).length > 0);
  }

  #deadLetters(): Promise<TaskRow[]> {
    return this.#store.list({ isDeadLetter: true, countMax: PAGE_COUNT });
  }

  #pick(rows: readonly TaskRow[]): TaskRow | undefined {
    return rows[below(this.#process.random, rows.length)];
  }

  #done(kind: string, what: string, count = 1): void {
    this.#world.count(kind, count);
    this.#world.say('admin', what);
  }

  #act(act: () => Promise<void>): void {
    const { schedule } = this.#world;
    schedule.at(schedule.nowMs, () => void act().catch(() => undefined), this.#process);
  }
}
