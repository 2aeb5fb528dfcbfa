/** Calls limited APIs from real pods while pods, the leader and the store come and go. */
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { runFaults } from './faults.ts';

const HELP = `npm run proof -- throttle-fleet [options]

Starts real pods on a real Postgres that call two APIs on loopback as fast as they may: one whose limit is
declared, and one that refuses what does not fit. Pods join, one is killed, the leader is killed, the store
is gone for a while. Ends with 1 if ever more calls were out at once than the stated bound.

  --pods N      pods in all (8)
  --seconds N   how long each look is (20)
  --store N     how many seconds the store is gone (60)
  --beat N      milliseconds between heartbeats (3000)
  --cap N       calls at once (48)
  --latency N   milliseconds that a call takes (500); longer ones are fewer, for a small host
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
      latency: { type: 'string', default: '500' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const heartbeatMs = wholeFlag('beat', values.beat, 100);
const pods = wholeFlag('pods', values.pods, 2);
const cap = wholeFlag('cap', values.cap, 1);
const report = await runFaults({
  pods,
  heartbeatMs,
  silentMs: 5 * heartbeatMs,
  cap,
  latencyMs: wholeFlag('latency', values.latency, 1),
  // Also the first quarter of the pods would use all of it, or nothing were to be seen of joins.
  callers: Math.ceil((1.5 * cap) / Math.max(1, Math.floor(pods / 4))),
  lookMs: 1_000 * wholeFlag('seconds', values.seconds, 1),
  withoutStoreMs: 1_000 * wholeFlag('store', values.store, 1),
  say: (line) => process.stderr.write(`${line}\n`),
});
tellFigures('throttle-fleet', report, values);
process.exitCode = report.outMost <= report.bound ? 0 : 1;
