/** What traces are made of: ids, words, the gate, and that records tell what whoever was there told. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tracing } from '@opentelemetry/sdk-node';
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  createFleet,
  defineMachine,
  exponential,
  listen,
  type RunId,
  writeLogs,
} from '../../src/index.ts';
import type { PastRecord } from '../../src/telemetry/events.ts';
import { toldBy } from '../../src/telemetry/otel/attempts.ts';
import { Gate } from '../../src/telemetry/otel/gate.ts';
import { traceIdOf } from '../../src/telemetry/otel/ids.ts';
import { startTracing } from '../../src/telemetry/otel/index.ts';
import { readTraceParent } from '../../src/telemetry/otel/traceparent.ts';
import { errorTypeOf } from '../../src/telemetry/otel/words.ts';
import { wantsTracing } from '../../src/telemetry/tracing.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const directory = useTempDirs();

test('a trace has the bits of its run, be that a ULID or a UUID', () => {
  expect(traceIdOf('01ARZ3NDEKTSV4RRFFQ69G5FAV' as RunId)).toBe('01563e3ab5d3d6764c61efb99302bd5b');
  const uuid = '0af76519-16cd-43dd-8448-eb211c80319c' as RunId;
  expect(traceIdOf(uuid)).toBe('0af7651916cd43dd8448eb211c80319c');
});

test('traces are on where the environment names a receiver, unless it says otherwise', () => {
  expect(wantsTracing({})).toBe(false);
  expect(wantsTracing({ FLEETQ_OTEL: 'on' })).toBe(true);
  expect(wantsTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://here' })).toBe(true);
  expect(wantsTracing({ OTEL_TRACES_EXPORTER: 'console' })).toBe(true);
  expect(wantsTracing({ OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
  expect(wantsTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://here', FLEETQ_OTEL: 'off' })).toBe(
    false,
  );
  expect(wantsTracing({ FLEETQ_OTEL: 'on', OTEL_SDK_DISABLED: 'true' })).toBe(false);
});

test('a context that makes no sense is none', () => {
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(readTraceParent(good)).toMatchObject({ spanId: 'b7ad6b7169203331', traceFlags: 1 });
  for (const bad of ['', 'x', `${good}-more`, good.replace('0af7', 'XYZW'), `ff${good.slice(2)}`]) {
    expect(readTraceParent(bad), bad).toBeUndefined();
  }
  expect(readTraceParent(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`)).toBeUndefined();
});

test('of an error only what is a name is told', () => {
  const message = 'secret';
  expect(errorTypeOf({ name: 'TypeError', message })).toBe('TypeError');
  expect(errorTypeOf({ name: 'Error', message, code: 'ECONNREFUSED' })).toBe('ECONNREFUSED');
  expect(errorTypeOf({ name: 'error', message, code: '23505' })).toBe('23505');
  expect(errorTypeOf({ name: 'my secret', message, code: 'hunter2' })).toBe('_OTHER');
  for (const code of ['7Q2ZK', 'HUNTER', 'SECRET_WORD'])
    expect(errorTypeOf({ name: 'TypeError', message, code }), code).toBe('TypeError');
});

test('the gate lets nothing out whose record may be lost, and drops what was', () => {
  const gate = new Gate();
  const out: string[] = [];
  gate.open('a', -1);
  gate.pass('a', 0, () => out.push('a0'));
  gate.pass('a', 1, () => out.push('a1'));
  gate.pass('b', 5, () => out.push('b, which nobody holds'));
  gate.open('a', 0);
  expect(out).toEqual(['b, which nobody holds', 'a0']);
  gate.close('a', false);
  expect(gate.heldCount).toBe(0);
  gate.open('a', -1);
  gate.pass('a', 0, () => out.push('again'));
  gate.close('a', true);
  expect(out).toEqual(['b, which nobody holds', 'a0', 'again']);
  expect(gate.heldCount).toBe(0);
});

test('records tell the same attempts as whoever made them, in the trace of the run', async () => {
  let failures = 2;
  const machine = defineMachine({
    name: 'many',
    version: 1,
    input: z.object({}),
    retry: { attemptMax: 5, backoff: exponential('1ms') },
    steps: (line) =>
      line
        .step('one', {
          check: () => undefined,
          work: () => {
            if (failures-- > 0) throw new TypeError('not yet');
            return 1;
          },
          validate: () => undefined,
          persist: () => null,
        })
        .sleep('nap', '5ms')
        .step('two', { check: 'none', work: () => 2 }),
  });
  const exporter = new tracing.InMemorySpanExporter();
  const provider = new tracing.BasicTracerProvider({
    spanProcessors: [new tracing.SimpleSpanProcessor(exporter)],
  });
  const records: PastRecord[] = [];
  const stop = listen('run.recorded', ({ seq, at, epoch, event, state, hash }) => {
    records.push({ seq, at, epoch, event, state, hash });
  });
  const traces = await startTracing({ provider });
  const dataDir = join(directory(), 'data');
  const fleet = await createFleet({ machines: [machine], dataDir, tracing: traces, socket: false });
  const run = await fleet.startLocal(machine, {});
  await run.result();
  await fleet.drain();
  await traces.stop();
  stop();
  const live = exporter.getFinishedSpans().map(({ name, attributes }) => ({
    name,
    outcome: attributes['fleetq.outcome'],
    attempt: attributes['fleetq.attempt'],
    seq: attributes['fleetq.journal.seq'],
  }));
  const told = toldBy(run.id, 1, records).map(({ name, seq, what }) => ({
    name,
    outcome:
      what.kind === 'attempt'
        ? what.verdict.outcome
        : what.kind === 'end'
          ? what.outcome
          : undefined,
    attempt: what.kind === 'attempt' ? what.attempt : undefined,
    seq: what.kind === 'anchor' ? undefined : seq,
  }));
  expect(live).toEqual(told);
  expect(live.map(({ name }) => name)).toContain('many.nap.sleep');
  expect(live.filter(({ name }) => name === 'many.one.probe')).toHaveLength(2);
  const traceIds = exporter.getFinishedSpans().map((span) => span.spanContext().traceId);
  expect(new Set(traceIds)).toEqual(new Set([traceIdOf(run.id)]));
});

test('a call that waited for leave has a span below its phase, and one that did not has none', async () => {
  const holds: (() => void)[] = [];
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: z.object({}),
    check: 'none',
    work: ({ use }) => use('geo', () => new Promise<void>((resolve) => holds.push(resolve))),
  });
  const exporter = new tracing.InMemorySpanExporter();
  const provider = new tracing.BasicTracerProvider({
    spanProcessors: [new tracing.SimpleSpanProcessor(exporter)],
  });
  const traces = await startTracing({ provider });
  const dataDir = join(directory(), 'data');
  const made = { dataDir, tracing: traces, socket: false, apis: { geo: 1 } };
  const fleet = await createFleet({ machines: [machine], ...made });
  const runs = [await fleet.startLocal(machine, {}), await fleet.startLocal(machine, {})];
  const until = (isSo: () => boolean) => expect.poll(isSo, { timeout: 90_000 }).toBe(true);
  await until(() => holds.length === 1 && fleet.throttle('geo').snapshot().waiting === 1);
  // A wait of less than a millisecond is none.
  await sleep(5);
  holds[0]!();
  await until(() => holds.length === 2);
  holds[1]!();
  for (const run of runs) await run.result();
  await fleet.drain();
  await traces.stop();
  const spans = exporter.getFinishedSpans();
  const waits = spans.filter(({ name }) => name === 'throttle.wait');
  expect(waits.map(({ attributes }) => attributes)).toEqual([{ 'fleetq.api': 'geo' }]);
  const above = spans.find(
    (span) => span.spanContext().spanId === waits[0]!.parentSpanContext?.spanId,
  );
  expect(above?.name).toBe('caller.main.work');
});

test('a line that tells of a phase names the span that it is traced as', async () => {
  const machine = defineMachine({
    name: 'logged',
    version: 1,
    input: z.object({}),
    check: () => undefined,
    work: ({ log }) => log.info('inside'),
  });
  const lines: { event?: string; phase?: string; span_id?: string }[] = [];
  const write = (fields: object) => lines.push(fields);
  const logger = { debug: write, info: write, warn: write, error: write };
  // Whoever writes lines begins before anybody traces, as a worker does.
  const stop = writeLogs(logger);
  const exporter = new tracing.InMemorySpanExporter();
  const spanProcessors = [new tracing.SimpleSpanProcessor(exporter)];
  const provider = new tracing.BasicTracerProvider({ spanProcessors });
  const traces = await startTracing({ provider });
  const dataDir = join(directory(), 'data');
  const fleet = await createFleet({ machines: [machine], dataDir, tracing: traces, socket: false });
  await (await fleet.startLocal(machine, {})).result();
  await traces.stop();
  await (await fleet.startLocal(machine, {})).result();
  await fleet.drain();
  stop();
  const spans = new Map(exporter.getFinishedSpans().map((span) => [span.name, span.spanContext()]));
  const [work, check] = ['work', 'check'].map((phase) => spans.get(`logged.main.${phase}`)?.spanId);
  const told = lines.filter(({ phase }) => phase !== undefined);
  expect(told.map(({ event, span_id }) => [event, span_id])).toEqual([
    ['phase.ended', check],
    ['log.said', work],
    ['phase.ended', work],
    ...['phase.ended', 'log.said', 'phase.ended'].map((event) => [event, undefined]),
  ]);
  expect(work).toMatch(/^[0-9a-f]{16}$/);
});
