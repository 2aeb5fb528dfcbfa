/** The verdict over a whole run: the ledgers, the producer's book, the tables and the witness. */
import { type Machine, planOf } from '../../src/machine/index.ts';
import { readHistory } from './history.ts';
import { judgeEffects, type Reason } from './judge-effects.ts';
import { isEnded, wrongEnd, zombieWrites } from './judge-row.ts';
import type { Acknowledged } from './producer.ts';
import type { Effect, Shape } from './shapes.ts';
import type { TaskFile } from './witness.ts';

const EXAMPLES_MAX = 20;

/** A count, with some of what it counts in words. */
export class Tally {
  count = 0;
  readonly examples: string[] = [];

  add(...words: readonly string[]): void {
    this.count += words.length;
    this.examples.push(...words.slice(0, Math.max(0, EXAMPLES_MAX - this.examples.length)));
  }
}

export class Judge {
  readonly lost = new Tally();
  readonly doubled = new Tally();
  readonly zombieWrites = new Tally();
  readonly stuck = new Tally();
  readonly violations = new Tally();
  /** Killed three times by the faults, and ended for that, as documented. */
  readonly crashLoops = new Tally();
  readonly repeats: Record<Reason, number> = { unrecorded: 0, unarchived: 0, late: 0 };
  /** How many effects the ledgers hold. */
  readonly effectCount: number;
  readonly #machines: Readonly<Record<Shape, Machine<never>>>;
  readonly #deadAt: ReadonlyMap<string, number>;
  readonly #effects = new Map<string, Effect[]>();
  readonly #asked: Map<string, Acknowledged>;

  constructor(ports: {
    readonly machines: Readonly<Record<Shape, Machine<never>>>;
    readonly deadAt: ReadonlyMap<string, number>;
    readonly effects: readonly Effect[];
    readonly acknowledged: readonly Acknowledged[];
  }) {
    this.#machines = ports.machines;
    this.#deadAt = ports.deadAt;
    this.effectCount = ports.effects.length;
    this.#asked = new Map(ports.acknowledged.map((entry) => [entry.task, entry]));
    for (const effect of ports.effects) {
      const known = this.#effects.get(effect.task);
      if (known) known.push(effect);
      else this.#effects.set(effect.task, [effect]);
    }
  }

  /** One task that the store knows of. */
  see(file: TaskFile): void {
    const { task, machine, status, outcome, error } = file.row;
    if (!this.#asked.delete(task)) this.violations.add(`${task}: nobody has enqueued it`);
    const effects = this.#effects.get(task) ?? [];
    this.#effects.delete(task);
    if (!isEnded(status)) {
      const owner = file.changes.at(-1)?.owner ?? 'nobody';
      this.stuck.add(`${task}: it is ${status}, held by ${owner}`);
    }
    if (outcome === 'crashLoop') this.crashLoops.add(`${task}: ${error ?? ''}`);
    else if (isEnded(status) && status !== 'completed') {
      this.lost.add(`${task}: it is ${status}: ${error ?? ''}`);
    }
    try {
      this.#follow(file, this.#machines[machine as Shape], effects);
    } catch (thrown) {
      this.violations.add(`${task}: its history is broken: ${String(thrown)}`);
    }
  }

  #follow(file: TaskFile, machine: Machine<never>, effects: readonly Effect[]): void {
    const plan = planOf(machine)!;
    const history = readHistory(file, plan);
    this.zombieWrites.add(...zombieWrites(file, history, this.#deadAt));
    if (isEnded(file.row.status)) {
      const words = wrongEnd(file, history);
      if (words) this.violations.add(words);
    }
    if (!history) return;
    const { doubled, invented, repeats } = judgeEffects(file, history, plan, effects);
    this.doubled.add(...doubled);
    this.lost.add(...invented);
    for (const reason of repeats) this.repeats[reason] += 1;
  }

  /** All tasks of the store have been seen. */
  close(): void {
    for (const { task, shape } of this.#asked.values()) {
      this.lost.add(`${task}: ${shape} was acknowledged, and is not in the store`);
    }
    for (const task of this.#effects.keys()) {
      this.violations.add(`${task}: it was executed, and nobody knows it`);
    }
  }
}
