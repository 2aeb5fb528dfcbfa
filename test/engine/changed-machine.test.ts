/** A definition that was changed under an unchanged version: said aloud, and nothing stops. */
import { expect, test } from 'vitest';
import { defineMachine, writeLogs } from '../../src/index.ts';
import { anyInput, never, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();

/** Waits in its first step in the first process. */
function grown(...added: string[]) {
  const step = (name: string) => ({ check: 'none' as const, work: () => name });
  return defineMachine({
    version: 1,
    input: anyInput,
    name: 'grown',
    steps: (line) => {
      const first = line.step('first', {
        check: 'none',
        work: ({ fencingToken }): Promise<string> | string =>
          fencingToken === 1 ? never() : 'one',
      });
      return added.reduce((longer, name) => longer.step(name, step(name)) as never, first);
    },
  });
}

async function restarted(before: ReturnType<typeof grown>, after: ReturnType<typeof grown>) {
  const rig = await open({ machines: [before] });
  const runs = [
    await rig.fleet.startLocal(before, {}),
    await rig.fleet.startLocal(before, { id: 'two' }),
  ];
  await rig.clock.settle();
  rig.fleet.stopNow();
  const next = await open({ machines: [after], dataDir: rig.dataDir, clock: rig.clock });
  await next.clock.settle();
  return { ...next, ids: runs.map(({ id }) => id) };
}

test('a step put at the end under the same version is told once, with a warning, and the runs go on', async () => {
  const heard = hear('machine.changed');
  const lines: [level: string, fields: object][] = [];
  const say = (level: string) => (fields: object) => void lines.push([level, fields]);
  const stop = writeLogs({
    debug: () => undefined,
    info: () => undefined,
    warn: say('warn'),
    error: say('error'),
  });
  const { fleet, ids } = await restarted(grown(), grown('second'));
  stop();
  expect(heard).toHaveLength(1);
  const [{ recorded, registered, ...of }] = heard as [(typeof heard)[0]];
  expect(of).toEqual({ machine: 'grown', version: 1 });
  expect(recorded).not.toBe(registered);
  expect(registered).toBe(grown('second').fingerprint);
  expect(lines).toEqual([
    [
      'warn',
      { event: 'machine.changed', machine: 'grown', machine_version: 1, recorded, registered },
    ],
  ]);
  expect(ids.map((id) => fleet.describe(id).output)).toEqual(['second', 'second']);
});

test('a definition that is as it was is nothing to tell', async () => {
  const heard = hear('machine.changed');
  const { fleet, ids } = await restarted(grown('second'), grown('second'));
  expect(heard).toEqual([]);
  expect(fleet.describe(ids[0]!).status).toBe('completed');
});

test('a run that no longer fits is blocked, and why is told too', async () => {
  const heard = hear('machine.changed');
  const renamed = defineMachine({
    version: 1,
    input: anyInput,
    name: 'grown',
    steps: (line) => line.step('other', { check: 'none', work: () => 'one' }),
  });
  const { fleet, ids } = await restarted(grown(), renamed as never);
  expect(heard).toHaveLength(1);
  expect(fleet.describe(ids[0]!)).toMatchObject({
    status: 'blocked',
    reason: expect.stringMatching(
      /^grown@1 is registered here, but was changed since.* new version/,
    ),
  });
});
