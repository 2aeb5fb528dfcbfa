/**
 * A process of its own that installs images, as users run it: the package by its name, the shipped
 * machine from the build. It kills itself with SIGKILL at the point it is told, or is killed from
 * outside; started again on the same data directory it goes on.
 *
 *   argument  { dataDir, inputs, killAt?: { at: 'record' | 'phaseEnd' | 'beforeChange' | 'afterChange', nth } }
 *   output    'ready', then one line of JSON when every run has ended
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createFleet, listen } from 'fleetq';

const { dataDir, inputs, killAt } = JSON.parse(process.argv[2]);
const counts = { record: 0, phaseEnd: 0, beforeChange: 0, afterChange: 0 };

function reach(at) {
  counts[at]++;
  if (killAt?.at === at && killAt.nth === counts[at]) process.kill(process.pid, 'SIGKILL');
}

/** Every call that changes a file, a directory or a link is a point before and a point after it. */
function watchChanges(owner, names) {
  for (const name of names) {
    const call = owner[name];
    owner[name] = async function (...args) {
      reach('beforeChange');
      const answer = await call.apply(this, args);
      reach('afterChange');
      return answer;
    };
  }
}

const probe = await fs.promises.open(process.argv[1], 'r');
watchChanges(Object.getPrototypeOf(probe), ['write', 'writeFile', 'chmod', 'sync']);
await probe.close();
const changing = ['mkdir', 'rename', 'rm', 'symlink', 'link', 'writeFile', 'open', 'utimes'];
watchChanges(fs.promises, changing);
syncBuiltinESMExports();
listen('journal.committed', () => reach('record'));
listen('phase.ended', () => reach('phaseEnd'));

const { imageInstall } = await import('../../dist/machines/image/install.js');
const fleet = await createFleet({ machines: [imageInstall], dataDir });
console.log('ready');
const runs = [];
for (const input of inputs) {
  runs.push(await fleet.startLocal(imageInstall, input, { key: `install ${input.name}` }));
}
await Promise.allSettled(runs.map((run) => run.result()));
const ended = runs.map((run) => fleet.describe(run.id));
const reached = { ...counts };
const again = [];
for (const input of inputs) {
  const run = await fleet.startLocal(imageInstall, input);
  await run.result().catch(() => undefined);
  again.push(fleet.describe(run.id).outcome);
}
await fleet.drain({ budget: '5s' });
console.log(
  JSON.stringify({
    outcomes: ended.map(({ outcome }) => outcome),
    errors: ended.map(({ outcome, reason, error }) =>
      /completed|handedOff/.test(outcome) ? undefined : (reason ?? error?.message ?? outcome),
    ),
    again,
    reached,
  }),
);
