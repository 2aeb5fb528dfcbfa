/** What is said of a definition that was changed under an unchanged version. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine } from '../../src/index.ts';
import { changesOf, planOf } from '../../src/machine/index.ts';

const work = () => 'done';
const input = z.object({ id: z.string() });

/** As far as it is used here. */
interface Line {
  step(name: string, part: object): Line;
  sleep(name: string, delay: string): Line;
}

type Parts = Readonly<Record<string, 'nap' | object>>;

function shapeOf(parts: Parts, schema: z.ZodType = input): string {
  const machine = defineMachine({
    name: 'changing',
    version: 1,
    input: schema,
    steps: (empty: Line) => {
      let line = empty;
      for (const [name, part] of Object.entries(parts)) {
        line = part === 'nap' ? line.sleep(name, '1s') : line.step(name, part);
      }
      return line;
    },
  } as never);
  return planOf(machine)!.shape;
}

const step = { check: 'none', work };

test('a definition that is the same has no changes', () => {
  const parts = { a: step, nap: 'nap', b: step } as const;
  expect(changesOf(shapeOf(parts), shapeOf(parts))).toEqual([]);
});

test('a schema is compared though a part of it has no JSON Schema', () => {
  const [before, after] = [z.string(), z.number()].map((id) =>
    shapeOf({ a: step }, z.object({ id, at: z.coerce.date() })),
  );
  expect(changesOf(before!, after!)).toEqual([
    expect.stringMatching(/^the schema of its input is .*number.*; it was .*string/),
  ]);
});

test('steps and sleeps that are gone or new are named', () => {
  const [before, after] = [
    shapeOf({ a: step, nap: 'nap', b: step }),
    shapeOf({ b: step, c: step }),
  ];
  expect(changesOf(before, after)).toEqual(['a is gone', 'nap is gone', 'c is new']);
});

test('another order is told as it is and as it was', () => {
  const [before, after] = [shapeOf({ a: step, b: step }), shapeOf({ b: step, x: step, a: step })];
  expect(changesOf(before, after)).toEqual(['x is new', 'the order is b, a; it was a, b']);
});

test('phases that came or went are named with their step', () => {
  const [before, after] = [
    shapeOf({ a: { ...step, validate: () => undefined } }),
    shapeOf({ a: { ...step, persist: work } }),
  ];
  expect(changesOf(before, after)).toEqual(['a has no validate any more', 'a has a persist now']);
});

test('a step that became a sleep is no longer what it was', () => {
  expect(changesOf(shapeOf({ a: step, b: step }), shapeOf({ a: step, b: 'nap' }))).toEqual([
    'b has no work any more',
    'b has a sleep now',
  ]);
});

test('schemas are shown, the long ones in part', () => {
  const output = z.object({ size: z.number() });
  const [before, after] = [
    shapeOf({ a: { ...step, output } }),
    shapeOf({ a: step }, z.object({ id: z.string(), text: z.literal('x'.repeat(500)) })),
  ];
  const changes = changesOf(before, after);
  expect(changes).toHaveLength(2);
  expect(changes[0]).toMatch(/^the schema of its input is \{.*…; it was \{.*"id"/);
  expect(changes[0]!.length).toBeLessThan(600);
  expect(changes[1]).toMatch(/^the output schema of a is none; it was \{.*"size"/);
});
