/** What a pod does for many at once, as spans: also where a row was written by hand. */
import { tracing } from '@opentelemetry/sdk-node';
import { expect, test } from 'vitest';
import { type RunId, runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { tell } from '../../src/telemetry/events.ts';
import { traceIdOf } from '../../src/telemetry/otel/ids.ts';
import { startTracing } from '../../src/telemetry/otel/index.ts';

const mint = runIdMint(systemClock, systemRandom);
const of = { generation: 1, machine: 'ship', version: 1, status: 'failed', outcome: 'aborted' };

test('a task whose id is no run’s id is in no trace, and harms nobody who tells of it', async () => {
  const exporter = new tracing.InMemorySpanExporter();
  const spanProcessors = [new tracing.SimpleSpanProcessor(exporter)];
  const traces = await startTracing({
    provider: new tracing.BasicTracerProvider({ spanProcessors }),
  });
  const run = mint();
  const odd = { ...of, run: 'order-17' as RunId, hasBegun: false };
  tell('tasks.rescued', () => ({ tasks: [odd, { ...of, run, hasBegun: false }] }));
  tell('pod.drained', () => ({ pod: 'a', elapsedMs: 1, tasks: [odd, { ...of, run }] }));
  await traces.stop();
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['run ship', 'end ship', 'drain']);
  expect(spans[2]?.attributes).toMatchObject({ 'fleetq.runs': 2 });
  expect(spans[2]?.links.map(({ context }) => context.traceId)).toEqual([traceIdOf(run)]);
});

test('a task that somebody has begun has its first span already', async () => {
  const exporter = new tracing.InMemorySpanExporter();
  const spanProcessors = [new tracing.SimpleSpanProcessor(exporter)];
  const traces = await startTracing({
    provider: new tracing.BasicTracerProvider({ spanProcessors }),
  });
  tell('tasks.rescued', () => ({ tasks: [{ ...of, run: mint(), hasBegun: true }] }));
  await traces.stop();
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['end ship']);
});
