/** A process that simulates the seeds it is given, one after the other, and tells what came of each. */
import type { Traits } from './kept-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';

/** What its parent sends: one seed. It is answered by the seed's report. */
export interface Order {
  readonly seed: number;
  readonly isSmall: boolean;
  readonly traits: Traits;
  readonly mutant: string | undefined;
}

process.on('message', ({ seed, isSmall, traits, mutant }: Order) => {
  const planted = MUTANTS.find(({ name }) => name === mutant);
  simulate(seed, { traits, isSmall, mutant: planted }).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      // A simulation that cannot even be judged is a finding like any other.
      const violations = [`defect: ${(error as Error)?.stack ?? String(error)}`];
      const nothing = { trace: '', virtualMs: 0, tasks: 0, pods: 0, events: 0, cpuMs: 0 };
      process.send?.({ seed, isSmall, violations, counts: {}, ...nothing });
    },
  );
});
// A terminal tells the whole group: whoever asked for this seed waits for it, and ends this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
