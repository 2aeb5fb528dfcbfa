/** A task that crashes its owners too often is told of by whoever finds it out, an adoption included. */
import { tracing } from '@opentelemetry/sdk-node';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { type Fleet, writeLogs } from '../../src/index.ts';
import { openMetrics } from '../../src/telemetry/metrics/index.ts';
import { startTracing } from '../../src/telemetry/otel/index.ts';
import { never } from '../support/fleets.ts';
import { figureOf, samplesOf } from '../telemetry/samples.ts';
import { Script, twoSteps } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** What a receiver of each kind has got by the time it is asked. */
async function listeners(clock: ReturnType<typeof startFleet>['clock'], fleet: () => Fleet) {
  const exporter = new tracing.InMemorySpanExporter();
  const spanProcessors = [new tracing.SimpleSpanProcessor(exporter)];
  const provider = new tracing.BasicTracerProvider({ spanProcessors });
  const traces = await startTracing({ provider });
  const metrics = openMetrics({ fleet, clock });
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  stops.push(
    () => void traces.stop(),
    () => metrics.stop(),
    writeLogs(pino({}, { write })),
  );
  return {
    spans: () => exporter.getFinishedSpans(),
    samples: async () => samplesOf((await metrics.text()).text),
    lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('I29: a crash loop that a process finds on its own disk is told as the sweep tells it', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const [failed, rescued] = [hear('task.failed'), hear('tasks.rescued')];
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  script.holds.set('a.work', never());
  let pod = await startPod('alder', options);
  const told = await listeners(clock, () => pod.fleet);
  const { id } = await pod.fleet.enqueue(machine, {});
  for (const crashes of [1, 2]) {
    await clock.advance(1_000);
    pod = await startPod('alder', { ...options, dataDir: pod.crash() });
    expect(await row(id)).toMatchObject({ crashes });
  }
  expect(rescued.splice(0)).toMatchObject([{ tasks: [{ run: id, status: 'pending' }] }]);
  // The third is one of its own, which comes back on its disk too.
  const suspects = { ...options, isSuspectsOnly: true };
  script.holds.set('a.probe', never());
  const own = await startPod('suspects', suspects);
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: own.id });
  expect(failed).toEqual([]);
  await startPod('suspects', { ...suspects, dataDir: own.crash() });
  expect(await row(id)).toMatchObject({ status: 'failed', outcome: 'crashLoop', crashes: 3 });

  const of = { run: id, machine: 'two', outcome: 'crashLoop' };
  expect(failed).toEqual([of]);
  expect(rescued).toMatchObject([{ tasks: [{ ...of, status: 'failed', hasBegun: true }] }]);
  const labels = { machine: 'two', outcome: 'crashLoop' };
  expect(figureOf(await told.samples(), 'fleetq_dead_letters_total', labels)).toBe(1);
  const lines = told.lines().filter(({ event }) => event === 'task.failed');
  expect(lines).toMatchObject([{ level: 50, outcome: 'crashLoop', dead_letter: true }]);
  const [end, ...more] = told.spans().filter(({ name }) => name === 'end two');
  expect(more).toEqual([]);
  expect(end?.attributes).toMatchObject({ 'fleetq.run.id': id, 'fleetq.outcome': 'crashLoop' });
});
