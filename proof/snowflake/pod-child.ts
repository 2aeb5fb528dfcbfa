/** A pod on an emulated account: it claims and executes until somebody kills it. */
import { pathToFileURL } from 'node:url';
import type * as Fleetq from '../../src/index.ts';
import { EffectLedger } from '../chaos/effect-ledger.ts';
import { Scribe, shapes } from '../chaos/shapes.ts';

interface Orders {
  /** The built package. */
  readonly dist: string;
  readonly store: string;
  readonly dataDir: string;
  readonly name: string;
  readonly ledger: string;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  /** For tasks whose owners were killed twice. */
  readonly isSuspectsOnly: boolean;
}

const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
const api = (await import(pathToFileURL(`${orders.dist}/index.js`).href)) as typeof Fleetq;
const scribe = new Scribe(new EffectLedger(orders.ledger), orders.name);
await api.createFleet({
  machines: Object.values(shapes(api, scribe)),
  store: orders.store,
  dataDir: orders.dataDir,
  podName: orders.name,
  slots: 40,
  heartbeat: orders.heartbeatMs,
  silence: orders.silenceMs,
  archive: '1s',
  isSuspectsOnly: orders.isSuspectsOnly,
  socket: false,
  around: scribe.around,
});
process.stdout.write('ready\n');
// Whoever keeps it up is gone: nobody would ever end it.
process.stdin.on('end', () => process.exit(0)).resume();
