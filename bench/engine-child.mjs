/**
 * One measurement. Plain JavaScript over the built files, so that what is timed is what users run.
 * `raw` is the hand loop: the same records, hashes and rows in the same transactions, written by a
 * loop that knows no machine, no transition and no handler. `bare` leaves out hashes and JSON too.
 */
import { aesCodec, createFleet, defineMachine, listen } from 'fleetq';
import { rawLoop } from './raw-loop.mjs';
import { threadLoop } from './thread-loop.mjs';

const [task, json] = process.argv.slice(2);
const args = JSON.parse(json);

/** Its schema is a library's, as most users' are; that one is loaded only where it is measured. */
async function defineFour() {
  const z = await import('zod');
  return defineMachine({
    name: 'bench-four',
    version: 1,
    input: z.object({ n: z.number() }),
    check: async () => undefined,
    work: async ({ input }) => ({ url: 'https://example.invalid/image', n: input.n }),
    validate: async () => undefined,
    persist: async ({ work }) => ({ n: work.n }),
  });
}

/** A schema written by hand: what a start takes is to be FleetQ's time, and no library's. */
const numbered = {
  '~standard': {
    version: 1,
    vendor: 'bench',
    validate: (value) =>
      typeof value?.n === 'number' ? { value } : { issues: [{ message: 'n must be a number' }] },
  },
};

let wake;
const never = new Promise((resolve) => {
  wake = resolve;
});
const hanging = defineMachine({
  name: 'bench-hanging',
  version: 1,
  input: numbered,
  check: async () => undefined,
  work: async () => {
    await never;
  },
});

async function throughput({ kind, inFlight, seconds, dataDir }) {
  const run = {
    engine: () => engineRun(dataDir, inFlight, 'off'),
    thread: () => threadLoop(dataDir),
    raw: () => rawLoop(dataDir, 'raw'),
    bare: () => rawLoop(dataDir, 'bare'),
  }[kind];
  const one = await run();
  await measure(one, inFlight, seconds / 4);
  return { runsPerSecond: await measure(one, inFlight, seconds) };
}

async function engineRun(dataDir, inFlight, telemetry, codecKey) {
  const four = await defineFour();
  const [id, key] = codecKey?.split(':') ?? [];
  const codec = id && aesCodec({ keys: { [id]: key }, current: id });
  const slots = Math.max(64, inFlight);
  const fleet = await createFleet({ machines: [four], dataDir, slots, codec });
  const scrape = telemetry === 'off' ? undefined : await scraperOf(fleet);
  const one = async (n) => {
    const run = await fleet.startLocal(four, { n });
    await run.result();
  };
  return Object.assign(one, { scrape });
}

/** A given number of runs with telemetry, after some that are not counted. */
async function heard({ telemetry, inFlight, runs, warmRuns, dataDir, codecKey }) {
  const one = await engineRun(dataDir, inFlight, telemetry, codecKey);
  await inTurn(one, inFlight, warmRuns);
  const begun = performance.now();
  const before = process.cpuUsage();
  await inTurn(one, inFlight, runs / 2);
  // Once in so many runs, which is once in about a second where the machine has nothing else to do.
  await one.scrape?.();
  await inTurn(one, inFlight, runs / 2);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - begun) / 1_000;
  return { runsPerSecond: runs / seconds, cpuUsPerRun: (user + system) / runs };
}

async function inTurn(run, inFlight, count) {
  let begun = 0;
  const worker = async () => {
    while (begun < count) await run(begun++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** As a scraper does, in the format that costs more: with exemplars. */
async function scraperOf(fleet) {
  const { openMetrics } = await import('fleetq/metrics');
  const metrics = openMetrics({ fleet: () => fleet });
  const scrape = () => metrics.text('application/openmetrics-text');
  await scrape();
  return scrape;
}

/** Keeps `inFlight` runs going for `seconds`; answers how many ended a second. */
async function measure(run, inFlight, seconds) {
  const begun = performance.now();
  let count = 0;
  const worker = async () => {
    while (performance.now() - begun < seconds * 1000) {
      await run(count);
      count++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (count / (performance.now() - begun)) * 1000;
}

/** Brings `count` runs into their work phase and leaves them there. */
async function hang({ count, dataDir }) {
  const fleet = await createFleet({ machines: [hanging], dataDir, slots: count });
  globalThis.gc?.();
  const before = process.memoryUsage();
  let inWork = 0;
  const all = new Promise((resolve) => {
    listen('phase.started', ({ phase }) => {
      if (phase === 'work' && ++inWork === count) resolve();
    });
  });
  for (let n = 0; n < count; n += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, count - n) }, (_, i) => n + i);
    await Promise.all(batch.map((i) => fleet.startLocal(hanging, { n: i })));
  }
  await all;
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc?.();
  const after = process.memoryUsage();
  const used = (m) => m.heapUsed + m.external;
  return {
    bytesPerRun: Math.round((used(after) - used(before)) / count),
    rssPerRun: Math.round((after.rss - before.rss) / count),
  };
}

async function resume({ count, dataDir }) {
  let firstAt;
  const begun = new Set();
  const all = new Promise((resolve) => {
    listen('phase.started', ({ run }) => {
      firstAt ??= Date.now();
      begun.add(run);
      if (begun.size === count) resolve(Date.now());
    });
  });
  await createFleet({ machines: [hanging], dataDir, slots: count });
  const allAt = await all;
  return { firstAt, allAt };
}

const answer = await { throughput, heard, hang, resume }[task](args);
process.send(answer);
// Stays, so that whoever wants to kill it in the middle of its runs can.
setTimeout(() => wake(), 2 ** 30);
