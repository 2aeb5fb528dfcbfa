/**
 * A pod that is deployed away: plain JavaScript over the built files, ended by SIGTERM as any worker. It
 * writes every call of a handler into a ledger of its own, by a clock that all processes of a host share.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFleet, defineMachine, governProcess, listen } from 'fleetq';
import * as z from 'zod';

const { ledger, keeps = 0, ...given } = JSON.parse(process.argv[2]);
process.on('disconnect', () => process.exit(0));

const now = () => Number(process.hrtime.bigint()) / 1_000_000;
const note = (what, run, place) => appendFileSync(ledger, `${what} ${run} ${place} ${now()}\n`);

const input = z.object({ n: z.number() });
const between = (from, to) => from + Math.random() * (to - from);

/** Phases as long as calls of a network are: some are always in hand when a pod is asked to leave. */
const deployed = defineMachine({
  name: 'bench-deploy',
  version: 1,
  input,
  steps: (line) =>
    ['pull', 'build', 'push'].reduce(
      (before, name) =>
        before.step(name, {
          check: async () => undefined,
          work: () => sleep(between(50, 600)).then(() => name),
        }),
      line,
    ),
});
/** Many short phases: a run is never far from standing between two of them. */
const ticking = defineMachine({
  name: 'bench-tick',
  version: 1,
  input,
  steps: (line) =>
    Array.from({ length: 60 }, (_, index) => `tick-${index}`).reduce(
      (before, name) =>
        before.step(name, { check: 'none', work: () => sleep(between(5, 40)).then(() => 1) }),
      line,
    ),
});

const around = async ({ run, step, phase }, call) => {
  note('begins', run, `${step}.${phase}`);
  const value = await call();
  note('ends', run, `${step}.${phase}`);
  return value;
};

listen('journal.awaited', () => process.send({ kind: 'waiting' }));
const fleet = await createFleet({ ...given, machines: [deployed, ticking], around, socket: true });
governProcess(fleet, { drainBudget: '25s' });
process.send({ kind: 'ready' });

/** So many runs at a time; what is left of those of the process before counts. */
async function keepOne() {
  for (;;) {
    const make = given.store ? 'enqueueByName' : 'startByName';
    const run = await fleet[make]('bench-tick', { n: 1 });
    await run.result();
  }
}
const unfinished = given.store ? 0 : fleet.status.inMemory;
for (let count = unfinished; count < keeps; count++) keepOne().catch(() => undefined);
// Nothing else keeps up a process that waits for requests.
setInterval(() => undefined, 60_000);
