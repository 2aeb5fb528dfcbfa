/**
 * A run in flight whose machine was deleted, renamed, shortened, reordered, or whose schema shrank: by the
 * engine and its journal, in the next process. Each is carried on by rule or refused with the reason, and
 * where the former code comes back the run goes on with nothing left out.
 */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, type Machine } from '../../src/index.ts';
import { never, useFleets } from '../support/fleets.ts';

const { open, afterCrash } = useFleets();

interface Code {
  readonly name?: string;
  readonly version?: number;
  readonly steps?: readonly string[];
  readonly input?: z.ZodType;
  /** Of step a. */
  readonly output?: z.ZodType;
}

/** `calls`: what was executed, by which version. The work of step b never ends in the first process. */
function lineOf(calls: string[], code: Code = {}): Machine<object> {
  const { name = 'line', version = 1, steps = ['a', 'b', 'c'] } = code;
  return defineMachine({
    name,
    version,
    input: code.input ?? z.object({ id: z.string() }),
    retry: { attemptMax: 9 },
    steps: (empty) => {
      let line = empty;
      for (const step of steps) {
        line = line.step(step as 'a', {
          check: 'none',
          ...(step === 'a' && code.output ? { output: code.output as z.ZodType<string> } : {}),
          work: ({ fencingToken }): Promise<string> | string => {
            calls.push(`${step} by ${version}`);
            return step === 'b' && fencingToken === 1 ? never() : `${step} by ${version}`;
          },
        }) as never;
      }
      return line;
    },
  }) as never;
}

async function inStepB(calls: string[]) {
  const machine = lineOf(calls);
  const rig = await open({ machines: [machine] });
  const { id } = await rig.fleet.startLocal(machine as never, { id: 'x' });
  await rig.clock.settle();
  expect(calls.splice(0)).toEqual(['a by 1', 'b by 1']);
  return { rig, id };
}

const REFUSED: readonly (readonly [what: string, code: Code, reason: RegExp])[] = [
  ['its machine deleted', { name: 'other' }, /^no machine line@1 is registered here$/],
  ['its machine renamed', { name: 'row', version: 2 }, /^no machine line@1 is registered here$/],
  ['its own step deleted', { version: 2, steps: ['a', 'c'] }, /line@2 cannot go on with it/],
  ['a finished step deleted', { version: 2, steps: ['b', 'c'] }, /it starts at a\.work/],
  ['its own step renamed', { version: 2, steps: ['a', 'x', 'c'] }, /leads to b\.work/],
  ['a finished step renamed', { version: 2, steps: ['x', 'b', 'c'] }, /it starts at a\.work/],
  ['its steps reordered', { version: 2, steps: ['b', 'a', 'c'] }, /it starts at a\.work/],
  ['a step put in front', { version: 2, steps: ['x', 'a', 'b', 'c'] }, /it starts at a\.work/],
  [
    'an input schema that shrank',
    { version: 2, input: z.object({ id: z.string().max(0) }) },
    /the input of line does not fit.*an upgrade from version 1/,
  ],
  [
    'an output schema that shrank',
    { version: 2, output: z.string().max(2) },
    /the output of line, step a does not fit/,
  ],
  ['its steps reordered under its version', { steps: ['b', 'a', 'c'] }, /was changed since/],
  ['its machine shortened under its version', { steps: ['b'] }, /was changed since/],
];

test.each(REFUSED)(
  'a run meets %s: it stands still, and goes on where it was when the code is back',
  async (_, code, reason) => {
    const calls: string[] = [];
    const { rig, id } = await inStepB(calls);
    const met = await afterCrash(rig, { machines: [lineOf(calls, code)] });
    await met.clock.advance(60_000);
    expect(met.fleet.describe(id)).toMatchObject({
      status: 'blocked',
      version: 1,
      reason: expect.stringMatching(reason),
    });
    expect(calls, 'nothing of it was run').toEqual([]);
    const back = await afterCrash(met, { machines: [lineOf(calls)] });
    await back.clock.advance(60_000);
    expect(back.fleet.describe(id)).toMatchObject({ status: 'completed', output: 'c by 1' });
    expect(calls).toEqual(['b by 1', 'c by 1']);
  },
);

const CARRIED: readonly (readonly [what: string, code: Code, calls: readonly string[]])[] = [
  ['the steps behind it deleted', { version: 2, steps: ['a', 'b'] }, ['b by 2']],
  ['the step behind it renamed', { version: 2, steps: ['a', 'b', 'x'] }, ['b by 2', 'x by 2']],
  [
    'a step at the end',
    { version: 2, steps: ['a', 'b', 'c', 'd'] },
    ['b by 2', 'c by 2', 'd by 2'],
  ],
  [
    'the steps behind it reordered',
    { version: 2, steps: ['a', 'b', 'd', 'c'] },
    ['b by 2', 'd by 2', 'c by 2'],
  ],
  [
    'schemas that still take what is recorded',
    { version: 2, input: z.object({ id: z.string().max(1) }), output: z.string().min(1) },
    ['b by 2', 'c by 2'],
  ],
];

test.each(CARRIED)(
  'a run meets %s: it is carried on, by record, and nothing is left out',
  async (_, code, wanted) => {
    const calls: string[] = [];
    const { rig, id } = await inStepB(calls);
    const { fleet, clock } = await afterCrash(rig, { machines: [lineOf(calls, code)] });
    await clock.advance(60_000);
    expect(fleet.describe(id)).toMatchObject({ status: 'completed', version: 2 });
    expect(calls).toEqual(wanted);
    const [advanced] = fleet.events(id).filter(({ event }) => event.type === 'ADVANCED');
    expect(advanced).toMatchObject({ seq: 2, event: { version: 2 } });
  },
);
