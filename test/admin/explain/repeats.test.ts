/** Why a phase ran twice: real pods that fail, die, are cut off and drained inside of phases. */
import { expect, test } from 'vitest';
import { defineMachine, retryAfter } from '../../../src/index.ts';
import { newer, Script, twoSteps } from '../../fleet/script.ts';
import {
  anyInput,
  HEARTBEAT_MS,
  SILENT_MS,
  STEADY_MS,
  type TestPod,
  useTestFleets,
  whileAdvancing,
} from '../../fleet/support.ts';
import { gate, never } from '../../support/fleets.ts';
import { explained, findingOf } from './support.ts';

const { startFleet } = useTestFleets();

function newStage(archive: '100ms' | '1h' = '100ms') {
  const script = new Script();
  const machine = twoSteps(script);
  const options = { machines: [machine], around: script.around, archive } as const;
  return { script, machine, options, ...startFleet() };
}
type Stage = ReturnType<typeof newStage>;

/** Throws so often, then no more. */
function throwing(script: Script, place: string, times: number, error: () => unknown): void {
  let left = times;
  script.throws.set(place, () => {
    left -= 1;
    if (left === 0) script.throws.delete(place);
    return error();
  });
}

async function finished({ startPod, options, machine, clock }: Stage): Promise<string> {
  const alder = await startPod('alder', options);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(5_000);
  return id;
}

/** Two pods that may judge each other, and a run inside a phase of one of them. */
async function inside(stage: Stage, place: string) {
  const { startPod, options, script, machine, clock } = stage;
  const pods = [await startPod('alder', options), await startPod('birch', options)];
  await clock.advance(STEADY_MS);
  script.holds.set(place, never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const owner = pods.find((pod) => pod.fleet.status.pod?.held === 1) as TestPod;
  expect(script.count(place)).toBe(1);
  script.holds.clear();
  return { id, owner };
}

test('it threw, and was tried again', async () => {
  const stage = newStage();
  throwing(stage.script, 'a.work', 2, () => new Error('ECONNRESET'));
  const findings = await explained(stage.store, await finished(stage));
  expect(stage.script.count('a.work')).toBe(3);
  expect(findings[0]!.code).toBe('completed');
  const found = findingOf(findings, 'error-retried');
  expect(found.sentence).toBe(
    'a.work ran again, 2 times: it threw, and was tried again (ECONNRESET).',
  );
  expect(found.evidence).toMatchObject([{ epoch: 1 }, { epoch: 1 }]);
  expect(found.evidence.map(({ seq }) => typeof seq)).toEqual(['number', 'number']);
});

test('validate rejected what work had done', async () => {
  const stage = newStage();
  throwing(stage.script, 'a.validate', 1, () => new Error('the sum is off'));
  const findings = await explained(stage.store, await finished(stage));
  expect(stage.script.count('a.work')).toBe(2);
  expect(findingOf(findings, 'validate-rejected').sentence).toBe(
    'a.work ran again: a.validate rejected what it did (the sum is off).',
  );
});

test('it asked to be called again later', async () => {
  const stage = newStage();
  throwing(stage.script, 'a.work', 1, () => retryAfter('1s', 'too many requests'));
  const findings = await explained(stage.store, await finished(stage));
  expect(findingOf(findings, 'phase-postponed').sentence).toBe(
    'a.work ran again: it asked to be called again later (too many requests).',
  );
});

test('an API had no room for its call', async () => {
  const { store, clock, startPod } = startFleet();
  let calls = 0;
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 1 },
    check: 'none',
    work: ({ use }) =>
      use('llm', () => {
        if (++calls < 3) throw Object.assign(new Error('busy'), { status: 429 });
        return 'done';
      }),
  });
  const alder = await startPod('alder', { machines: [machine] });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(60_000);
  const findings = await explained(store, id);
  expect(findings[0]!.code).toBe('completed');
  const found = findingOf(findings, 'phase-throttled');
  expect(found.sentence).toBe(
    'main.work ran again, 2 times: the API llm had no room for it (llm had no room (throttled)), ' +
      'which cost no attempt.',
  );
  expect(found.evidence.map(({ seq }) => typeof seq)).toEqual(['number', 'number']);
});

test('the check before it failed, and not the phase itself', async () => {
  const stage = newStage();
  throwing(stage.script, 'a.work', 1, () => new Error('first'));
  throwing(stage.script, 'a.probe', 1, () => new Error('second'));
  const findings = await explained(stage.store, await finished(stage));
  expect(stage.script.count('a.work')).toBe(2);
  expect(
    findings.filter(({ code }) => code === 'error-retried').map(({ sentence }) => sentence),
  ).toEqual([
    'a.work ran again: it threw, and was tried again (first).',
    'a.check, asked before a.work, ran again: it threw, and was tried again (second).',
  ]);
});

test('its process died inside of it, and check said that it had not happened', async () => {
  const stage = newStage();
  const { id, owner } = await inside(stage, 'a.work');
  owner.crash();
  await stage.clock.advance(3 * SILENT_MS);
  expect(stage.script.count('a.work')).toBe(2);
  const found = findingOf(await explained(stage.store, id), 'process-died');
  expect(found.sentence).toBe(
    `a.work ran again: pod ${owner.name} died inside it (epoch 1 → 3); ` +
      'check was asked first, and said that it had not happened.',
  );
  expect(found.evidence).toMatchObject([{ epoch: 3 }]);
});

