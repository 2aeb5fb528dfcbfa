/** Runs that call scarce APIs: what a refusal costs them, how they wait, and how they leave. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle, type StepContext } from '../../src/index.ts';
import { anyInput, gate, kinds, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const refusal = (of: object = {}) => Object.assign(new Error('busy'), { status: 429 }, of);

test('a call that the API had no room for costs no attempt, however often', async () => {
  let calls = 0;
  const attempts: number[] = [];
  const machine = defineMachine({
    ...head,
    name: 'refused',
    retry: { attemptMax: 1 },
    work: ({ use, attempt }) =>
      use('llm', () => {
        attempts.push(attempt);
        if (++calls < 6) throw refusal();
        return 'done';
      }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('5m');
  expect(await run.result()).toBe('done');
  expect(attempts).toEqual([1, 1, 1, 1, 1, 1]);
  expect(kinds(fleet, run.id).filter((kind) => kind === 'POSTPONED')).toHaveLength(5);
  expect(kinds(fleet, run.id)).not.toContain('FAILED');
});

test('so does one whose error was wrapped, while a failure of the API costs one', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'wrapped',
    retry: { attemptMax: 2, backoff: () => 0 },
    work: async ({ use }): Promise<string> => {
      calls++;
      const call = () => {
        throw calls === 1 ? refusal() : refusal({ status: 500 });
      };
      return use('llm', call).catch((cause) => {
        throw new Error('could not summarise', { cause });
      });
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('5m');
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'POSTPONED', 'FAILED', 'EXHAUSTED']);
});

test('Retry-After becomes a time before which the run does not call again', async () => {
  const times: number[] = [];
  const machine = defineMachine({
    ...head,
    name: 'told',
    work: ({ use }) =>
      use('llm', () => {
        times.push(clock.monotonicMs());
        if (times.length === 1) throw refusal({ headers: { 'retry-after': '120' } });
        return 1;
      }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('119s');
  expect(times).toHaveLength(1);
  expect(fleet.status.busy).toBe(0);
  await clock.advance('60s');
  expect(await run.result()).toBe(1);
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(120_000);
});

test('refusals do not go on beyond the deadline of the run', async () => {
  const machine = defineMachine({
    ...head,
    name: 'late',
    timeout: { run: '10m' },
    work: ({ use }): Promise<number> =>
      use('llm', () => {
        throw refusal();
      }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('9m');
  expect(fleet.describe(run.id).status).not.toBe('failed');
  await clock.advance('2m');
  await expect(run.result()).rejects.toMatchObject({ outcome: 'timedOut' });
});

/** One run holds the only permit until it is let go; the others do what they are told. */
function scarce(apis = 1) {
  const hold = gate();
  const order: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'scarce',
    retry: { attemptMax: 1 },
    work: ({ use, input, signal }) =>
      use(
        'geo',
        async () => {
          order.push(input.id ?? '');
          if (input.id === 'holder') await Promise.race([hold.opened, aborted(signal)]);
          return input.id ?? '';
        },
        { priority: input.id === 'high' ? 'high' : 'normal' },
      ),
  });
  const options = { machines: [machine], apis: { geo: apis } };
  return { hold, order, machine, options };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

test('a wait of more than five seconds gives the slot up, and costs no attempt', async () => {
  const { hold, machine, options } = scarce();
  const { fleet, clock } = await open(options);
  const holder = await fleet.startLocal(machine, { id: 'holder' });
  await clock.settle();
  const patient = await fleet.startLocal(machine, { id: 'patient' });
  await clock.settle();
  expect(fleet.status).toMatchObject({ busy: 2, waits: { throttle: 1 } });
  await clock.advance(5_050);
  expect(fleet.status).toMatchObject({ busy: 1, waits: { throttle: 0 } });
  expect(kinds(fleet, patient.id)).toEqual(['STARTED', 'POSTPONED']);
  hold.open();
  await clock.advance('5m');
  expect(await holder.result()).toBe('holder');
  expect(await patient.result()).toBe('patient');
});

test('who matters more goes first', async () => {
  const { hold, order, machine, options } = scarce();
  const { fleet, clock } = await open(options);
  for (const id of ['holder', 'one', 'two', 'high']) {
    await fleet.startLocal(machine, { id });
    await clock.settle();
  }
  hold.open();
  await clock.settle();
  expect(order).toEqual(['holder', 'high', 'one', 'two']);
});

test('in a drain nobody waits for a permit, and the next process goes on without an attempt lost', async () => {
  const { hold, machine, order, options } = scarce();
  const rig = await open(options);
  await rig.fleet.startLocal(machine, { id: 'holder' });
  await rig.clock.settle();
  const waiting = await rig.fleet.startLocal(machine, { id: 'waiting' });
  await rig.clock.settle();
  const drained = rig.fleet.drain({ budget: '10s' });
  await rig.clock.settle();
  expect(rig.fleet.status.waits.throttle).toBe(0);
  await rig.clock.advance('10s');
  expect(await drained).toMatchObject({ unfinished: 2 });
  hold.open();
  const next = await afterCrash(rig, options);
  await next.clock.advance('1m');
  expect(await next.fleet.run(machine, waiting.id).result()).toBe('waiting');
  expect(order).toContain('waiting');
});

