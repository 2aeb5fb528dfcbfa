/**
 * A pod: claims and executes until somebody kills it, or asks it to end. It runs the built package
 * that it is told to, so that a copy with a planted bug can be put to the same test.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Fleetq from '../../src/index.ts';
import { asideShapes } from './aside-shapes.ts';
import { EffectLedger } from './effect-ledger.ts';
import { noteCalls, storeClasses } from './judge-calls.ts';
import {
  DRAIN_BUDGET_MS,
  type HouseWord,
  monotonicMs,
  NO_ROOM,
  NO_STORE,
  type WorkerOrders,
  type WorkerWord,
} from './orders.ts';
import { Scribe, shapes } from './shapes.ts';
import { SlotHold } from './slot-hold.ts';
import { Venom } from './venom.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as WorkerOrders;
const api = (await import(pathToFileURL(join(orders.dist, 'index.js')).href)) as typeof Fleetq;
noteCalls(await storeClasses(orders.dist), `${orders.ledger}.calls`, () => trueNow());

const SKEW_MS_MIN = 250;
const SKEW_LOOK_MS = 200;

const TOLD = [
  'pod.registered',
  'pod.adopted',
  'pod.died',
  'claim.lost',
  'task.refused',
  'run.quarantined',
  'journal.alarm',
  'journal.stalled',
  'journal.recovered',
  'fleet.outage',
  'leader.changed',
  'recovery.failed',
  'store.failed',
] as const;
/** The wall clock of this process may be wrong, the monotonic one is not. */
const trueNow = () => Math.round(orders.wallAtZeroMs + monotonicMs());
const log = (name: string, said: object) => {
  const text = JSON.stringify(said).slice(0, 600);
  const at = new Date(trueNow()).toISOString();
  appendFileSync(orders.log, `${at} ${process.pid} ${name} ${text}\n`);
};
const tell = (word: WorkerWord) => void process.send?.(word);
for (const name of TOLD) api.listen(name, (event) => log(name, event));
api.listen('journal.stalled', () => tell('stalled'));
api.listen('journal.recovered', () => tell('recovered'));
api.listen('pod.registered', () => tell('registered'));
api.listen('pod.died', () => tell('left'));
api.listen('journal.alarm', ({ kind }) => {
  if (kind === 'fileDamaged') tell('damaged');
  if (kind === 'elsewhere') tell('rival');
});
api.listen('store.failed', ({ error }) => {
  if (JSON.stringify(error).includes(NO_ROOM)) tell('refused');
});
watchClock();

const scribe = new Scribe(new EffectLedger(orders.ledger), orders.name, trueNow);
const venom = new Venom(orders.foretold, orders.name);
const hold = new SlotHold(api, orders.slots, () => tell('slotsHeld'));
try {
  const fleet = await api.createFleet({
    machines: [
      ...Object.values(shapes(api, scribe, orders.version)),
      ...Object.values(asideShapes(api, scribe, venom, orders.version)),
      hold.machine,
    ],
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
  process.on('message', (word: HouseWord) => {
    if (word === 'release') hold.release();
    else if (word === 'fill') void hold.fill(fleet).then(() => tell('filled'));
    else hold.start(fleet, word.holdMs);
  });
  tell('ready');
  // Whoever keeps it up is gone: nobody would ever end it.
  process.on('disconnect', () => process.exit(0));
} catch (error) {
  if (!(error instanceof api.StoreUnreachableError || error instanceof api.StoreBusyError)) {
    throw error;
  }
  process.exit(NO_STORE);
}

/** Says how far its wall clock is from the true time, whenever that has changed. */
function watchClock(): void {
  let told = 0;
  const look = () => {
    const skewMs = Date.now() - trueNow();
    if (Math.abs(skewMs - told) < SKEW_MS_MIN) return;
    told = Math.abs(skewMs) < SKEW_MS_MIN ? 0 : skewMs;
    log('clock.jumped', { skewMs, wall: new Date().toISOString() });
    tell({ skewMs: told });
  };
  look();
  setInterval(look, SKEW_LOOK_MS).unref();
}
