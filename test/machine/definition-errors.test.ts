/** A bad definition is refused when it is defined: names, versions, schemas, phases. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { define, good, ofLine, refused, step, work } from './refused.ts';

const NAME = 'letters, digits';
refused(
  'what is no definition',
  [undefined, null, 7, 'machine', () => ({}), Symbol('m')].map((definition, index) => ({
    what: `is refused: ${String(definition)}`,
    definition,
    path: 'the definition',
    wanted: 'an object',
    got: ['undefined', 'null', '7', '"machine"', 'function (anonymous)', 'Symbol(m)'][index]!,
  })),
);

refused('a machine name', [
  ...[
    undefined,
    '',
    'Ä',
    'a b',
    '1a',
    '/a',
    'a/',
    'a//b',
    'a@1',
    'a.b',
    '../a',
    'a\n',
    '__proto__',
  ].map((name) => ({
    what: `is refused: ${JSON.stringify(name)}`,
    definition: { ...good, name },
    path: 'name',
    wanted: NAME,
    got: JSON.stringify(name) ?? 'undefined',
  })),
  {
    what: 'longer than 64 characters is refused',
    definition: { ...good, name: 'a'.repeat(65) },
    path: 'name',
    wanted: NAME,
    got: `"${'a'.repeat(65)}"`,
  },
  { what: 'is a string', definition: { ...good, name: 7 }, path: 'name', wanted: NAME, got: '7' },
]);

test('a machine name of several parts is accepted, also where objects have a property of that name', () => {
  for (const name of ['a', 'A1', 'image/pull', 'constructor', 'a/1-b_c', `${'a'.repeat(64)}/b`]) {
    expect(define({ ...good, name })).toMatchObject({ name });
  }
});

refused('a version', [
  ...[undefined, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map((version) => ({
    what: `is refused: ${version}`,
    definition: { ...good, version },
    path: 'version',
    wanted: 'a whole number of at least 1',
    got: String(version),
  })),
  {
    what: 'is a number',
    definition: { ...good, version: '1' },
    path: 'version',
    wanted: 'a whole number',
    got: '"1"',
  },
]);

refused('an input or output', [
  ...[undefined, null, 7, {}, { '~standard': {} }, () => true].map((schema, index) => ({
    what: `is a schema, and no ${['undefined', 'null', 'number', 'object', 'half of one', 'function'][index]}`,
    definition: { ...good, input: schema },
    path: 'input',
    wanted: 'a Standard Schema',
    got: ['undefined', 'null', '7', '{}', '{"~standard":{}}', 'function (anonymous)'][index]!,
  })),
  {
    what: 'of the output is a schema as well',
    definition: { ...good, output: { url: 'string' } },
    path: 'output',
    wanted: 'a Standard Schema',
    got: '{"url":"string"}',
  },
  {
    what: 'of a step is a schema as well',
    definition: ofLine((line) => line.step('a', { ...step, output: 7 })),
    path: 'steps.a.output',
    wanted: 'a Standard Schema',
    got: '7',
  },
  {
    what: 'that cannot even be looked at is refused',
    definition: {
      ...good,
      input: {
        get '~standard'() {
          throw new Error('no');
        },
      },
    },
    path: 'input',
    wanted: 'a Standard Schema',
    got: 'something unreadable',
  },
]);

refused('a phase', [
  {
    what: 'check is not left out in silence',
    definition: { ...good, check: undefined },
    path: 'check',
    wanted: "a function, or 'none'",
    got: 'undefined',
  },
  {
    what: 'check knows no other word',
    definition: { ...good, check: 'never' },
    path: 'check',
    wanted: "a function, or 'none'",
    got: '"never"',
  },
  {
    what: 'work is mandatory',
    definition: { ...good, work: undefined },
    path: 'work',
    wanted: 'a function',
    got: 'undefined',
  },
  {
    what: 'work cannot be none',
    definition: { ...good, work: 'none' },
    path: 'work',
    wanted: 'a function',
    got: '"none"',
  },
  ...['validate', 'persist'].map((phase) => ({
    what: `${phase} is a function`,
    definition: { ...good, [phase]: true },
    path: phase,
    wanted: 'a function',
    got: 'true',
  })),
  {
    what: 'null is not left out',
    definition: { ...good, validate: null },
    path: 'validate',
    wanted: 'a function',
    got: 'null',
  },
  {
    what: 'check is mandatory in every step',
    definition: ofLine((line) => line.step('a', { work })),
    path: 'steps.a.check',
    wanted: "a function, or 'none'",
    got: 'undefined',
  },
]);

test('schemas that are functions are schemas', () => {
  const standard = v.object({ a: v.string() })['~standard'];
  expect(
    define({ ...good, input: Object.assign(() => {}, { '~standard': standard }) }),
  ).toMatchObject({ name: 'm' });
});
