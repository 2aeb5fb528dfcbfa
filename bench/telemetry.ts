/**
 * What telemetry costs the engine: the same runs with nobody listening, with metrics that are scraped
 * meanwhile, and with metrics and traces that go to a receiver. One after the other, again and
 * again, so that whatever else the machine does hits all; ratios are of rounds, and their medians count.
 *
 * `cpu` is the time on the processor for a run, over that without telemetry: it says the same as the
 * throughput on a machine that has nothing else to do, and says it on one that has.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runChild, say } from './child.ts';
import { inTempDir, median } from './engine.ts';

const ROUNDS = 7;
/** So many of each process, once it is warm: on a busy machine they take longer, and are as many. */
const RUNS = 10_000;
const WARM_RUNS = 5_000;
const IN_FLIGHT = 200;
/** What metrics may cost, as a share. */
const METRICS_MAX = 0.05;

interface Leg {
  readonly runsPerSecond: number;
  readonly cpuUsPerRun: number;
}

const LEGS = ['off', 'metrics', 'traces'] as const;
type LegName = (typeof LEGS)[number];

export async function benchTelemetry(): Promise<object> {
  const receiver = await receive();
  try {
    const env = tracesTo(receiver.address);
    const legs = (await hasTraces()) ? LEGS : LEGS.filter((leg) => leg !== 'traces');
    if (legs.length < LEGS.length) say('there is no fleetq/otel: traces are not measured');
    const rounds: Record<string, Leg>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const found: Record<string, Leg> = {};
      // Each of them is the first as often as the others: whoever comes later finds a warmer machine.
      const turn = round % legs.length;
      for (const leg of [...legs.slice(turn), ...legs.slice(0, turn)]) {
        found[leg] = await measure(leg, leg === 'traces' ? env : {});
      }
      rounds.push(found);
    }
    return figures(legs, rounds, receiver.bytes());
  } finally {
    receiver.stop();
  }
}

async function measure(leg: LegName, env: NodeJS.ProcessEnv): Promise<Leg> {
  const args = { telemetry: leg, inFlight: IN_FLIGHT, runs: RUNS, warmRuns: WARM_RUNS };
  const answer = await inTempDir((dataDir) => runChild('heard', { ...args, dataDir }, { env }));
  const runsPerSecond = answer['runsPerSecond'] as number;
  const cpuUsPerRun = answer['cpuUsPerRun'] as number;
  say(`${leg}: ${Math.round(runsPerSecond)} runs/s, ${cpuUsPerRun.toFixed(1)} µs of CPU each`);
  return { runsPerSecond, cpuUsPerRun };
}

function figures(
  legs: readonly LegName[],
  rounds: readonly Readonly<Record<string, Leg>>[],
  receivedBytes: number,
): object {
  const of = (leg: LegName) => ({
    runsPerSecond: median(rounds.map((round) => round[leg]!.runsPerSecond)),
    cpuUsPerRun: median(rounds.map((round) => round[leg]!.cpuUsPerRun)),
    ...(leg === 'off'
      ? {}
      : {
          throughput: median(
            rounds.map((round) => round[leg]!.runsPerSecond / round['off']!.runsPerSecond),
          ),
          cpu: median(rounds.map((round) => round[leg]!.cpuUsPerRun / round['off']!.cpuUsPerRun)),
        }),
  });
  const metrics = of('metrics') as ReturnType<typeof of> & { readonly cpu: number };
  const hasTraced = legs.includes('traces');
  return {
    bench: 'telemetry',
    node: process.version,
    rounds: rounds.length,
    inFlight: IN_FLIGHT,
    off: of('off'),
    metrics,
    ...(hasTraced
      ? { metricsAndTraces: { ...of('traces'), receivedBytes } }
      : { metricsAndTraces: 'no fleetq/otel' }),
    metricsCost: Number((metrics.cpu - 1).toFixed(3)),
    metricsCostMax: METRICS_MAX,
    isWithin: metrics.cpu - 1 <= METRICS_MAX,
  };
}

/** By its name and not by its file, as users come to it. */
async function hasTraces(): Promise<boolean> {
  const name: string = 'fleetq/otel';
  return import(name).then(
    () => true,
    () => false,
  );
}

function tracesTo(address: string): NodeJS.ProcessEnv {
  return { FLEETQ_OTEL: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: address };
}

/** Takes what is exported, and counts it: a leg that exports nothing measures nothing. */
async function receive() {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    request.on('end', () =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}`, bytes: () => bytes, stop };
}
