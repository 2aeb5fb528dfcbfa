/**
 * I23: what the store had acknowledged to a pod that is still there is in the store again once all is
 * well, or that pod has said that it is not. It may be overtaken where another had the task first, and
 * lost where its task, or the beginning of its history, is gone.
 */

import type { SettleAnswer, Settlement } from '../../src/store/tasks.ts';
import { listen } from '../../src/telemetry/events.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

interface Acknowledged {
  readonly settlement: Settlement;
  readonly process: Process;
  readonly atMs: number;
}

/** A pod keeps what it was told for a minute; here nothing takes as long. */
export class RewindJudge {
  readonly #world: World;
  /** Of each task the last end that was acknowledged to anybody. */
  readonly #ends = new Map<string, Acknowledged>();
  /** Ends whose pods were alive when the store lost them. */
  readonly #owed = new Map<string, Acknowledged>();
  /** Tasks of which a pod has said that what it had been told is lost or overtaken. */
  readonly #told = new Set<string>();
  count = 0;
  readonly #losses = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** From now on it hears what pods say; until what it answers with is called. */
  listen(): () => void {
    return listen('store.rewound', ({ tasks, pod: _, ...counts }) => {
      for (const [what, count] of Object.entries(counts)) this.#world.count(what, count);
      if (counts.outcomesLost + counts.outcomesOvertaken === 0) return;
      for (const task of tasks) this.#told.add(task);
    });
  }

  /** A pod has heard what became of what it sent. */
  settled(process: Process, settlements: readonly Settlement[], answers: readonly SettleAnswer[]) {
    answers.forEach(({ kind, task }, index) => {
      const settlement = settlements[index]!;
      if ((kind !== 'stood' && kind !== 'done') || !('outcome' in settlement)) return;
      this.#ends.set(task, { settlement, process, atMs: this.#world.nowMs });
      this.#owed.delete(task);
    });
  }

  /** The store has lost something of these. */
  rewound(tasks: ReadonlySet<string>): void {
    this.count += 1;
    for (const task of tasks) {
      this.#world.rewound.add(task);
      this.#losses.set(task, this.lossesOf(task) + 1);
      const end = this.#ends.get(task);
      if (end && !end.process.isDead) this.#owed.set(task, end);
    }
  }

  /** How often the store has lost something of this task. */
  lossesOf(task: string): number {
    return this.#losses.get(task) ?? 0;
  }

  /** When all is over: of pods that are still there nothing is missing that was not told. */
  judge(): void {
    for (const [id, { settlement, process }] of this.#owed) {
      if (process.isDead) continue;
      this.#world.count('judged rewinds');
      const row = this.#world.tables.tasks.get(id);
      if (!row || !('outcome' in settlement)) {
        if (!this.#told.has(id)) this.#fault(process, id, 'is gone, and nobody was told');
        continue;
      }
      if (row.generation > settlement.generation) continue;
      const isThere = row.outcome === settlement.outcome && row.lastHash === settlement.lastHash;
      if (isThere || this.#told.has(id)) continue;
      const how = `ended as ${settlement.outcome} (e${settlement.epoch})`;
      const now = `${row.outcome} (e${row.claimEpoch})`;
      this.#fault(process, id, `${how}, is ${now}, and nobody was told`);
    }
  }

  #fault({ name }: Process, task: string, how: string): void {
    this.#world.violate('I23', `${task} of ${name} ${how}`);
  }
}
