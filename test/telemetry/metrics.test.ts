/** Metrics: counted from named events, looked up when somebody asks, and true of what happened. */
import { afterEach, describe, expect, test } from 'vitest';
import { defineMachine, type Fleet, retryAfter } from '../../src/index.ts';
import { tell } from '../../src/telemetry/events.ts';
import { HistogramCell } from '../../src/telemetry/metrics/cells.ts';
import { wantsOpenMetrics } from '../../src/telemetry/metrics/formats.ts';
import { openMetrics, type Source } from '../../src/telemetry/metrics/index.ts';
import { Island } from '../../src/telemetry/metrics/island.ts';
import { anyInput, SILENT_MS, STEADY_MS, useTestFleets, whileAdvancing } from '../fleet/support.ts';
import { alertRules } from './alert-files.ts';
import { figureOf, samplesOf } from './samples.ts';

const { startFleet } = useTestFleets();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
const CENSUS_MS = 16_000;

function metricsOf(fleet: () => Source | undefined, clock: ReturnType<typeof startFleet>['clock']) {
  const metrics = openMetrics({ fleet, clock });
  stops.push(() => metrics.stop());
  const ask = async (accept?: string) => samplesOf((await metrics.text(accept)).text);
  return { metrics, ask };
}

const calm = defineMachine({
  name: 'calm',
  version: 1,
  input: anyInput,
  check: 'none',
  work: () => ({ done: true }),
});
/** Fails once, asks for a later time once, and then gives up. */
const troubled = defineMachine({
  name: 'troubled',
  version: 1,
  input: anyInput,
  retry: { attemptMax: 2 },
  check: 'none',
  work: ({ attempt }) => {
    if (attempt === 1) throw new Error('not yet');
    throw new Error('never');
  },
});
const patient = defineMachine({
  name: 'patient',
  version: 1,
  input: anyInput,
  check: 'none',
  work: ({ idempotencyKey }) => {
    if (asked.has(idempotencyKey)) return {};
    asked.add(idempotencyKey);
    throw retryAfter('100ms', 'busy');
  },
});
const asked = new Set<string>();

