/** Whatever is thrown or shown, words are found for it, and finding them throws nothing. */
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AssertionError,
  assert,
  assertNever,
  describeError,
  show,
} from '../../src/ground/index.ts';
import { SEED, seeded } from './seed.ts';

const throwing = (): never => {
  throw new Error('trap');
};
const everyTrap = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((trap) => [trap, throwing]),
);
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const hostileError = () => {
  const error = new Error('x');
  for (const property of ['stack', 'name', 'message', 'code', 'cause']) {
    Object.defineProperty(error, property, { get: throwing });
  }
  return error;
};
const circular = () => {
  const error = new Error('round');
  error.cause = error;
  return error;
};

const HOSTILE: readonly (readonly [what: string, thrown: unknown, name: string, says: RegExp])[] = [
  ['undefined', undefined, 'NonError', /^threw undefined$/],
  ['null', null, 'NonError', /^threw null$/],
  ['a symbol', Symbol('s'), 'NonError', /^threw Symbol\(s\)$/],
  ['a text', 'out of paper', 'NonError', /^threw "out of paper"$/],
  ['a number', Number.NaN, 'NonError', /^threw NaN$/],
  ['a bigint', 7n, 'NonError', /^threw 7n$/],
  ['a function', function boo() {}, 'NonError', /^threw function boo$/],
  ['an object', { status: 503 }, 'NonError', /^threw \{"status":503\}$/],
  ['a frozen object', Object.freeze({ a: 1 }), 'NonError', /^threw \{"a":1\}$/],
  ['an object of no prototype', Object.create(null), 'NonError', /^threw \{\}$/],
  ['a frozen error', Object.freeze(new Error('cold')), 'Error', /^cold$/],
  ['an error that is its own cause', circular(), 'Error', /^round$/],
  ['an error of throwing getters', hostileError(), 'Error', /^$/],
  ['an error of another realm', runInNewContext('new RangeError("far")'), 'RangeError', /^far$/],
  [
    'a proxy that throws at every touch',
    new Proxy({}, everyTrap),
    'NonError',
    /^threw an unreadable object$/,
  ],
  [
    'a proxy of an error that throws',
    new Proxy(new Error('x'), everyTrap),
    'NonError',
    /unreadable/,
  ],
  [
    'a function proxy that throws',
    new Proxy(() => {}, everyTrap),
    'NonError',
    /unreadable function/,
  ],
  ['a revoked proxy', revoked(), 'NonError', /^threw an unreadable object$/],
  [
    'a toJSON that throws',
    { toJSON: throwing },
    'NonError',
    /^threw \{"toJSON":function throwing\}$/,
  ],
  [
    'a getter that throws',
    {
      get a() {
        return throwing();
      },
    },
    'NonError',
    /unreadable/,
  ],
  ['a promise', Promise.resolve(), 'NonError', /^threw an instance of Promise$/],
];

describe('describeError', () => {
  test.each(HOSTILE)('finds words for %s', (_, thrown, name, says) => {
    const info = describeError(thrown);
    expect(info.name).toBe(name);
    expect(info.message).toMatch(says);
    expect(JSON.parse(JSON.stringify(info))).toEqual(info);
  });

  test('keeps name, message, code and stack', () => {
    const info = describeError(Object.assign(new TypeError('bad'), { code: 'E_BAD' }));
    expect(info).toMatchObject({ name: 'TypeError', message: 'bad', code: 'E_BAD' });
    expect(info.stack).toContain('errors.test.ts');
    expect(describeError(Object.assign(new Error('x'), { code: 404 })).code).toBe('404');
    expect(describeError(Object.assign(new Error('x'), { code: {} }))).not.toHaveProperty('code');
  });

  test('keeps the causes, outermost first, five at most', () => {
    let error = new Error('8');
    for (let n = 7; n >= 0; n--) error = new Error(String(n), { cause: error });
    expect(describeError(error).causes).toEqual(['1', '2', '3', '4', '5']);
    expect(describeError(new Error('x', { cause: { a: 1 } })).causes).toEqual(['{"a":1}']);
    expect(describeError(new Error('x', { cause: null })).causes).toEqual(['null']);
  });

  test('a cause without a message is told by its code, as of a refused connection', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(describeError(new TypeError('fetch failed', { cause: refused })).causes).toEqual([
      'ECONNREFUSED',
    ]);
    expect(describeError(new Error('x', { cause: new RangeError() })).causes).toEqual([
      'RangeError',
    ]);
  });

  test('clips what is long', () => {
    const error = Object.assign(new Error('m'.repeat(100_000)), {
      name: 'n'.repeat(1_000),
      code: 'c'.repeat(1_000),
      cause: new Error('z'.repeat(100_000)),
    });
    error.stack = 's'.repeat(100_000);
    const info = describeError(error);
    expect(info.message).toHaveLength(4_096);
    expect(info.message.endsWith('…')).toBe(true);
    expect([info.name.length, info.code?.length, info.stack?.length]).toEqual([200, 200, 8_192]);
    expect(info.causes?.[0]).toHaveLength(1_024);
  });
});

describe('show', () => {
  test('writes small data as JSON, and names what is none', () => {
    expect(show({ a: [1, 'b', null, true], c: {} })).toBe('{"a":[1,"b",null,true],"c":{}}');
    expect(show({ at: new Date(0), f: show, u: undefined, n: 1n })).toBe(
      '{"at":an instance of Date,"f":function show,"u":undefined,"n":1n}',
    );
    expect(show(new Map([[1, 2]]))).toBe('an instance of Map');
    expect(show(new RangeError('far'))).toBe('RangeError: far');
    expect(show(() => 1)).toBe('function (anonymous)');
  });

  test('is short, however large the value, and looks at little of it', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, n]));
    let lookCount = 0;
    const watched = new Proxy(new Array(100_000).fill(1), {
      get: (of, key, receiver) => {
        lookCount++;
        return Reflect.get(of, key, receiver);
      },
    });
    for (const value of [wide, deep, 'x'.repeat(1_000_000), watched, { watched }]) {
      expect(show(value).length).toBeLessThanOrEqual(202);
    }
    expect(lookCount).toBeLessThan(100);
    expect(show([[[[1]]]])).toBe('[[[[…]]]]');
  });
});

describe(`with seed ${SEED}`, () => {
  test('describeError and show never throw, and give bounded text', () => {
    const anything = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
      fc.anything().map((cause) => new Error('x', { cause })),
      fc.anything().map((extra) => Object.assign(new Error('x'), { code: extra, name: extra })),
    );
    fc.assert(
      fc.property(anything, (value) => {
        const info = describeError(value);
        expect(JSON.parse(JSON.stringify(info))).toEqual(info);
        expect(JSON.stringify(info).length).toBeLessThan(60_000);
        expect(show(value).length).toBeLessThanOrEqual(202);
      }),
      seeded(1_000),
    );
  });
});

test('assert and assertNever throw an AssertionError', () => {
  expect(() => assert(0, 'zero')).toThrow(AssertionError);
  expect(() => assert('a', 'fine')).not.toThrow();
  expect(() => assertNever({ type: 'other' } as never)).toThrow(
    'a case is missing for {"type":"other"}',
  );
});
