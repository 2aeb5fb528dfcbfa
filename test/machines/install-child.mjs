/**
 * A process of its own that installs images, as users run it: the package by its name, the shipped
 * machine from the build. Each run stalls at the point it is told; when all of them stand at theirs,
 * the process kills itself with SIGKILL, so that one death is many crash points. Started again on the
 * same data directory it goes on.
 *
 *   argument  { dataDir, inputs, stallAt?: { [image]: { at: 'phaseStart' | 'phaseEnd' | 'change', nth } } }
 *   output    'progress' now and then, and one line of JSON: at the death, or when every run has ended
 *
 * phaseStart comes after the record that leads there, phaseEnd before the record of the phase, and
 * change before every call that changes a file, a directory or a link.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createFleet, listen } from 'fleetq';

const { dataDir, inputs, stallAt } = JSON.parse(process.argv[2]);
const say = (what) => fs.writeSync(1, `${JSON.stringify(what)}\n`);
const reached = Object.fromEntries(
  inputs.map(({ name }) => [name, { phaseStart: 0, phaseEnd: 0, change: 0 }]),
);
const stalled = new Set();
const ended = new Set();

function reach(name, at) {
  const nth = ++reached[name][at];
  if (stallAt?.[name]?.at !== at || stallAt[name].nth !== nth) return undefined;
  stalled.add(name);
  dieIfAllStand();
  return new Promise(() => undefined);
}

function dieIfAllStand() {
  if (!stallAt || stalled.size + ended.size < inputs.length) return;
  say({ stalled: [...stalled] });
  process.kill(process.pid, 'SIGKILL');
}

const nameOfHandle = new WeakMap();
function watchChanges(owner, calls, nameOf) {
  for (const call of calls) {
    const original = owner[call];
    owner[call] = async function (...args) {
      const name = nameOf(this, args);
      if (name !== undefined) await reach(name, 'change');
      const answer = await original.apply(this, args);
      if (call === 'open') nameOfHandle.set(answer, name);
      return answer;
    };
  }
}
const probe = await fs.promises.open(process.argv[1], 'r');
const handles = Object.getPrototypeOf(probe);
await probe.close();
watchChanges(handles, ['write', 'writeFile', 'chmod', 'sync'], (handle) =>
  nameOfHandle.get(handle),
);
const changing = ['mkdir', 'rename', 'rm', 'symlink', 'link', 'writeFile', 'open', 'utimes'];
watchChanges(fs.promises, changing, (_, args) =>
  // Of a link the second path is the new one; of all others the first is in the image's home too.
  inputs.map(({ name }) => name).find((name) => args.join(' ').includes(`/${name}/`)),
);
syncBuiltinESMExports();

const nameOfRun = new Map();
let open;
const opened = new Promise((resolve) => {
  open = resolve;
});
async function around({ run }, call) {
  await opened;
  const name = nameOfRun.get(run);
  if (name === undefined) return call();
  await reach(name, 'phaseStart');
  const answer = await call();
  await reach(name, 'phaseEnd');
  return answer;
}
listen('run.progressed', () => say('progress'));

const { imageInstall } = await import('../../dist/machines/image/install.js');
// Runs that stand still hold their slots and their leave to call.
const fleet = await createFleet({
  machines: [imageInstall],
  dataDir,
  slots: 1_000,
  apis: { registry: 1_000 },
  around,
});
const runs = [];
for (const input of inputs) {
  const run = await fleet.startLocal(imageInstall, input, { key: input.name });
  nameOfRun.set(run.id, input.name);
  runs.push(run);
}
open();
await Promise.all(
  runs.map(async (run) => {
    await run.result().catch(() => undefined);
    ended.add(nameOfRun.get(run.id));
    dieIfAllStand();
  }),
);
const ends = runs.map((run) => fleet.describe(run.id));
const again = await Promise.all(
  inputs.map(async (input) => {
    const run = await fleet.startLocal(imageInstall, input);
    await run.result().catch(() => undefined);
    return fleet.describe(run.id).outcome;
  }),
);
await fleet.drain({ budget: '5s' });
say({
  ended: ends.map(({ outcome, reason, error }) =>
    /completed|handedOff/.test(outcome) ? 'well' : (error?.message ?? reason ?? outcome),
  ),
  again,
  reached,
});
