/** Some runs that do their work, and some whose work kills the process they are in. */
import { createFleet, defineMachine } from '../../src/index.ts';
import { takes } from '../support/any-schema.ts';

const argument = JSON.parse(process.argv[2] ?? '{}') as {
  readonly dataDir: string;
  readonly poison: number;
  readonly innocents: number;
  /** Where it kills: in its work unless said otherwise. */
  readonly where?: 'work' | 'sleep';
};

const head = { version: 1, input: takes<{ isPoison: boolean }>() };

function dieOf({ input }: { readonly input: { readonly isPoison: boolean } }): void {
  if (input.isPoison) process.kill(process.pid, 'SIGKILL');
}

const inWork = defineMachine({
  ...head,
  name: 'perhaps-poison',
  retry: { attemptMax: 3, backoff: () => 1 },
  check: 'none',
  work: (context) => {
    dieOf(context);
    return null;
  },
});

const inSleep = defineMachine({
  ...head,
  name: 'perhaps-poison-asleep',
  steps: (line) =>
    line
      .sleep('pause', (context) => {
        dieOf(context);
        return 1;
      })
      .step('after', { check: 'none', work: () => null }),
});

const machine = argument.where === 'sleep' ? inSleep : inWork;

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
