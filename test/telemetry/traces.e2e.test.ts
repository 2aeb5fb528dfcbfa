/** Traces as somebody sees them who has only what arrived: real pods, killed, and a receiver apart. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runStorm } from '../../proof/traces/storm.ts';
import { judgeTraces } from '../../proof/traces/trace-judge.ts';
import type { RunId } from '../../src/ground/index.ts';
import { removeTree } from '../support/remove-tree.ts';
import { type Pod, type ReceivedSpan, Stage } from './stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

/** A task that stays in `work` until `go`, and what happens around that. */
async function begin(
  on: Stage,
  enqueue: (input: object) => Promise<RunId> = (input) => on.enqueue('stuck', input),
) {
  const [begun, go] = [join(on.directory, 'begun'), join(on.directory, 'go')];
  const id = await enqueue({ begun, go });
  const inWork = async () => {
    await on.until('work has begun', async () => existsSync(begun) || undefined);
    const pid = Number(readFileSync(begun, 'utf8'));
    rmSync(begun);
    return pid;
  };
  const finish = async () => {
    writeFileSync(go, '');
    await on.ended(id);
  };
  return { id, inWork, finish };
}

/** The trace of a run once its end has arrived, each span once, in the order they began. */
async function traceOf(on: Stage, id: RunId): Promise<ReceivedSpan[]> {
  return on.until(`the trace of ${id}`, async () => {
    const spans = await on.spans();
    const own = spans.filter(({ attributes }) => attributes['fleetq.run.id'] === id);
    if (!own.some(({ name }) => name.startsWith('end '))) return undefined;
    const trace = spans.filter(({ traceId }) => traceId === own[0]!.traceId);
    return [...new Map(trace.map((span) => [span.spanId, span])).values()].sort(
      (a, b) => a.startMs - b.startMs || a.endMs - b.endMs,
    );
  });
}

async function judge(on: Stage, id: RunId) {
  return judgeTraces(on.store, await on.store.find([id]), await on.spans());
}

const PRODUCER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a run whose pod is killed in work is one trace, with the attempt that nobody could end', async () => {
  stage = await Stage.open();
  const pods = await Promise.all(['alder', 'birch'].map((name) => stage!.worker(name)));
  const run = await begin(stage, async (input) => {
    const args = ['enqueue', 'stuck', '--trace-parent', PRODUCER, '--input'];
    return (await stage!.run([...args, JSON.stringify(input)])) as RunId;
  });
  const pid = await run.inWork();
  const [victim, heir] = pods[0]!.child.pid === pid ? pods : ([...pods].reverse() as Pod[]);
  // What the handler has traced is out, and the attempt that it is below is not.
  const before = await stage.until('the call is told', async () => {
    const spans = await stage!.spans();
    return spans.some(({ name }) => name === 'call') ? spans : undefined;
  });
  victim!.child.kill('SIGKILL');
  expect(await run.inWork()).toBe(heir!.child.pid);
  await run.finish();
  const trace = await traceOf(stage, run.id);
  expect(await judge(stage, run.id)).toMatchObject({ wrong: [], crashed: 1 });

  const one = (name: string, pod = heir!.id) =>
    trace.find((span) => span.name === name && span.attributes['fleetq.pod'] === pod)!;
  const anchor = trace.find(({ name }) => name === 'run stuck')!;
  const crashed = one('stuck.main.work', victim!.id);
  const [probe, resumed] = [one('stuck.main.probe'), one('stuck.main.work')];
  expect(before.map(({ spanId }) => spanId)).not.toContain(crashed.spanId);
  expect(crashed).toMatchObject({
    parentSpanId: anchor.spanId,
    isError: true,
    attributes: { 'fleetq.outcome': 'crashed', 'error.type': 'pod_lost', 'fleetq.attempt': 1 },
    links: [{ traceId: anchor.traceId, spanId: probe.spanId, why: 'resumed by' }],
  });
  expect(probe.links).toEqual([
    { traceId: anchor.traceId, spanId: crashed.spanId, why: 'resumes' },
  ]);
  expect(resumed).toMatchObject({ isError: false, parentSpanId: anchor.spanId });
  expect(resumed.attributes).toMatchObject({ 'fleetq.outcome': 'done', 'fleetq.attempt': 2 });
  // It ended at its last sign of life: before whoever took it over began, and not when that began.
  expect(crashed.endMs).toBeGreaterThan(crashed.startMs);
  expect(crashed.endMs).toBeLessThan(probe.startMs);
  // What a handler traced is below its attempt, also of the one that was cut off.
  const calls = trace.filter(({ name }) => name === 'call').map(({ parentSpanId }) => parentSpanId);
  expect(calls.sort()).toEqual([crashed.spanId, resumed.spanId].sort());
  // Whoever wanted it is linked, by the span in which it was enqueued.
  const spans = await stage.spans();
  const enqueued = spans.find(({ name }) => name === 'enqueue stuck')!;
  expect(enqueued).toMatchObject({ parentSpanId: PRODUCER.slice(36, 52), kind: 4 });
  expect(anchor.links[0]).toMatchObject({ spanId: enqueued.spanId, why: 'producer' });
  const sweep = spans.find(
    ({ name, links }) => name === 'recovery/sweep.main.work' && links.length,
  );
  expect(sweep?.links[0]).toMatchObject({ traceId: anchor.traceId, spanId: anchor.spanId });
});