describe('runs and phases', () => {
  test('are counted by machine, step, phase and outcome, and each duration falls into a bucket', async () => {
    const { clock, startPod } = startFleet();
    let fleet: Fleet | undefined;
    const { ask } = metricsOf(() => fleet, clock);
    const pod = await startPod('alder', { machines: [calm, troubled, patient] });
    fleet = pod.fleet;
    const tasks = [
      await fleet.enqueue(calm, {}),
      await fleet.enqueue(calm, {}),
      await fleet.enqueue(troubled, {}),
      await fleet.enqueue(patient, {}),
    ];
    const all = Promise.allSettled(tasks.map((task) => task.result()));
    await whileAdvancing(clock, all);
    const text = await ask();
    const value = (name: string, labels: object = {}) => figureOf(text, name, labels);
    expect(value('fleetq_runs_enqueued_total', { machine: 'calm' })).toBe(2);
    expect(value('fleetq_runs_started_total', { machine: 'calm' })).toBe(2);
    expect(value('fleetq_runs_finished_total', { machine: 'calm', outcome: 'completed' })).toBe(2);
    expect(value('fleetq_tasks_claimed_total')).toBe(4);
    expect(value('fleetq_tasks_settled_total', { to: 'completed' })).toBe(3);
    expect(value('fleetq_tasks_settled_total', { to: 'failed' })).toBe(1);
    const work = { machine: 'troubled', step: 'main', phase: 'work' };
    expect(value('fleetq_phases_total', { ...work, outcome: 'retried' })).toBe(1);
    expect(value('fleetq_phases_total', { ...work, outcome: 'exhausted' })).toBe(1);
    expect(value('fleetq_retries_total', { ...work, cause: 'threw' })).toBe(1);
    const postponed = { machine: 'patient', step: 'main', phase: 'work', cause: 'postponed' };
    expect(value('fleetq_retries_total', postponed)).toBe(1);
    const dead = { machine: 'troubled', outcome: 'exhausted' };
    expect(value('fleetq_dead_letters_total', dead)).toBe(1);
    expect(value('fleetq_dead_letters_total', { ...dead, machine: 'calm' }), 'is there').toBe(0);
    expect(value('fleetq_phase_duration_seconds_count', work)).toBe(2);
    expect(value('fleetq_phase_duration_seconds_bucket', { ...work, le: '+Inf' })).toBe(2);
    expect(value('fleetq_run_duration_seconds_count', dead)).toBe(1);
    expect(value('fleetq_run_queue_seconds_count', { machine: 'calm' })).toBe(2);
    expect(value('fleetq_claims_total', { result: 'claimed' })).toBeGreaterThan(0);
    expect(value('fleetq_claim_batch_size_count')).toBeGreaterThan(0);
    expect(value('fleetq_journal_commits_total')).toBeGreaterThan(0);
    expect(value('fleetq_journal_append_seconds_count')).toBe(
      value('fleetq_journal_fsync_seconds_count'),
    );
    expect(value('fleetq_journal_bytes')).toBeGreaterThan(0);
    expect(value('fleetq_journal_disk_free_bytes')).toBeGreaterThan(0);
    expect(value('fleetq_store_duration_seconds_count', { call: 'claim' })).toBeGreaterThan(0);
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(text.filter(({ name }) => name === 'fleetq_build_info')).toHaveLength(1);
  });

  test('ends of registered machines are shown before there are any, so that the first is a rise', async () => {
    const { clock, startPod } = startFleet();
    let fleet: Fleet | undefined;
    const { ask } = metricsOf(() => fleet, clock);
    fleet = (await startPod('alder', { machines: [troubled] })).fleet;
    const ends = async (name: string) =>
      (await ask())
        .filter((sample) => sample.name === name && sample.labels['machine'] === 'troubled')
        .map(({ labels, value }) => [labels['outcome'], value]);
    const failed = [
      ['exhausted', 0],
      ['aborted', 0],
      ['timedOut', 0],
    ];
    expect(await ends('fleetq_dead_letters_total')).toEqual(failed);
    const well = [
      ['completed', 0],
      ['handedOff', 0],
      ['cancelled', 0],
    ];
    expect(await ends('fleetq_runs_finished_total')).toEqual([...well, ...failed]);
  });

  test('a value falls into the first bucket that holds it, and nothing is shorter than nothing', () => {
    const cell = new HistogramCell({}, [1, 2, 5]);
    expect([0, 1, 1.5, 5, 6, -3, Number.NaN].map((value) => cell.observe(value))).toEqual([
      0, 0, 1, 2, 3, 0, 0,
    ]);
    expect(cell).toMatchObject({ count: 7, sum: 13.5 });
  });
});

