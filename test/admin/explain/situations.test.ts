/** Why a task of the fleet does not run, or how it ended: real pods, brought into each situation. */
import { expect, test } from 'vitest';
import { abort, defineMachine, retryAfter } from '../../../src/index.ts';
import { planOf } from '../../../src/machine/index.ts';
import { machineInfo } from '../../../src/machine-info.ts';
import { newer, onlyWork, Script, sleeper, twoSteps } from '../../fleet/script.ts';
import {
  anyInput,
  HEARTBEAT_MS,
  SILENT_MS,
  STEADY_MS,
  type TestFleet,
  useTestFleets,
} from '../../fleet/support.ts';
import { cancelTask, doTo, redriveTask, rescheduleTask } from '../../store/acts.ts';
import { newTask } from '../../store/factories.ts';
import { never } from '../../support/fleets.ts';
import { type Asking, expectReason, explained, findingOf, type Wanted } from './support.ts';

const { startFleet } = useTestFleets();

function newStage() {
  const script = new Script();
  const machine = twoSteps(script);
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  return { script, machine, options, ...startFleet() };
}
type Stage = ReturnType<typeof newStage>;

interface Situation extends Wanted {
  readonly situation: string;
  /** Brings it about, and answers which task it is about. */
  make(stage: Stage): Promise<string>;
  readonly asking?: (stage: Stage) => Asking;
}

/** A task that is enqueued by somebody who executes nothing. */
async function enqueued({ startPod, options, machine }: Stage, more: object = {}): Promise<string> {
  const client = await startPod('client', { ...options, isClient: true });
  return (await client.fleet.enqueue(machine, {}, more)).id;
}

