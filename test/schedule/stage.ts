/** Tables in memory at a time that the test says, and pods that look at the schedules in them. */
import { z } from 'zod';
import type { ScheduleDefinition } from '../../src/fleet/schedule/definition.ts';
import { Scheduler } from '../../src/fleet/schedule/scheduler.ts';
import { type Clock, runIdMint } from '../../src/ground/index.ts';
import { defineMachine, Registry } from '../../src/machine/index.ts';
import { MemoryStore, type Way } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import type { SchedulePlan } from '../../src/store/schedule/schedules.ts';
import type { Store } from '../../src/store/store.ts';
import { changeOf, schedulePlan } from '../store/conform-schedules.ts';
import { seededRandom } from '../support/seeded-random.ts';

export const report = defineMachine({
  name: 'report',
  version: 3,
  input: z.object({ n: z.number(), at: z.string().optional() }),
  check: 'none',
  work: () => ({ isDone: true }),
  validate: () => undefined,
  persist: ({ work }) => work.isDone,
});

export class Stage {
  ms: number;
  readonly clock: Clock;
  readonly tables: MemoryTables;
  readonly store: MemoryStore;
  readonly random = seededRandom(11);
  readonly mint;

  constructor(start: string) {
    this.ms = Date.parse(start);
    this.clock = {
      now: () => this.ms,
      monotonicMs: () => this.ms,
      // Nobody is woken: the test says who looks, and when.
      after: () => () => undefined,
      soon: (act) => act(),
    };
    this.tables = new MemoryTables({ clock: this.clock, random: this.random });
    this.store = new MemoryStore(this.tables);
    this.mint = runIdMint(this.clock, this.random);
  }

  set(name: string, options: Partial<SchedulePlan> = {}) {
    const plan = schedulePlan({ machine: 'report', ...options });
    return this.store.changeSchedule(changeOf(name, { what: 'set', plan }));
  }

  /** A pod that has just come up. */
  pod(
    way?: Way,
    definitions: readonly ScheduleDefinition[] = [],
    store: Store = way ? new MemoryStore(this.tables, { way }) : this.store,
  ): Scheduler {
    return new Scheduler({
      store,
      registry: new Registry([report]),
      clock: this.clock,
      mint: this.mint,
      definitions,
      who: 'test',
      keyMs: 3_600_000,
      onEnqueued: () => undefined,
    });
  }

  /** What was put in since it was last asked, by its keys, and with its input. */
  taken(): { readonly schedule: string; readonly tick: number; readonly input: unknown }[] {
    const found = [...this.tables.tasks.values()].map(({ key = '', payload = '' }) => {
      const [, schedule = '', tick = ''] = key.split('/');
      return { schedule, tick: Date.parse(tick), input: JSON.parse(payload) as unknown };
    });
    this.tables.tasks.clear();
    return found;
  }

  row(name: string) {
    return this.tables.schedules.get(name)!;
  }
}
