/** Any Standard Schema, whoever wrote it: what fits is given back, what does not is told briefly. */
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { freezeDeep } from '../../src/ground/index.ts';
import { type AnySchema, parseWith, SchemaError } from '../../src/machine/index.ts';

const LIBRARIES: readonly (readonly [string, AnySchema, AnySchema])[] = [
  [
    'zod',
    z.object({ at: z.string().transform((text) => new Date(text)), n: z.number().default(3) }),
    z.object({ list: z.array(z.object({ a: z.string() })) }),
  ],
  [
    'valibot',
    v.object({
      at: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
      n: v.optional(v.number(), 3),
    }),
    v.object({ list: v.array(v.object({ a: v.string() })) }),
  ],
  [
    'arktype',
    type({ at: 'string.date.parse', n: 'number = 3' }),
    type({ list: type({ a: 'string' }).array() }),
  ],
];

/** A schema of nobody's library, of which only the answer matters. */
const odd = (validate: (value: unknown) => unknown): AnySchema =>
  ({ '~standard': { version: 1, vendor: 'odd', validate } }) as AnySchema;

async function refusal(schema: AnySchema, value: unknown): Promise<SchemaError> {
  try {
    await parseWith(schema, value, 'the input of m');
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
    return error as SchemaError;
  }
  throw new Error('the value was accepted');
}

describe.each(LIBRARIES)('%s', (_, transforming, plain) => {
  test('gives what comes out of the schema, which phases may not share if it is no plain data', () => {
    const stored = { at: '2020-01-01T00:00:00.000Z' };
    expect(parseWith(transforming, stored, 'it')).toEqual({
      value: { at: new Date(stored.at), n: 3 },
      isShareable: false,
    });
  });

  test('gives the same for a frozen value, however often, and leaves it alone', () => {
    const stored = { at: '2020-01-01T00:00:00.000Z' };
    freezeDeep(stored);
    const first = parseWith(transforming, stored, 'it');
    expect(parseWith(transforming, stored, 'it')).toEqual(first);
    expect(stored).toEqual({ at: '2020-01-01T00:00:00.000Z' });
  });

  test('plain data is frozen, so that phases may share it', () => {
    const parsed = parseWith(plain, { list: [{ a: 'x' }] }, 'it');
    expect(parsed).toEqual({ value: { list: [{ a: 'x' }] }, isShareable: true });
    const { list } = (parsed as { value: { list: object[] } }).value;
    expect(Object.isFrozen(list) && Object.isFrozen(list[0])).toBe(true);
  });

  test('a misfit is told with its path', async () => {
    const error = await refusal(plain, { list: [{ a: 'x' }, { a: 1 }] });
    expect(error).toMatchObject({ code: 'FLEETQ_SCHEMA', verdict: 'abort' });
    expect(error.message).toMatch(/^the input of m does not fit its schema: list\.1\.a: .*string/);
    expect(error.issues).toHaveLength(1);
  });
});

test('of many issues the first five are told, and how many there are besides', async () => {
  const issues = Array.from({ length: 12 }, (_, n) => ({ message: `no ${n}`, path: ['a', n] }));
  const error = await refusal(
    odd(() => ({ issues })),
    {},
  );
  expect(error.issues).toEqual([
    'a.0: no 0',
    'a.1: no 1',
    'a.2: no 2',
    'a.3: no 3',
    'a.4: no 4',
    'and 7 more',
  ]);
});

test('paths may have symbols and segments of objects in them', async () => {
  const path = [{ key: 'a' }, Symbol('s'), 0];
  const error = await refusal(
    odd(() => ({ issues: [{ message: 'no', path }] })),
    {},
  );
  expect(error.issues).toEqual(['a.Symbol(s).0: no']);
});

test('an issue is cut, however much its library says and however deep it lies', async () => {
  const path = Array.from({ length: 1_000 }, () => 'p'.repeat(1_000));
  const endless = { message: 'x'.repeat(1_000_000) };
  const error = await refusal(
    odd(() => ({ issues: [endless, { ...endless, path }, { message: 'short', path: ['a'] }] })),
    {},
  );
  expect(error.issues.map(({ length }) => length)).toEqual([500, 500, 8]);
  expect(error.message.length).toBeLessThan(2_000);
});

describe('asynchronous schemas', () => {
  const slow = z.object({ a: z.string() }).refine(async ({ a }) => a !== 'taken', 'is taken');

  test('are waited for', async () => {
    const answer = parseWith(slow, { a: 'x' }, 'it');
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toEqual({ value: { a: 'x' }, isShareable: true });
    expect((await refusal(slow, { a: 'taken' })).issues).toEqual(['is taken']);
    const slowValibot = v.pipeAsync(
      v.string(),
      v.checkAsync(async (text) => text !== 'no', 'is no'),
    );
    expect(await parseWith(slowValibot, 'yes', 'it')).toMatchObject({ value: 'yes' });
    expect((await refusal(slowValibot, 'no')).issues).toEqual(['is no']);
  });

  test('are waited for even where their promise is not one of ours', async () => {
    const thenable = (answer: object) => ({
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library is the point
      then: (take: (answer: object) => void) => take(answer),
    });
    expect(
      await parseWith(
        odd(() => thenable({ value: 7 })),
        1,
        'it',
      ),
    ).toEqual({
      value: 7,
      isShareable: true,
    });
    expect(
      (
        await refusal(
          odd(() => thenable({ issues: [{ message: 'no' }] })),
          1,
        )
      ).issues,
    ).toEqual(['no']);
  });

  test('that fail while nobody waits bring no process down', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      parseWith(
        odd(() => Promise.reject(new Error('late'))),
        1,
        'it',
      );
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});

describe('schemas that misbehave', () => {
  test.each([
    [
      'throws',
      () => {
        throw new RangeError('far');
      },
      'the schema itself threw RangeError: far',
    ],
    [
      'rejects',
      () => Promise.reject(new RangeError('far')),
      'the schema itself threw RangeError: far',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      'the schema itself threw undefined',
    ],
    ['answers nothing', () => undefined, 'the schema itself threw TypeError'],
    ['answers null', () => null, 'the schema itself threw TypeError'],
    ['answers nothing late', async () => undefined, 'the schema itself threw TypeError'],
  ])('a schema that %s is a misfit, and its cause is kept', async (_, validate, says) => {
    const error = await refusal(odd(validate), 1);
    expect(error.message).toContain(`the input of m does not fit its schema: ${says}`);
    expect('cause' in error).toBe(true);
  });

  test('a transform that throws on bad data is a misfit, not a crash', async () => {
    const url = z.string().transform((text) => new URL(text));
    expect((await refusal(url, 'no url')).cause).toBeInstanceOf(TypeError);
  });

  test('a value that is a function, or refers to itself, is given as it is', () => {
    const act = () => 1;
    expect(
      parseWith(
        odd(() => ({ value: act })),
        1,
        'it',
      ),
    ).toEqual({ value: act, isShareable: false });
    const round: Record<string, unknown> = {};
    Object.assign(round, { self: round, me: round });
    expect(
      parseWith(
        odd(() => ({ value: round })),
        1,
        'it',
      ),
    ).toMatchObject({ isShareable: true });
  });
});
