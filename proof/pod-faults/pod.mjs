/** A pod that does what it is asked over its channel, and answers with what it sees. Runs the built package. */
import { createFleet, listen } from 'fleetq';
import { hold, holding } from './machines/hold.mjs';

const { machines = [], ...options } = JSON.parse(process.argv[2] ?? '{}');
const say = (message) => process.connected && process.send(message);
process.on('disconnect', () => process.exit(0));
listen('journal.alarm', ({ kind, message }) => say({ said: 'alarm', kind, message }));
listen('journal.stalled', ({ error }) => say({ said: 'stalled', message: error.message }));
listen('recovery.failed', ({ error }) => say({ said: 'recoveryFailed', message: error.message }));
listen('store.failed', ({ what, error }) =>
  say({ said: 'storeFailed', kind: what, message: error.message }),
);

const own = machines.map(holding);
const fleet = await createFleet({ ...options, machines: [hold, ...own], socket: false });
const byName = new Map([hold, ...own].map((machine) => [machine.name, machine]));
const BATCH = 100;

async function many(count, act) {
  const ids = [];
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, act);
    ids.push(...(await Promise.all(batch)).map(({ id }) => id));
  }
  return ids;
}

const ACTS = {
  look: () => {
    const { stalledBy, pod, journal, alarms } = fleet.status;
    const { pod: id, isReady, leader, held } = pod ?? {};
    return { stalledBy, journal, alarms, pod: id, isReady, leader, held };
  },
  enqueue: ({ machine = hold.name, count, ms }) =>
    many(count, () => fleet.enqueue(byName.get(machine), { ms })),
  start: ({ count, ms, padding = 0 }) =>
    many(count, () => fleet.startLocal(hold, { ms, padding: 'x'.repeat(padding) })),
  /** Runs that are done when this is answered. */
  finish: async ({ count, ms = 0, padding = 0 }) => {
    const input = { ms, padding: 'x'.repeat(padding) };
    return many(count, async () => {
      const run = await fleet.startLocal(hold, input);
      await run.result();
      return run;
    });
  },
};

process.on('message', async ({ ask, what, ...order }) => {
  try {
    say({ answers: ask, value: await ACTS[what](order) });
  } catch (error) {
    say({ answers: ask, error: `${error.code ?? error.name}: ${error.message}` });
  }
});
say({ said: 'ready' });