async function withPod(stage: Stage, place?: string): Promise<string> {
  const { startPod, options, script, machine, clock } = stage;
  const alder = await startPod('alder', options);
  if (place) script.holds.set(place, never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  return id;
}

const SITUATIONS: readonly Situation[] = [
  {
    situation: 'due, and nobody is there',
    code: 'no-pod',
    says: /^It is due, and no pod is up to take it: there has been none\.$/,
    command: /^fleetq worker$/,
    make: (stage) => enqueued(stage),
  },
  {
    situation: 'due, and the last pod has been killed',
    code: 'no-pod',
    says: /no pod is up to take it: the last was heard of \d+ s ago/,
    async make(stage) {
      const { startPod, options, clock } = stage;
      const alder = await startPod('alder', options);
      alder.crash();
      await clock.advance(2 * SILENT_MS);
      return enqueued(stage);
    },
  },
  {
    situation: 'pods are there, with other machines',
    code: 'no-route',
    says: /^It is blocked: no pod that is up has two@1, or another version of two; start one\.$/,
    command: /^fleetq machines$/,
    async make(stage) {
      const { startPod, script, options, clock } = stage;
      const had = await startPod('alder', options);
      had.crash();
      await clock.advance(2 * SILENT_MS);
      await startPod('birch', { ...options, machines: [onlyWork(script)] });
      return enqueued(stage);
    },
  },
  {
    situation: 'pods have an older version only',
    code: 'no-route',
    says: /no pod that is up has two@2, and two@1 is older: no run goes back/,
    async make({ startPod, script, options, clock }) {
      const machine = newer(script);
      const two = { ...options, machines: [machine] };
      const birch = await startPod('birch', two);
      birch.crash();
      await clock.advance(2 * SILENT_MS);
      await startPod('alder', options);
      const client = await startPod('client', { ...two, isClient: true });
      const { id } = await client.fleet.enqueue(machine as never, {} as never);
      return id;
    },
  },
  {
    situation: 'a machine that nobody ever had',
    code: 'machine-unknown',
    says: /^No pod has ever had a machine only: check the name\.$/,
    async make({ startPod, script, options }) {
      await startPod('alder', options);
      const other = onlyWork(script);
      const client = await startPod('client', { ...options, machines: [other], isClient: true });
      return (await client.fleet.enqueue(other, {})).id;
    },
  },
  {
    situation: 'put off when it was enqueued',
    code: 'not-due',
    says: /^It is not due yet: it was put off, and it is due in 1\.0 h\.$/,
    command: /^fleetq retry /,
    async make(stage) {
      await stage.startPod('alder', stage.options);
      return enqueued(stage, { runAt: '1h' });
    },
  },
  {
    situation: 'put off by a person',
    code: 'not-due',
    says: /ann put it off .* ago, and it is due in 1\.0 h/,
    async make(stage) {
      const id = await enqueued(stage);
      await rescheduleTask(stage.store, id as never, { afterMs: 3_600_000 });
      return id;
    },
  },
  {
    situation: 'backing off after a failed attempt',
    code: 'backing-off',
    says: /^It backs off: attempt 1 of 3 of main\.work failed .* ago \(no such bucket\), and the next is due in \d+ s\.$/,
    command: /^fleetq retry /,
    make: backingOff,
    asking: () => ({ machines: [machineInfo(planOf(slow(new Script()))!)] }),
  },
  {
    situation: 'postponed by its own phase',
    code: 'postponed',
    says: /^It waits by its own wish: main\.work asked to be called again later \(the API is full\), which is in \d+ s\.$/,
    async make(stage) {
      stage.script.throws.set('main.work', () => retryAfter('60s', 'the API is full'));
      return slowRun(stage);
    },
  },
  {
    situation: 'refused by an API that said when to come back',
    code: 'throttled',
    says: /^It waits for the API llm: when main\.work was to call it .* ago, there was no room \(llm had no room \(throttled\)\); it goes on in \d+ s, and no attempt was counted\.$/,
    command: /^fleetq throttles show llm$/,
    make: (stage) =>
      throttledRun(stage, () => {
        throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '40' } });
      }),
  },
  {
    situation: 'sleeping in its line',
    code: 'sleeping',
    says: /^It sleeps, as its line says: nap is over in 1\.0 h\.$/,
    async make({ startPod, script, options, clock }) {
      const machine = sleeper(script, '1h');
      const alder = await startPod('alder', { ...options, machines: [machine] });
      const { id } = await alder.fleet.enqueue(machine, {});
      await clock.advance(1_000);
      return id;
    },
  },
  {
    situation: 'paused by a person',
    code: 'paused',
    says: /^It is paused: ann paused it .* ago, and nobody goes on with it until it is resumed\.$/,
    command: /^fleetq resume /,
    async make(stage) {
      const id = await enqueued(stage);
      await doTo(stage.store, id, { what: 'pause' });
      return id;
    },
  },
  {
    situation: 'asked to pause while a phase goes on',
    code: 'pause-requested',
    says: /^It is about to be paused: ann asked for it .* ago, and pod alder holds it; it is inside a\.work, and stops when that is over\.$/,
    async make(stage) {
      const id = await withPod(stage, 'a.work');
      await doTo(stage.store, id, { what: 'pause' });
      return id;
    },
  },
  {
    situation: 'asked to cancel while a phase goes on',
    code: 'cancel-requested',
    says: /^It is about to be cancelled: ann asked for it .* ago, and pod alder holds it; it is inside a\.work/,
    async make(stage) {
      const id = await withPod(stage, 'a.work');
      await cancelTask(stage.store, id as never, 'no longer wanted');
      return id;
    },
  },
  {
    situation: 'running',
    code: 'running',
    says: /^It is running: pod alder has been at it for .*, in b\.work, attempt 1\.$/,
    command: /^fleetq events .* --follow$/,
    make: (stage) => withPod(stage, 'b.work'),
  },
  {
    situation: 'its owner is silent, and not yet for long enough',
    code: 'owner-silent',
    says: /^Pod alder, which holds it, has been silent for 3\.\d s of 5\.0 s: if it stays silent it is swept in [12]\.\d s\.$/,
    command: /^fleetq pods$/,
    async make(stage) {
      const { startPod, options, script, machine, clock } = stage;
      const alder = await startPod('alder', options);
      script.holds.set('a.work', never());
      const { id } = await alder.fleet.enqueue(machine, {});
      await clock.advance(1_000);
      alder.crash();
      await clock.advance(3_500);
      return id;
    },
  },
  {
    situation: 'its owner is silent for too long, and nobody is there to sweep',
    code: 'owner-silent',
    says: /that is long enough: the leader sweeps it now/,
    make: (stage) => orphaned(stage),
  },
  {
    situation: 'its owner is dead, and the rest of the fleet has yet to sweep',
    code: 'owner-dead',
    says: /^Pod alder, which holds it, has been dead for .* \(pod pod-sweeper took it for dead\); a sweep gives it back to the fleet\.$/,
    command: /^fleetq sweep$/,
    async make(stage) {
      const id = await orphaned(stage);
      const { claimedBy } = await stage.row(id);
      await stage.store.fence(claimedBy!, 'pod-sweeper' as never, 'proved');
      return id;
    },
  },
  {
    situation: 'completed',
    code: 'completed',
    says: /^It completed .* ago, after .*\.$/,
    make: (stage) => withPod(stage),
  },
  {
    situation: 'handed off by check',
    code: 'handed-off',
    says: /^It was handed off .* ago, in b\.check: check said that nothing was to be done \(it is there\)\.$/,
    async make(stage) {
      stage.script.isThere.add('b.check');
      return withPod(stage);
    },
  },
  {
    situation: 'cancelled by a person',
    code: 'cancelled',
    says: /^It was cancelled by ann .* ago: no longer wanted\.$/,
    async make(stage) {
      const id = await enqueued(stage);
      await cancelTask(stage.store, id as never, 'no longer wanted');
      return id;
    },
  },
  {
    situation: 'every attempt has failed',
    code: 'exhausted',
    says: /^It failed for good .* ago, in a\.work after 5 attempts; the last said: broken pipe\.$/,
    command: /^fleetq dead-letters redrive /,
    async make(stage) {
      stage.script.throws.set('a.work', () => new Error('broken\n pipe.'));
      const id = await withPod(stage);
      await stage.clock.advance(5_000);
      return id;
    },
  },
  {
    situation: 'aborted by its own code',
    code: 'aborted',
    says: /^It was aborted \(user\) .* ago, in a\.work: the card is blocked\.$/,
    async make(stage) {
      stage.script.throws.set('a.work', () => abort('the card is blocked', { kind: 'user' }));
      return withPod(stage);
    },
  },
  {
    situation: 'its input does not fit its machine',
    code: 'row-refused',
    says: /^It failed .* ago: .*does not fit its schema.*\.$/,
    async make({ startPod, options, store, clock }) {
      await startPod('alder', options);
      const [answer] = await store.enqueue([newTask({ machine: 'two', payload: '{"id":5}' })]);
      await clock.advance(2_000);
      return answer!.id;
    },
  },
  {
    situation: 'past its deadline',
    code: 'timed-out',
    says: /^It passed its deadline .* ago, in main\.work: .+\.$/,
    async make({ script, startPod, options, clock }) {
      script.throws.set('main.work', () => retryAfter('1h', 'later'));
      const { work } = script.phases;
      const shape = { name: 'brief', version: 1, input: anyInput, check: 'none', work } as const;
      const machine = defineMachine({ ...shape, timeout: { run: '2s' } });
      const alder = await startPod('alder', { ...options, machines: [machine] });
      const { id } = await alder.fleet.enqueue(machine, {});
      await clock.advance(5_000);
      return id;
    },
  },
  {
    situation: 'every pod is full, and others are ahead',
    code: 'queue-full',
    says: /^It is due, and the one pod that could take it is full: 2 tasks of two@1 are ahead of it\.$/,
    command: /^fleetq worker --slots/,
    async make({ script, startPod, options, machine, clock }) {
      script.holds.set('a.work', never());
      const alder = await startPod('alder', { ...options, slots: 1 });
      await alder.fleet.enqueue(machine, {});
      await clock.advance(2 * HEARTBEAT_MS);
      await alder.fleet.enqueue(machine, {}, { priority: 5 });
      await alder.fleet.enqueue(machine, {});
      await clock.advance(10);
      const { id } = await alder.fleet.enqueue(machine, {});
      await clock.advance(2 * HEARTBEAT_MS);
      return id;
    },
  },
  {
    situation: 'the only pod is draining',
    code: 'pods-leaving',
    says: /^It is due, and the one pod that is there is leaving: who drains takes nothing new\.$/,
    async make(stage) {
      const { startPod, options, script, machine, clock } = stage;
      const alder = await startPod('alder', options);
      script.holds.set('a.work', never());
      await alder.fleet.enqueue(machine, {});
      await clock.advance(1_000);
      alder.fleet.drain({ budget: '20s' }).catch(() => undefined);
      await clock.advance(500);
      return enqueued(stage);
    },
  },
];

