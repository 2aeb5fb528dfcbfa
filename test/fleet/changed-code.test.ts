/**
 * The same through a fleet: tasks in flight whose machines a deploy has deleted, renamed, shortened,
 * reordered, or given a smaller schema. None is failed, none skips a step, and all end when the former code
 * is back beside the new.
 */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, type Machine } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

interface Change {
  readonly steps: readonly string[];
  readonly name?: string;
  readonly input?: z.ZodType;
}

/** By the machine that it happens to: what is there of it in the new code. */
const CHANGES: Readonly<Record<string, Change | undefined>> = {
  deleted: undefined,
  renamed: { name: 'renamed-since', steps: ['a', 'b', 'c'] },
  shortened: { steps: ['a', 'c'] },
  reordered: { steps: ['b', 'a', 'c'] },
  shrunk: { steps: ['a', 'b', 'c'], input: z.object({ id: z.string().max(0) }) },
  'shortened-behind': { steps: ['a', 'b'] },
};

function machineOf(
  name: string,
  version: number,
  { steps, input = z.object({ id: z.string() }) }: Change,
  calls: string[],
  isStuck = false,
): Machine<object> {
  return defineMachine({
    name,
    version,
    input,
    retry: { attemptMax: 9 },
    steps: (empty) => {
      let line = empty;
      for (const step of steps) {
        line = line.step(step as 'a', {
          check: 'none',
          work: (): Promise<string> | string => {
            calls.push(`${name} ${step} by ${version}`);
            return isStuck && step === 'b' ? never() : `${step} by ${version}`;
          },
        }) as never;
      }
      return line;
    },
  }) as never;
}

const LINE = { steps: ['a', 'b', 'c'] };
const NAMES = Object.keys(CHANGES);
const formerCode = (calls: string[], isStuck: boolean) =>
  NAMES.map((name) => machineOf(name, 1, LINE, calls, isStuck));
const newCode = (calls: string[]) =>
  Object.entries(CHANGES).flatMap(([name, change]) =>
    change ? [machineOf(change.name ?? name, 2, change, calls)] : [],
  );

test('tasks whose machines a deploy has changed are carried on by rule or wait, and none skips a step', async () => {
  const { clock, startPod, row } = startFleet();
  const calls: string[] = [];
  const former = formerCode(calls, true);
  const alder = await startPod('alder', { machines: former });
  const ids = new Map<string, string>();
  for (const machine of former) {
    ids.set(machine.name, (await alder.fleet.enqueue(machine, { id: 'x' })).id);
  }
  await clock.advance(3_000);
  expect(calls.splice(0)).toHaveLength(2 * NAMES.length);

  const dataDir = alder.crash();
  const blocked = hear('task.blocked');
  await startPod('alder', { machines: newCode(calls), dataDir });
  await clock.advance(60_000);
  expect(calls.splice(0)).toEqual(['shortened-behind b by 2']);
  for (const [name, id] of ids) {
    const wanted =
      name === 'shortened-behind'
        ? { status: 'completed', version: 2, result: '"b by 2"' }
        : { status: expect.stringMatching(/pending|waiting/), version: 1, retryCount: 0 };
    expect(await row(id), name).toMatchObject(wanted);
  }
  const told = new Set(blocked.map(({ run }) => run as string));
  expect(NAMES.filter((name) => !told.has(ids.get(name)!))).toEqual(['shortened-behind']);

  await startPod('birch', { machines: formerCode(calls, false) });
  await clock.advance(70_000);
  for (const [name, id] of ids) {
    if (name === 'shortened-behind') continue;
    const wanted = { status: 'completed', version: 1, result: '"c by 1"' };
    expect(await row(id), name).toMatchObject(wanted);
    expect(calls.filter((call) => call.startsWith(`${name} `))).toEqual([
      `${name} b by 1`,
      `${name} c by 1`,
    ]);
  }
});