test('as many wait as may; the next comes back later', async () => {
  const { hold, machine } = scarce();
  const throttles = [defineThrottle('geo', { limits: { inFlight: 1 }, waitingMax: 1 })];
  const { fleet, clock } = await open({ machines: [machine], throttles });
  const runs = [];
  for (const id of ['holder', 'first', 'second']) {
    runs.push(await fleet.startLocal(machine, { id }));
    await clock.settle();
  }
  expect(kinds(fleet, runs[2]!.id)).toEqual(['STARTED', 'POSTPONED']);
  expect(fleet.status.waits.throttle).toBe(1);
  hold.open();
  await clock.advance('2m');
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['holder', 'first', 'second']);
});

test('a permit can be had for what use is too simple for', async () => {
  const seen: unknown[] = [];
  const machine = defineMachine({
    ...head,
    name: 'by-hand',
    work: async ({ throttle }: StepContext<unknown, unknown>) => {
      const geo = throttle('geo');
      const permit = await geo.acquire({ priority: 'high' });
      seen.push(geo.tryAcquire(), geo.snapshot().inFlight);
      permit.release('ok');
      permit.release('throttled');
      {
        using other = geo.tryAcquire();
        seen.push(other !== undefined, geo.snapshot().inFlight);
      }
      seen.push(geo.snapshot().inFlight);
      return geo.snapshot().last10s.throttled;
    },
  });
  const { fleet, clock } = await open({ machines: [machine], apis: { geo: 1 } });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(await run.result()).toBe(0);
  expect(seen).toEqual([undefined, 1, true, 1, 0]);
  expect(fleet.throttle('geo').snapshot()).toMatchObject({ api: 'geo', limit: 1, inFlight: 0 });
});

test('a permit that a phase forgot is there again when it is over', async () => {
  const machine = defineMachine({
    ...head,
    name: 'forgetful',
    work: async ({ throttle }) => {
      await throttle('geo').acquire();
      return throttle('geo').snapshot().inFlight;
    },
  });
  const { fleet, clock } = await open({ machines: [machine], apis: { geo: 1 } });
  for (let count = 0; count < 3; count++) {
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    expect(await run.result()).toBe(1);
  }
  expect(fleet.throttle('geo').snapshot()).toMatchObject({ inFlight: 0, limit: 1 });
});

test('a call that does not end when it is told to holds its permit no longer than its phase', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'deaf',
    retry: { attemptMax: 2, backoff: () => 0 },
    timeout: { work: '10s' },
    work: ({ use }) => use('llm', () => (++calls === 1 ? new Promise<string>(() => {}) : 'done')),
  });
  const throttles = [defineThrottle('llm', { limits: { inFlight: 1 } })];
  const { fleet, clock } = await open({ machines: [machine], throttles });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('12s');
  expect(fleet.throttle('llm').snapshot().inFlight).toBe(1);
  await clock.advance('1m');
  expect(fleet.throttle('llm').snapshot()).toMatchObject({ inFlight: 0, ended: { timeout: 1 } });
  expect(await run.result()).toBe('done');
});

test('a permit that a phase did not wait for is not given to it when it is over', async () => {
  const refusals: unknown[] = [];
  const machine = defineMachine({
    ...head,
    name: 'hasty',
    work: ({ throttle }) => {
      throttle('llm')
        .acquire()
        .catch((error) => refusals.push(error));
      return 'gone';
    },
  });
  const throttles = [defineThrottle('llm', { limits: { inFlight: 1 } })];
  const { fleet, clock } = await open({ machines: [machine], throttles });
  const holding = fleet.throttle('llm').tryAcquire()!;
  const run = await fleet.startLocal(machine, {});
  await clock.advance('1s');
  expect(await run.result()).toBe('gone');
  holding.release();
  await clock.advance('1s');
  expect(refusals).toMatchObject([{ code: 'FLEETQ_PERMIT_ABORTED' }]);
  expect(fleet.throttle('llm').snapshot().inFlight).toBe(0);
});

test('how long leave to call took is told, where it took any time', async () => {
  const told = hear('throttle.waited');
  const { hold, machine, options } = scarce();
  const { fleet, clock } = await open(options);
  await fleet.startLocal(machine, { id: 'holder' });
  await clock.settle();
  await fleet.startLocal(machine, { id: 'next' });
  await clock.advance('2s');
  hold.open();
  await clock.settle();
  expect(told).toMatchObject([{ api: 'geo', elapsedMs: 2_000 }]);
});

test('so is a wait that was in vain', async () => {
  const told = hear('throttle.waited');
  const { machine, options } = scarce();
  const { fleet, clock } = await open(options);
  await fleet.startLocal(machine, { id: 'holder' });
  await clock.settle();
  await fleet.startLocal(machine, { id: 'next' });
  await clock.advance('6s');
  expect(told).toMatchObject([{ api: 'geo', elapsedMs: 5_000 }]);
});

test('two definitions of one API are refused, and what is wrong with one is said', async () => {
  const { machine } = scarce();
  const throttles = [defineThrottle('geo', {})];
  await expect(open({ machines: [machine], apis: { geo: 1 }, throttles })).rejects.toThrow(
    /throttle "geo": its name must be defined once/,
  );
  expect(() => defineThrottle('', {})).toThrow(/its name must be text of 1 to 200 characters/);
  expect(() => defineThrottle('geo', { adaptive: true, start: -1 })).toThrow(
    /start must be a number above 0, got -1/,
  );
});
