/** A pod that executes what adds rows, until it is killed. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { machines } from './ledger.mjs';

const { dist, store, dataDir, slots } = JSON.parse(process.env['EXACTLY_ONCE'] ?? '{}');
const { createFleet } = await import(pathToFileURL(`${dist}/index.js`).href);
await createFleet({
  machines,
  modules: [fileURLToPath(new URL('./ledger.mjs', import.meta.url))],
  store,
  dataDir,
  slots,
  heartbeat: '300ms',
  silence: '2s',
  archive: '200ms',
  socket: false,
});
process.stdout.write('ready\n');