test('its process died inside of it, and check found it done', async () => {
  const stage = newStage();
  const { id, owner } = await inside(stage, 'a.work');
  stage.script.isThere.add('a.probe');
  owner.crash();
  await stage.clock.advance(3 * SILENT_MS);
  expect(stage.script.count('a.work')).toBe(1);
  expect(findingOf(await explained(stage.store, id), 'probe-handed-off').sentence).toBe(
    'a.work was not done again: check, asked first, found that it had happened (it is there).',
  );
});

test('its owner was cut off, lost the claim, and lived on', async () => {
  const stage = newStage();
  const { id, owner } = await inside(stage, 'a.work');
  owner.wire.isCut = true;
  await stage.clock.advance(3 * SILENT_MS);
  owner.wire.isCut = false;
  await stage.clock.advance(3 * HEARTBEAT_MS);
  expect(findingOf(await explained(stage.store, id), 'claim-lost').sentence).toMatch(
    `a.work ran again: pod ${owner.name} lost its claim inside it, and lived on (epoch 1 → 3)`,
  );
});

test('a drain could not wait for it', async () => {
  const stage = newStage();
  const { startPod, options, script, machine, clock } = stage;
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  await whileAdvancing(clock, alder.fleet.drain({ budget: '3s' }));
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(STEADY_MS + SILENT_MS);
  expect(script.count('a.work')).toBe(2);
  const findings = await explained(stage.store, id);
  expect(findingOf(findings, 'drained-inside').sentence).toBe(
    'a.work ran again: pod alder drained, and could not wait for it.',
  );
  expect(findings.map(({ code }) => code)).not.toContain('process-died');
});

test('an owner died before anything that it did was in the store', async () => {
  const stage = newStage('1h');
  const { id, owner } = await inside(stage, 'b.work');
  stage.script.holds.set('a.work', never());
  owner.crash();
  await stage.clock.advance(3 * SILENT_MS);
  expect(stage.script.count('a.work')).toBe(2);
  expect(findingOf(await explained(stage.store, id), 'records-missing').sentence).toBe(
    '1 owner of it died, and not all of what they did was in the store yet: ' +
      'phases that they had finished are run again, from the beginning.',
  );
});

test('a former owner sent its records when another had gone on', async () => {
  const stage = newStage('1h');
  const { script, clock } = stage;
  const { id, owner } = await inside(stage, 'b.work');
  const held = gate();
  script.holds.set('b.persist', held.opened);
  const dataDir = owner.crash();
  await clock.advance(3 * SILENT_MS);
  // Its successor on the same disk sends what lies there, though the fleet has given it to another.
  await stage.startPod(owner.name, { ...stage.options, dataDir, archive: '100ms' });
  await clock.advance(2_000);
  held.open();
  await clock.advance(2_000);
  const findings = await explained(stage.store, id);
  expect(findings[0]!.code).toBe('completed');
  expect(findingOf(findings, 'records-superseded').sentence).toMatch(
    /^The owner of epoch 1 had done more than the store knew when another went on: records 0 to \d+ \(a\.check to b\.work\) came too late, count for nothing, and were done again\.$/,
  );
});

test('a newer version goes on, and runs nothing again but what was interrupted', async () => {
  const stage = newStage();
  const { script, startPod, options, machine, clock } = stage;
  const alder = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dataDir = alder.crash();
  script.holds.clear();
  await startPod('alder', { ...options, machines: [newer(script)], dataDir });
  await clock.advance(3_000);
  const findings = await explained(stage.store, id);
  expect(findingOf(findings, 'advanced').sentence).toBe(
    'Version 2 goes on with it from b.work: its line begins with the phases that were recorded, ' +
      'so none of them was run again.',
  );
  expect(findingOf(findings, 'process-died').sentence).toMatch(
    /^b\.work ran again: pod alder died/,
  );
});

test('an upgrade carries it over to a step that had begun', async () => {
  const stage = newStage();
  const { script, startPod, options, machine, clock } = stage;
  const alder = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dataDir = alder.crash();
  script.holds.clear();
  const upgrade = {
    1: (old: { state: { a: unknown }; input: unknown; resumeAt: Function }) =>
      old.resumeAt('b', { input: old.input, state: { x: old.state.a } }),
  };
  const machines = [newer(script, { steps: ['x', 'b'], upgrade })];
  await startPod('alder', { ...options, machines, dataDir });
  await clock.advance(3_000);
  expect(findingOf(await explained(stage.store, id), 'upgraded').sentence).toBe(
    'Version 2 has carried it over from version 1, to step b, whose phases are run again though ' +
      'version 1 had begun it.',
  );
});

test('a run in which nothing was repeated has nothing to tell of that', async () => {
  const stage = newStage();
  const findings = await explained(stage.store, await finished(stage));
  expect(findings.map(({ code }) => code)).toEqual(['completed']);
});

test('however often it was retried, the last attempts tell enough', async () => {
  const stage = newStage();
  const retry = { attemptMax: 40, backoff: () => 10 };
  const shape = { name: 'stubborn', version: 1, input: anyInput, retry, check: 'none' } as const;
  const machine = defineMachine({ ...shape, work: stage.script.phases.work });
  throwing(stage.script, 'main.work', 30, () => new Error('x'.repeat(5_000)));
  const alder = await stage.startPod('alder', { ...stage.options, machines: [machine] });
  const { id } = await alder.fleet.enqueue(machine, {});
  await stage.clock.advance(5_000);
  const found = findingOf(await explained(stage.store, id), 'error-retried');
  expect(found.sentence).toMatch(/^main\.work ran again, 30 times: /);
  expect(found.evidence).toHaveLength(5);
  expect(JSON.stringify(found).length).toBeLessThan(3_000);
});