function slow(script: Script) {
  const retry = { attemptMax: 3, backoff: () => 60_000 };
  const shape = { name: 'slow', version: 1, input: anyInput, retry } as const;
  return defineMachine({ ...shape, check: 'none', work: script.phases.work });
}

async function slowRun({ script, startPod, options, clock }: Stage): Promise<string> {
  const machine = slow(script);
  const alder = await startPod('alder', { ...options, machines: [machine] });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  return id;
}

async function throttledRun({ startPod, options, clock }: Stage, call: () => never) {
  const machine = defineMachine({
    name: 'slow',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('llm', call),
  });
  const alder = await startPod('alder', { ...options, machines: [machine] });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  return id as string;
}

async function backingOff(stage: Stage): Promise<string> {
  stage.script.throws.set('main.work', () => new Error('no such bucket'));
  return slowRun(stage);
}

/** Its owner was killed, and nobody else is there. */
async function orphaned({ startPod, options, script, machine, clock }: Stage): Promise<string> {
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  alder.crash();
  await clock.advance(2 * SILENT_MS);
  return id;
}

test.each(SITUATIONS)('$situation: $code', async ({ make, asking, ...wanted }) => {
  const stage = newStage();
  const id = await make(stage);
  expectReason(await explained(stage.store, id, asking?.(stage)), wanted);
});

