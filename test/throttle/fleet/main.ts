/** npm run throttle-fleet: real pods against APIs that count, while pods, the leader and the store go. */
import { readFlags, tellFigures, wholeFlag } from '../../support/tool.ts';
import { runFaults } from './faults.ts';

const HELP = `npm run throttle-fleet -- [options]

Starts real pods on a real Postgres that call two APIs on loopback as fast as they may: one whose limit is
declared, and one that refuses what does not fit. Pods join, one is killed, the leader is killed, the store
is gone for a while. Ends with 1 if ever more calls were out at once than the stated bound.

  --pods N      pods in all (8)
  --seconds N   how long each look is (20)
  --store N     how many seconds the store is gone (60)
  --beat N      milliseconds between heartbeats (3000)
  --cap N       calls at once (48)
  --json        figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      pods: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '20' },
      store: { type: 'string', default: '60' },
      beat: { type: 'string', default: '3000' },
      cap: { type: 'string', default: '48' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const heartbeatMs = wholeFlag('beat', values.beat, 100);
const pods = wholeFlag('pods', values.pods, 2);
const report = await runFaults({
  pods,
  heartbeatMs,
  silentMs: 5 * heartbeatMs,
  cap: wholeFlag('cap', values.cap, 1),
  latencyMs: 500,
  callers: Math.max(4, Math.ceil(128 / pods)),
  lookMs: 1_000 * wholeFlag('seconds', values.seconds, 1),
  withoutStoreMs: 1_000 * wholeFlag('store', values.store, 1),
  say: (line) => process.stderr.write(`${line}\n`),
});
tellFigures('throttle-fleet', report, values);
process.exitCode = report.outMost <= report.bound ? 0 : 1;
