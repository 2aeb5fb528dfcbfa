/** What people are shown of a value in which some things are named as secret. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, REDACTED, redact, unfitRedaction } from '../../src/ground/index.ts';

test('a name hides every property of that name, at whatever depth and in either case', () => {
  const json = {
    password: 'a',
    user: { Password: ['b'], name: 'c' },
    list: [{ PASSWORD: { d: 1 } }, { passwords: 'e' }],
  };
  expect(redact(json, ['password'])).toEqual({
    password: REDACTED,
    user: { Password: REDACTED, name: 'c' },
    list: [{ PASSWORD: REDACTED }, { passwords: 'e' }],
  });
});

test('a path hides what it leads to from the top, and nothing beside it', () => {
  const json = { token: 1, a: { token: 2, b: { token: 3 } }, c: [{ token: 4 }] };
  expect(redact(json, ['*.token'])).toEqual({
    token: 1,
    a: { token: REDACTED, b: { token: 3 } },
    c: [{ token: 4 }],
  });
  expect(redact(json, ['c.*.token'])).toMatchObject({ a: json.a, c: [{ token: REDACTED }] });
  expect(redact(json, ['a.**.token'])).toMatchObject({
    token: 1,
    a: { token: REDACTED, b: { token: REDACTED } },
    c: json.c,
  });
  expect(redact(json, ['c.0'])).toMatchObject({ c: [REDACTED] });
  expect(redact(json, ['*'])).toEqual({ token: REDACTED, a: REDACTED, c: REDACTED });
});

test('whatever is not named is the very same value', () => {
  const json = { a: { b: [1, 2] }, c: { token: 'x' } };
  expect(redact(json, [])).toBe(json);
  expect(redact(json, ['elsewhere'])).toBe(json);
  expect((redact(json, ['token']) as typeof json).a).toBe(json.a);
  expect(redact('password', ['password'])).toBe('password');
});

test('a property called __proto__ stays one, and changes no prototype', () => {
  const json = JSON.parse('{"__proto__":{"x":1},"token":2}') as Json;
  const shown = redact(json, ['token']);
  expect(JSON.stringify(shown)).toBe(`{"__proto__":{"x":1},"token":"${REDACTED}"}`);
  expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
});

test('what is nested beyond all measure is hidden and not followed', () => {
  const deep = JSON.parse(`${'['.repeat(2_000)}"x"${']'.repeat(2_000)}`) as Json;
  expect(JSON.stringify(redact(deep, ['token']))).toContain(REDACTED);
});

test('no secret under a named property is left, in any value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom('k', 'K'), (value, name) => {
      const json = JSON.parse(JSON.stringify({ a: [{ [name]: ['secret', value] }] })) as Json;
      expect(JSON.stringify(redact(json, ['k']))).not.toContain('secret"');
    }),
  );
});

test('a name that could hide nothing is told', () => {
  expect(['password', '*.token', '**.a', 'a.*'].map(unfitRedaction)).toEqual(
    Array(4).fill(undefined),
  );
  expect(['', 'a..b', 'a.**', 3].map(unfitRedaction)).not.toContain(undefined);
});