describe('the pod among pods', () => {
  test('a pod whose journal cannot be written is not ready, as its probe says', async () => {
    const { clock, startPod } = startFleet();
    const { fleet } = await startPod('alder', { machines: [calm] });
    let stalledBy: string | undefined;
    const source = {
      machines: fleet.machines,
      get status() {
        return { ...fleet.status, stalledBy };
      },
    };
    const { ask } = metricsOf(() => source, clock);
    expect(figureOf(await ask(), 'fleetq_pod_ready')).toBe(1);
    stalledBy = 'the disk is full';
    expect(figureOf(await ask(), 'fleetq_pod_ready')).toBe(0);
    expect(figureOf(await ask(), 'fleetq_journal_stalled')).toBe(1);
  });

  test('a worker that waits for a rival is not ready and shows its alarms until it is open', async () => {
    const { clock, startPod } = startFleet();
    let fleet: Fleet | undefined;
    let why: string | undefined = 'starting';
    const metrics = openMetrics({ fleet: () => fleet, whyNotReady: () => why, clock });
    stops.push(() => metrics.stop());
    const ask = async () => samplesOf((await metrics.text()).text);
    expect(figureOf(await ask(), 'fleetq_pod_ready')).toBe(0);
    expect(figureOf(await ask(), 'fleetq_journal_alarms')).toBe(0);
    tell('journal.alarm', () => ({ kind: 'elsewhere', message: 'pod birch has this journal' }));
    expect(figureOf(await ask(), 'fleetq_journal_alarms')).toBe(1);
    fleet = (await startPod('alder', { machines: [calm] })).fleet;
    why = undefined;
    expect(figureOf(await ask(), 'fleetq_pod_ready')).toBe(1);
    expect(figureOf(await ask(), 'fleetq_journal_alarms')).toBe(0);
  });

  test('only the leader shows the fleet, and a leader that nobody hears shows it no more', async () => {
    const { clock, startPod } = startFleet();
    const machines = [calm];
    const first = await startPod('alder', { machines });
    const second = await startPod('birch', { machines });
    const leader = metricsOf(() => first.fleet, clock);
    const other = metricsOf(() => second.fleet, clock);
    await first.fleet.enqueue(calm, {}, { runAt: '1h' });
    await clock.advance(CENSUS_MS);
    const text = await leader.ask();
    expect(figureOf(text, 'fleetq_leader')).toBe(1);
    expect(figureOf(text, 'fleetq_queue_depth', { machine: 'calm', status: 'waiting' })).toBe(1);
    expect(figureOf(text, 'fleetq_tasks_waiting', { reason: 'time' })).toBe(1);
    expect(figureOf(text, 'fleetq_pods', { status: 'up' })).toBe(2);
    expect(figureOf(text, 'fleetq_dead_letters', { machine: 'calm' })).toBe(0);
    expect(figureOf(text, 'fleetq_orphans')).toBe(0);
    expect(figureOf(text, 'fleetq_fleet_sample_age_seconds')).toBeLessThan(16);
    const fromOther = await other.ask();
    expect(figureOf(fromOther, 'fleetq_leader')).toBe(0);
    for (const name of ['fleetq_queue_depth', 'fleetq_pods', 'fleetq_orphans']) {
      expect(fromOther.filter((sample) => sample.name === name)).toEqual([]);
    }
    first.wire.isCut = true;
    await clock.advance(SILENT_MS);
    const cutOff = await leader.ask();
    expect(figureOf(cutOff, 'fleetq_leader')).toBe(0);
    expect(cutOff.filter(({ name }) => name === 'fleetq_queue_depth')).toEqual([]);
    expect(figureOf(cutOff, 'fleetq_store_errors_total', { call: 'beat', code: 'unreachable' }))
      // It tries three times as often while it is not heard.
      .toBeGreaterThan(3);
    await clock.advance(SILENT_MS);
    expect(figureOf(await other.ask(), 'fleetq_leader')).toBe(1);
    await clock.advance(CENSUS_MS);
    const depth = { machine: 'calm', status: 'waiting' };
    expect(figureOf(await other.ask(), 'fleetq_queue_depth', depth)).toBe(1);
  });

  test('time without the store past the deadline is counted while it goes on, and no longer', async () => {
    const { clock, startPod } = startFleet();
    const pod = await startPod('alder', { machines: [calm] });
    const { ask } = metricsOf(() => pod.fleet, clock);
    await clock.advance(3_000);
    expect(figureOf(await ask(), 'fleetq_island_seconds_total')).toBe(0);
    pod.wire.isCut = true;
    await clock.advance(SILENT_MS);
    const onIsland = figureOf(await ask(), 'fleetq_island_seconds_total')!;
    expect(onIsland).toBeGreaterThan(0);
    expect(figureOf(await ask(), 'fleetq_heartbeat_lag_seconds')).toBeGreaterThanOrEqual(5);
    expect(figureOf(await ask(), 'fleetq_alone_seconds')).toBeCloseTo(onIsland, 1);
    await clock.advance(2_000);
    expect(figureOf(await ask(), 'fleetq_island_seconds_total')).toBeCloseTo(onIsland + 2, 1);
    pod.wire.isCut = false;
    await clock.advance(3_000);
    const after = figureOf(await ask(), 'fleetq_island_seconds_total')!;
    await clock.advance(3_000);
    expect(figureOf(await ask(), 'fleetq_island_seconds_total')).toBe(after);
    expect(figureOf(await ask(), 'fleetq_alone_seconds')).toBe(0);
    expect(figureOf(await ask(), 'fleetq_heartbeat_lag_seconds')).toBeLessThanOrEqual(1);
  });

  test('a pod that cannot join is alone until a heartbeat of it is taken', async () => {
    const { clock } = startFleet();
    const { ask } = metricsOf(() => undefined, clock);
    const alone = async () => figureOf(await ask(), 'fleetq_alone_seconds');
    const error = { name: 'Error', message: 'away' };
    tell('store.failed', () => ({ what: 'claim', error }));
    await clock.advance(1_000);
    expect(await alone()).toBe(0);
    for (const what of ['join', 'register', 'register']) {
      tell('store.failed', () => ({ what, error }));
      await clock.advance(2_000);
    }
    expect(await alone()).toBe(6);
    const sentMs = clock.monotonicMs();
    const beat = { result: 'taken', sentMs, heardMs: sentMs, deadlineMs: sentMs + 5_000 } as const;
    tell('pod.beat', () => ({ pod: 'alder', failure: undefined, ...beat }));
    await clock.advance(1_000);
    expect(await alone()).toBe(0);
    expect(figureOf(await ask(), 'fleetq_island_seconds_total')).toBe(6);
  });

  test('an island is never taken back, and ends with the answer that comes', () => {
    const island = new Island();
    const beat = { result: 'taken', sentMs: 0, heardMs: 10, deadlineMs: 100 } as const;
    island.hear(beat);
    expect(island.secondsAt(90)).toBe(0);
    expect(island.secondsAt(1_100)).toBe(1);
    island.hear({ ...beat, sentMs: 1_000, heardMs: 1_050, deadlineMs: 2_000 });
    expect(island.secondsAt(1_200)).toBe(1);
    island.hear({
      ...beat,
      result: 'refused',
      sentMs: 2_900,
      heardMs: 3_000,
      deadlineMs: undefined,
    });
    expect(island.secondsAt(9_000)).toBeCloseTo(1.95, 5);
    expect(island.lagMsAt(9_000)).toBeUndefined();
  });

  test('the death of a pod is told by the leader: when it was declared, and what was taken from it', async () => {
    const { clock, startPod } = startFleet();
    const slow = defineMachine({
      name: 'slow',
      version: 1,
      input: anyInput,
      check: 'none',
      work: ({ signal }) =>
        new Promise<null>((_, reject) => signal.addEventListener('abort', reject)),
    });
    const leader = await startPod('alder', { machines: [calm] });
    const victim = await startPod('birch', { machines: [slow] });
    const { ask } = metricsOf(() => leader.fleet, clock);
    await clock.advance(STEADY_MS);
    await victim.fleet.enqueue(slow, {});
    await clock.advance(1_000);
    victim.crash();
    await clock.advance(3 * SILENT_MS);
    const text = await ask();
    expect(figureOf(text, 'fleetq_death_detection_seconds_count')).toBe(1);
    const seconds = figureOf(text, 'fleetq_death_detection_seconds_sum')!;
    expect(seconds).toBeGreaterThanOrEqual(SILENT_MS / 1_000);
    expect(seconds).toBeLessThan(SILENT_MS / 1_000 + 3);
    expect(figureOf(text, 'fleetq_sweep_recovered_total', { reason: 'silent' })).toBe(1);
    expect(figureOf(text, 'fleetq_sweeps_total')).toBeGreaterThanOrEqual(1);
    expect(figureOf(text, 'fleetq_leader_changes_total'), 'before anybody counted').toBe(0);
  });

  test('a pod that cannot archive comes to what the alert waits for, with one run and by the defaults', async () => {
    const { clock, startPod } = startFleet();
    const held = defineMachine({
      ...{ name: 'held', version: 1, input: anyInput, check: 'none' },
      work: ({ signal }) =>
        new Promise<null>((_, reject) => signal.addEventListener('abort', reject)),
    });
    const pod = await startPod('alder', { machines: [held], archive: '5s', slots: 64 });
    const { ask } = metricsOf(() => pod.fleet, clock);
    const lag = async () => figureOf(await ask(), 'fleetq_archive_lag_seconds')!;
    const { expr } = alertRules().find(({ alert }) => alert === 'FleetqArchiveBehind')!;
    const seconds = Number(/fleetq_archive_lag_seconds\) > (\d+)$/.exec(expr)![1]);
    await pod.fleet.enqueue(held, {});
    await clock.advance(30_000);
    expect(await lag(), 'all is well').toBeLessThan(10);
    pod.wire.isBusyFor.set('archive', 1_000_000);
    await pod.fleet.enqueue(held, {});
    // The rule wants it for two minutes on end.
    await clock.advance((seconds + 10) * 1_000);
    for (let minute = 0; minute <= 2; minute++) {
      expect(await lag()).toBeGreaterThan(seconds);
      await clock.advance(60_000);
    }
    expect(figureOf(await ask(), 'fleetq_archive_pending_events')).toBeLessThan(100);
    pod.wire.isBusyFor.clear();
    await clock.advance(10_000);
    expect(await lag()).toBeLessThan(10);
  });

  test('a drain is seen while it goes on, and timed', async () => {
    const { clock, startPod } = startFleet();
    const pod = await startPod('alder', { machines: [calm] });
    const { ask } = metricsOf(() => pod.fleet, clock);
    expect(figureOf(await ask(), 'fleetq_draining')).toBe(0);
    const drained = pod.fleet.drain();
    expect(figureOf(await ask(), 'fleetq_draining')).toBe(1);
    await whileAdvancing(clock, drained);
    const text = await ask();
    expect(figureOf(text, 'fleetq_draining')).toBe(0);
    expect(figureOf(text, 'fleetq_drain_seconds_count')).toBe(1);
  });
});

