/**
 * A pod: claims and executes until somebody kills it, or asks it to end. It runs the built package that it is told to,
 * so that a copy with a planted bug can be put to the same test.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Fleetq from '../../src/index.ts';
import { EffectLedger } from './effect-ledger.ts';
import { DRAIN_BUDGET_MS, NO_STORE, type WorkerOrders } from './orders.ts';
import { Scribe, shapes } from './shapes.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as WorkerOrders;
const api = (await import(pathToFileURL(join(orders.dist, 'index.js')).href)) as typeof Fleetq;

const TOLD = [
  'pod.registered',
  'pod.adopted',
  'pod.died',
  'claim.lost',
  'task.refused',
  'run.quarantined',
  'journal.alarm',
  'leader.changed',
  'recovery.failed',
  'store.failed',
] as const;
for (const name of TOLD) {
  api.listen(name, (event) => {
    const text = JSON.stringify(event).slice(0, 600);
    appendFileSync(orders.log, `${new Date().toISOString()} ${process.pid} ${name} ${text}\n`);
  });
}

const scribe = new Scribe(new EffectLedger(orders.ledger), orders.name);
try {
  const fleet = await api.createFleet({
    machines: Object.values(shapes(api, scribe)),
    store: orders.url,
    dataDir: orders.dataDir,
    podName: orders.name,
    slots: orders.slots,
    heartbeat: '500ms',
    silence: '3s',
    archive: '200ms',
    isSuspectsOnly: orders.isSuspectsOnly,
    socket: false,
    around: scribe.around,
  });
  api.governProcess(fleet, { drainBudget: DRAIN_BUDGET_MS });
  process.send?.('ready');
  // Whoever keeps it up is gone: nobody would ever end it.
  process.on('disconnect', () => process.exit(0));
} catch (error) {
  if (!(error instanceof api.StoreUnreachableError || error instanceof api.StoreBusyError)) {
    throw error;
  }
  process.exit(NO_STORE);
}
