/** Which definition goes on with a run: every way to change a machine, and what becomes of its runs. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../src/ground/index.ts';
import {
  defineMachine,
  foldRecords,
  type Machine,
  type PastRecord,
  Registry,
  type RunEvent,
  successionOf,
  whyNobody,
} from '../../src/machine/index.ts';
import { planFor } from './arbitrary.ts';
import { lineOf, pastOf } from './past.ts';
import { DONE, FAILED, full, sleep, step } from './reach.ts';

const ports = { clock: systemClock, resultBytesMax: 10_000 };
const fateOf = (records: readonly PastRecord[], ...machines: Machine[]) =>
  successionOf(ports, new Registry(machines), records);

const [a, b, c] = [step('a'), step('b'), step('c')];
const before = lineOf(1, [a, b, c]);
const inB = pastOf(before, DONE(1));
const inA = pastOf(before);

describe('a run in step b of a, b, c', () => {
  const rows: [what: string, next: Machine, kind: string, reason?: RegExp][] = [
    ['the same version, as it was', before, 'continues'],
    ['a step more at the end, under the same version', lineOf(1, [a, b, c, step('d')]), 'changed'],
    ['another first step, under the same version', lineOf(1, [c, b, a]), 'blocked', /new version/],
    ['a step more at the end', lineOf(2, [a, b, c, step('d')]), 'advances'],
    ['a sleep more at the end', lineOf(2, [a, b, c, sleep('d')]), 'advances'],
    ['a step more right after it', lineOf(2, [a, b, step('d'), c]), 'advances'],
    ['the steps after it deleted', lineOf(2, [a, b]), 'advances'],
    ['the step after it renamed', lineOf(2, [a, b, step('d')]), 'advances'],
    [
      'a phase more in the step it is in',
      lineOf(2, [a, step('b', { persist: true }), c]),
      'advances',
    ],
    ['its own step deleted', lineOf(2, [a, c]), 'blocked', /from a\.work to c\.work/],
    ['its own step renamed', lineOf(2, [a, step('x'), c]), 'blocked', /record 1 leads to b\.work/],
    ['its own step made a sleep', lineOf(2, [a, sleep('b'), c]), 'blocked', /to b\.sleep/],
    [
      'a check put before its own step',
      lineOf(2, [a, step('b', { check: true }), c]),
      'blocked',
      /b\.check/,
    ],
    ['a finished step deleted', lineOf(2, [b, c]), 'blocked', /it starts at a\.work/],
    ['a finished step renamed', lineOf(2, [step('x'), b, c]), 'blocked', /starts at x\.work/],
    ['the finished step and its own swapped', lineOf(2, [b, a, c]), 'blocked', /starts at b\.work/],
    ['a step put before it', lineOf(2, [a, step('d'), b, c]), 'blocked', /to d\.work/],
    ['a step put at the front', lineOf(2, [step('d'), a, b, c]), 'blocked', /starts at d\.work/],
    ['a sleep put before it', lineOf(2, [a, sleep('d'), b, c]), 'blocked', /to d\.sleep/],
    [
      'a phase more in a finished step',
      lineOf(2, [step('a', { validate: true }), b, c]),
      'blocked',
      /to a\.validate/,
    ],
    [
      'another machine altogether',
      lineOf(2, [a, b, c], 'other'),
      'blocked',
      /^no machine line@1 is registered here$/,
    ],
  ];
  test.each(rows)('%s', async (_, next, kind, reason) => {
    const found = await fateOf(inB, next);
    expect(found.kind).toBe(kind);
    if (found.kind === 'blocked') expect(found.reason).toMatch(reason!);
    expect(whyNobody(new Registry([next])!, inB) === undefined).toBe(kind !== 'blocked');
  });

  test('a phase taken from a finished step blocks it', async () => {
    const long = lineOf(1, [step('a', full), b]);
    const past = pastOf(long, DONE(), DONE(1), DONE(), DONE(2));
    expect(past.at(-1)!.state).toBe('b.work');
    for (const phase of ['check', 'validate', 'persist']) {
      const short = lineOf(2, [step('a', { ...full, [phase]: false }), b]);
      expect((await fateOf(past, short)).kind, phase).toBe('blocked');
    }
    expect((await fateOf(past, lineOf(2, [step('a', full), b]))).kind).toBe('advances');
  });
});

test('a run in its first step advances to a line that differs only behind it', async () => {
  expect(await fateOf(inA, lineOf(2, [a, c, b]))).toMatchObject({ kind: 'advances' });
});

test('the newest version that fits goes on, and one that does not fit is passed over', async () => {
  const [two, three] = [lineOf(2, [a, b]), lineOf(3, [c, b])];
  expect(await fateOf(inB, two, three)).toMatchObject({ kind: 'advances', plan: { version: 2 } });
  const four = lineOf(4, [a, b, step('d')]);
  expect(await fateOf(inB, two, four, three)).toMatchObject({ plan: { version: 4 } });
  expect(await fateOf(inB, before, four)).toMatchObject({
    kind: 'continues',
    plan: { version: 1 },
  });
});

test('an older version never goes on with a run, whether it was started or advanced there', async () => {
  const two = lineOf(2, [a, b, c]);
  const older = /no machine line@2 is registered here, and line@1 is older/;
  const blocked = { kind: 'blocked', reason: expect.stringMatching(older) };
  expect(await fateOf(pastOf(two, DONE(1)), before)).toEqual(blocked);
  const event = { type: 'ADVANCED', version: 2, fingerprint: two.fingerprint } as const;
  expect(await fateOf(pastOf(before, DONE(1), event), before)).toEqual(blocked);
  // Asked for directly, as by a pod that was given the run for its route, it does not fit either.
  expect(foldRecords(planFor(before), pastOf(before, DONE(1), event))).toMatch(/line@1 is older/);
});

test('what was advanced continues under the version it was advanced to, and may advance again', async () => {
  const two = lineOf(2, [a, b]);
  const event = { type: 'ADVANCED', version: 2, fingerprint: two.fingerprint } as const;
  const past = pastOf(before, DONE(1), event);
  expect(await fateOf(past, two)).toMatchObject({ kind: 'continues', plan: { version: 2 } });
  expect(await fateOf(past, before, two)).toMatchObject({ plan: { version: 2 } });
  expect(await fateOf(past, lineOf(3, [a, b, c]))).toMatchObject({ kind: 'advances' });
  expect(await fateOf(past, lineOf(2, [a, b, c]))).toMatchObject({ kind: 'changed' });
});

test('records that their own definition does not lead through are not to be trusted', async () => {
  const forged = inB.map((one) => (one.seq === 1 ? { ...one, state: 'c.work' } : one));
  expect(await fateOf(forged, before)).toMatchObject({ kind: 'unfit' });
});

test('attempts, waits and what work returned are as they were after an advance', async () => {
  const long = lineOf(1, [step('a', full)]);
  const past = pastOf(long, DONE(), FAILED, FAILED, { type: 'PROBED' }, DONE('made'));
  const found = await fateOf(past, lineOf(2, [step('a', full), b]));
  expect(found).toMatchObject({ kind: 'advances', state: { attempt: 3, work: 'made' } });
});

test('steps carried over from an earlier generation are held against the line too', async () => {
  const start = { carried: { step: 'b', outputs: { a: 1 } } };
  const past = [{ ...inB[0]!, event: { ...inB[0]!.event, ...start } as RunEvent, state: 'b.work' }];
  expect((await fateOf(past, lineOf(2, [a, b]))).kind).toBe('advances');
  expect(await fateOf(past, lineOf(2, [c, b]))).toMatchObject({
    kind: 'blocked',
    reason: expect.stringMatching(/goes on at b after a, and line@2 has other steps before/),
  });
});

describe('schemas', () => {
  const typed = (version: number, input: z.ZodType, output: z.ZodType) =>
    defineMachine({
      name: 'line',
      version,
      input,
      steps: (line) =>
        line
          .step('a', { check: 'none', output: output as z.ZodType<number>, work: () => 1 })
          .step('b', { check: 'none', work: () => 2 }),
    }) as Machine;
  const wide = typed(1, z.number(), z.number());
  const past = pastOf(wide, DONE(5));

  test('a run advances where they take what is recorded', async () => {
    expect((await fateOf(past, typed(2, z.number().min(1), z.number().max(5)))).kind).toBe(
      'advances',
    );
  });

  test('an input schema that shrank blocks it', async () => {
    expect(await fateOf(past, typed(2, z.string(), z.number()))).toMatchObject({
      kind: 'blocked',
      reason: expect.stringMatching(/the input of line does not fit .* an upgrade from version 1/),
    });
  });

  test('an output schema that shrank blocks it, also where it takes its time', async () => {
    const small = /the output of line, step a does not fit/;
    for (const output of [z.number().max(4), z.number().refine(async (value) => value < 5)]) {
      expect(await fateOf(past, typed(2, z.number(), output))).toMatchObject({
        kind: 'blocked',
        reason: expect.stringMatching(small),
      });
    }
  });
});