describe('the two formats', () => {
  test.each([
    [undefined, false],
    ['*/*', false],
    ['text/plain', false],
    ['application/openmetrics-text; version=1.0.0', true],
    ['application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.9', false],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      true,
    ],
    ['application/openmetrics-text;q=0', false],
  ])('%s is answered by OpenMetrics: %s', (accept, wants) => {
    expect(wantsOpenMetrics(accept)).toBe(wants);
  });

  test('hold the same figures, whichever is asked for first, and OpenMetrics has exemplars', async () => {
    const { clock, startPod } = startFleet();
    const pod = await startPod('alder', { machines: [calm] });
    const { metrics } = metricsOf(() => pod.fleet, clock);
    const OPEN = 'application/openmetrics-text';
    await metrics.text(OPEN);
    const task = await pod.fleet.enqueue(calm, {});
    await whileAdvancing(clock, task.result());
    const open = await metrics.text(OPEN);
    const plain = await metrics.text();
    expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(plain.type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(open.text).toMatch(/^# TYPE fleetq_runs_started counter$/m);
    expect(plain.text).toMatch(/^# TYPE fleetq_runs_started_total counter$/m);
    expect(open.text.endsWith('\n# EOF\n')).toBe(true);
    const trace =
      /fleetq_phase_duration_seconds_bucket\{[^}]*machine="calm"[^}]*\} 1 # \{trace_id="([0-9a-f]{32})"\} \S+ \d/;
    expect(open.text).toMatch(trace);
    expect(plain.text).not.toContain('trace_id');
    for (const text of [open.text, plain.text]) {
      expect(text).toMatch(/^fleetq_runs_started_total\{machine="calm"\} 1$/m);
      expect(text).not.toContain(task.id);
    }
    const names = (text: string) =>
      new Set(
        samplesOf(text)
          .map(({ name }) => name)
          .filter((name) => name.startsWith('fleetq_')),
      );
    expect(names(open.text)).toEqual(names(plain.text));
  });

  test('a machine that nobody has defined is `other`, however a row calls it', async () => {
    const { clock, startPod, tables } = startFleet();
    const pod = await startPod('alder', { machines: [calm] });
    const { metrics } = metricsOf(() => pod.fleet, clock);
    const machine = 'secret/of-a-row';
    tables.insert({ machine, status: 'failed', error: '{}', finishedAt: clock.now() });
    await clock.advance(CENSUS_MS);
    const { text } = await metrics.text();
    expect(figureOf(samplesOf(text), 'fleetq_dead_letters', { machine: 'other' })).toBe(1);
    expect(text).not.toContain('secret');
  });
});