test('a dead owner’s task tells that nobody is there to sweep it, or that who leads is too young', async () => {
  const stage = newStage();
  const id = await orphaned(stage);
  expect(findingOf(await explained(stage.store, id), 'no-leader').sentence).toMatch(
    /^No pod is up that would sweep/,
  );
  await stage.startPod('birch', stage.options);
  await stage.clock.advance(HEARTBEAT_MS);
  expect(findingOf(await explained(stage.store, id), 'leader-not-steady').sentence).toMatch(
    /^Pod birch leads, and is too young to judge others: it sweeps from .*, in \d/,
  );
  await stage.clock.advance(STEADY_MS + SILENT_MS);
  const codes = (await explained(stage.store, id)).map(({ code }) => code);
  expect(codes[0]).toBe('running');
  expect(codes).not.toContain('leader-not-steady');
});

test('a redriven task tells its generation, and what it carries', async () => {
  const stage = newStage();
  stage.script.throws.set('b.work', () => abort('not yet', { kind: 'user' }));
  const id = await withPod(stage);
  stage.script.throws.clear();
  expect(await redriveTask(stage.store, id as never, { generation: 1 }, { isFresh: false })).toBe(
    2,
  );
  await stage.clock.advance(2_000);
  const findings = await explained(stage.store, id);
  expectReason(findings, { code: 'completed', says: /^It completed/ });
  expect(findingOf(findings, 'redriven').sentence).toMatch(
    /^It was redriven by ann .* ago: this is generation 2, and it goes on at b, with what a put out before\.$/,
  );
});

test('who did it is told to those alone who may read the audit log', async () => {
  const stage: Stage & TestFleet = newStage();
  const id = await enqueued(stage);
  await doTo(stage.store, id, { what: 'pause' });
  const [found] = await explained(stage.store, id, { mayAudit: false });
  expect(found).toMatchObject({ code: 'paused', evidence: [] });
  expect(JSON.stringify(found)).not.toContain('ann');
});

test('what users’ code has said is masked where payloads are', async () => {
  const stage = newStage();
  stage.script.throws.set('main.work', () => new Error('canary-7f3a'));
  const findings = await explained(stage.store, await slowRun(stage), { isMasked: true });
  expect(findings[0]).toMatchObject({ code: 'backing-off' });
  expect(JSON.stringify(findings)).not.toContain('canary');
});