test('a pod that comes back on its own disk tells what it had no time to', async () => {
  // Nothing leaves the process by itself: all there is was told by the one after it.
  stage = await Stage.open({ FLEETQ_SILENCE: '20s' });
  const slow = { OTEL_BSP_SCHEDULE_DELAY: '60000' };
  const first = await stage.worker('alder', slow);
  const task = await stage.enqueue('errand', { n: 1 });
  await stage.ended(task);
  const local = ['start', 'errand', '--input', '{"n":3}', '--wait', '--json', '--data-dir'];
  const dir = join(stage.directory, 'alder');
  const { id } = JSON.parse(await stage.run([...local, dir])) as { id: RunId };
  const run = await begin(stage);
  await run.inWork();
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await stage.spans()).toEqual([]);
  const second = await stage.worker('alder');
  await run.inWork();
  await run.finish();
  const trace = await traceOf(stage, run.id);
  const crashed = trace.filter(({ attributes }) => attributes['fleetq.outcome'] === 'crashed');
  expect(crashed.map((span) => span.attributes['fleetq.pod'])).toEqual([first.id]);
  const names = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name);
  const line = ['run', 'main.check', 'main.work', 'main.validate', 'main.persist', 'end'];
  const spelled = line.map((name) => (name.includes('.') ? `errand.${name}` : `${name} errand`));
  expect(names(await traceOf(stage, task)).sort()).toEqual([...spelled].sort());
  const again = ['errand.main.work', 'errand.main.probe'];
  expect(names(await traceOf(stage, id)).sort()).toEqual([...spelled, ...again].sort());
  second.child.kill('SIGTERM');
  await second.ended;
  const spans = await stage.spans();
  const adopt = spans.find(({ name }) => name === 'adopt');
  expect(adopt?.links.map(({ traceId }) => traceId)).toContain(trace[0]!.traceId);
  expect(names(spans)).toContain('drain');
});

test('a trace is there from the start of its run, and whoever starts it again says the very same', async () => {
  // Nothing of it gets to the store before it is killed, and its disk is lost with it.
  stage = await Stage.open();
  const first = await stage.worker('alder', { FLEETQ_ARCHIVE: '10m' });
  const run = await begin(stage, async (input) => {
    const args = ['enqueue', 'stuck', '--trace-parent', PRODUCER, '--input'];
    return (await stage!.run([...args, JSON.stringify(input)])) as RunId;
  });
  await run.inWork();
  const anchors = async () => (await stage!.spans()).filter(({ name }) => name === 'run stuck');
  const [early] = await stage.until('its first span', async () => {
    const found = await anchors();
    return found.length > 0 ? found : undefined;
  });
  const [row] = await stage.store.find([run.id]);
  expect(row).toMatchObject({ status: 'claimed', lastSeq: -1 });
  expect(await stage.store.histories([{ task: run.id, generation: 1 }])).toEqual([]);
  first.child.kill('SIGKILL');
  await first.ended;
  removeTree(join(stage.directory, 'alder'));
  await stage.worker('birch');
  await run.inWork();
  await run.finish();
  await traceOf(stage, run.id);
  const [, ...late] = await anchors();
  expect(late.length, 'the next one has started it anew').toBeGreaterThan(0);
  for (const each of late) expect({ ...each, resource: {} }).toEqual({ ...early, resource: {} });
  expect(early!.startMs, 'when it was wanted').toBeLessThanOrEqual(row!.createdAt);
  expect(early!.links).toMatchObject([{ why: 'producer' }]);
  expect(await judge(stage, run.id)).toMatchObject({ wrong: [], lost: 1 });
});

test('runs over pods that are killed have one trace each, and no span is missing or astray', async () => {
  const report = await runStorm({ runs: 80, pods: 3, kills: 2, seed: 5, secondsMax: 60 });
  expect(report).toMatchObject({ wrong: [], runs: 80, kills: 2 });
  expect(report.attempts).toBeGreaterThan(300);
});

test('a secret in payload, errors and headers is in no span', async () => {
  const canary = 'canary-4f1d7c2a9b';
  stage = await Stage.open({ OTEL_EXPORTER_OTLP_HEADERS: `x-key=${canary}` });
  const store = stage.storeUrl;
  const pod = await stage.worker('alder', { SECRET: canary });
  const input = JSON.stringify({ secret: canary });
  const args = ['enqueue', 'telltale', '--input', input, '--key', canary, '--store', store];
  const id = (await stage.run(args, { TRACESTATE: `a=${canary}`, BAGGAGE: canary })) as RunId;
  const trace = await traceOf(stage, id);
  expect(trace.map(({ attributes }) => attributes['error.type'])).toContain('Error');
  expect(trace.map(({ attributes }) => attributes['error.type'])).toContain('_OTHER');
  pod.child.kill('SIGTERM');
  await pod.ended;
  const raw = (await stage.raw()).toString('latin1');
  expect(raw).toContain('telltale');
  expect(raw.split(canary).length - 1).toBe(0);
});

test('a receiver that is not there costs a pod nothing but a moment at its end', async () => {
  stage = await Stage.open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const pod = await stage.worker('alder');
  // A context that makes no sense, as a plain INSERT may have it, is let be.
  await stage.ended(await stage.enqueue('errand', { n: 1 }, 'nonsense'));
  const begun = Date.now();
  pod.child.kill('SIGTERM');
  expect(await pod.ended).toEqual([0, null]);
  expect(Date.now() - begun).toBeLessThan(8_000);
});

test('spans go out as protobuf where nothing else is said', async () => {
  stage = await Stage.open({ OTEL_EXPORTER_OTLP_PROTOCOL: '' });
  const pod = await stage.worker('alder');
  const id = await stage.enqueue('errand', { n: 1 });
  await stage.ended(id);
  pod.child.kill('SIGTERM');
  await pod.ended;
  expect(await stage.spans()).toEqual([]);
  expect((await stage.raw()).toString('latin1')).toContain(id);
});
