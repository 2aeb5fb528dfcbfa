/** What is shown of APIs that are called: by their names, as long as there are not too many. */
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { defineMachine, defineThrottle, type Fleet } from '../../src/index.ts';
import { openMetrics } from '../../src/telemetry/metrics/index.ts';
import { countThrottles } from '../../src/telemetry/metrics/throttle-metrics.ts';
import { Throttles } from '../../src/throttle/index.ts';
import { CountingApi } from '../fleet/counting-api.ts';
import { anyInput, useTestFleets } from '../fleet/support.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { figureOf, samplesOf } from './samples.ts';

const { startFleet } = useTestFleets();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function metricsOf(fleet: Fleet) {
  const metrics = openMetrics({ fleet: () => fleet });
  stops.push(() => metrics.stop());
  return async () => samplesOf((await metrics.text()).text);
}

test('calls, waits, refusals and limits of an API are counted by its name', async () => {
  const { clock, startPod } = startFleet();
  const api = new CountingApi(clock, 2);
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('llm', api.call),
  });
  const throttles = [defineThrottle('llm', { adaptive: true })];
  const { fleet } = await startPod('alder', { machines: [machine], throttles, slots: 40 });
  const ask = metricsOf(fleet);
  await clock.advance(3_000);
  for (let count = 0; count < 30; count++) await fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const during = await ask();
  const of = { api: 'llm' };
  expect(figureOf(during, 'fleetq_throttle_waiting', of)).toBeGreaterThan(0);
  expect(figureOf(during, 'fleetq_throttle_in_flight', of)).toBeLessThanOrEqual(
    figureOf(during, 'fleetq_throttle_limit', of)!,
  );
  await clock.advance(120_000);
  const after = await ask();
  const calls = (outcome: string) =>
    figureOf(after, 'fleetq_throttle_calls_total', { api: 'llm', outcome });
  expect([calls('ok'), calls('throttled')]).toEqual([30, api.refused]);
  expect([calls('client'), calls('timeout')], 'are there').toEqual([0, 0]);
  expect(figureOf(after, 'fleetq_throttle_wait_seconds_count', of)).toBeGreaterThan(0);
  const p50 = { api: 'llm', quantile: '0.5' };
  expect(figureOf(after, 'fleetq_throttle_latency_seconds', p50)).toBeGreaterThan(0);
  expect(figureOf(after, 'fleetq_throttle_fleet_limit', of)).toBeGreaterThan(0);
  expect(figureOf(after, 'fleetq_throttle_open', of)).toBe(0);
  expect(figureOf(after, 'fleetq_throttle_paused_seconds', of)).toBe(0);
});

test('the first hundred names are labels, and whatever comes later is one, whoever names them', async () => {
  const { startPod } = startFleet();
  const { fleet } = await startPod('alder', { machines: [] });
  const ask = metricsOf(fleet);
  for (let count = 0; count < 130; count++) {
    await fleet.throttle(`api-${count}`).use(() => 1);
    if (count % 40 === 0) await ask();
  }
  const shown = await ask();
  for (const name of ['fleetq_throttle_limit', 'fleetq_throttle_latency_seconds']) {
    const apis = new Set(shown.filter((one) => one.name === name).map(({ labels }) => labels.api));
    expect(apis.size, name).toBe(name.endsWith('limit') ? 101 : 100);
  }
  const calls = { outcome: 'ok' };
  const name = 'fleetq_throttle_calls_total';
  expect(figureOf(shown, name, { api: 'other', ...calls })).toBe(30);
  expect(figureOf(await ask(), name, { api: 'other', ...calls }), 'and not again').toBe(30);
  expect(figureOf(shown, name, { api: 'api-99', ...calls })).toBe(1);
});

test('what was counted of APIs that were forgotten since stays counted', async () => {
  const clock = new FakeClock();
  const all = new Throttles({ clock, random: seededRandom(1) });
  const registry = new Registry();
  const throttles = () => all.snapshots();
  stops.push(countThrottles(registry, { throttles, isLeader: () => false }));
  const ask = async () => samplesOf(await registry.metrics());
  const call = (api: string) =>
    all.of(api, { isRetry: false, refusals: 0 }).tryAcquire()!.release('ok');
  const other = async () =>
    figureOf(await ask(), 'fleetq_throttle_calls_total', { api: 'other', outcome: 'ok' });
  for (let count = 0; count < 350; count++) call(`api-${count}`);
  expect(await other()).toBe(250);
  await clock.advance(3_700_000);
  call('one-more');
  expect(all.snapshots()).toHaveLength(1);
  expect(await other()).toBe(250);
  call('one-more');
  expect(await other()).toBe(251);
});
