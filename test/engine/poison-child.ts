/** Some runs that do their work, and some whose work kills the process they are in. */
import { createFleet, defineMachine } from '../../src/index.ts';
import { takes } from '../support/any-schema.ts';

const argument = JSON.parse(process.argv[2] ?? '{}') as {
  readonly dataDir: string;
  readonly poison: number;
  readonly innocents: number;
};

const machine = defineMachine({
  name: 'perhaps-poison',
  version: 1,
  input: takes<{ isPoison: boolean }>(),
  retry: { attemptMax: 3, backoff: () => 1 },
  check: 'none',
  work: ({ input }) => {
    if (input.isPoison) process.kill(process.pid, 'SIGKILL');
    return null;
  },
});

const fleet = await createFleet({ machines: [machine], dataDir: argument.dataDir, slots: 2 });
const runs = [];
for (let index = 0; index < argument.poison + argument.innocents; index++) {
  const isPoison = index < argument.poison;
  runs.push(fleet.startLocal(machine, { isPoison }, { key: `${index}` }));
}
const endings = await Promise.all(
  runs.map(async (starting) => {
    const run = await starting;
    await run.result().catch(() => undefined);
    return fleet.describe(run.id).outcome;
  }),
);
await fleet.drain();
const count = (outcome: string) => endings.filter((ending) => ending === outcome).length;
console.log(JSON.stringify({ completed: count('completed'), exhausted: count('exhausted') }));
