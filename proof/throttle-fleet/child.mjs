/**
 * A pod that calls two APIs over and over, outside of runs or in them. Plain JavaScript over the built files:
 * what is watched is what users run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFleet, defineMachine, defineThrottle } from 'fleetq';
import * as z from 'zod';

const options = JSON.parse(process.argv[2]);
const { store, dataDir, name, heartbeat, silence, apis, callers } = options;
process.on('disconnect', () => process.exit(0));

const machine = defineMachine({
  name: 'caller',
  version: 1,
  input: z.object({ n: z.number() }),
  retry: { attemptMax: 1 },
  check: 'none',
  work: async ({ throttle }) => {
    const [api] = apis;
    return (await throttle(api.name).fetch(api.url)).status;
  },
});

const fleet = await createFleet({
  machines: [machine],
  throttles: apis.map((api) => defineThrottle(api.name, api.options)),
  ...{ store, dataDir, heartbeat, silence, podName: name, socket: false, slots: 64 },
});

async function callForEver(api) {
  for (;;) {
    try {
      const response = await fleet.throttle(api.name).fetch(api.url);
      await response.arrayBuffer();
    } catch {
      await sleep(200);
    }
  }
}

for (const api of apis) {
  for (let index = 0; index < callers; index++) callForEver(api);
}
process.send({ kind: 'ready', pod: fleet.status.pod.pod });
process.on('message', () => {
  const found = apis.map((api) => fleet.throttle(api.name).snapshot());
  process.send({ kind: 'snapshots', found, leader: fleet.status.pod.leader });
});
