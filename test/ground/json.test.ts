/** What is journaled comes back as it was; what would not is refused, with the path to it. */
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeJson,
  encodeJson,
  FleetqError,
  freezeDeep,
  NotJsonError,
  roundedIn,
  settleJson,
  TooLargeError,
} from '../../src/ground/index.ts';
import { isReadRight } from '../support/misread-keys.ts';
import { SEED, seeded } from './seed.ts';

const MIB = 1024 * 1024;
const encode = (value: unknown, bytesMax = MIB) => encodeJson(value, 'the result', bytesMax);

function refusal(value: unknown, bytesMax = MIB): FleetqError {
  try {
    encode(value, bytesMax);
  } catch (error) {
    expect(error).toBeInstanceOf(FleetqError);
    return error as FleetqError;
  }
  throw new Error('the value was accepted');
}

describe(`with seed ${SEED}`, () => {
  // Minus zero is the one number that JSON gives back as another: here it has been given back.
  const json = fc
    .jsonValue({ maxDepth: 6 })
    .filter(isReadRight)
    .map((value) => JSON.parse(JSON.stringify(value)));

  test('any JSON comes back as it was, frozen', () => {
    fc.assert(
      fc.property(json, (value) => {
        const back = decodeJson(encode(value));
        expect(back).toStrictEqual(value);
        expect(typeof back !== 'object' || Object.isFrozen(back)).toBe(true);
      }),
      seeded(1_000),
    );
  });

  test('the text is what JSON.stringify gives', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(encode(value)).toBe(JSON.stringify(value));
      }),
      seeded(500),
    );
  });

  test('a settled value is what reading its text gives, and shares nothing with what was given', () => {
    const given = fc.jsonValue({ maxDepth: 6 }).filter(isReadRight).filter(isObject);
    fc.assert(
      fc.property(given, (value) => {
        const settled = settleJson(value, 'the result', MIB);
        expect(settled).toStrictEqual(JSON.parse(JSON.stringify(value)));
        freezeDeep(settled);
        expect(Object.isFrozen(value)).toBe(false);
      }),
      seeded(1_000),
    );
    const named = JSON.parse('{"__proto__":{"a":[-0,1]}}');
    expect(JSON.stringify(settleJson(named, 'the result', MIB))).toBe('{"__proto__":{"a":[0,1]}}');
  });

  test('the limit is exact: it fits at its size in bytes, and does not at one byte less', () => {
    const wild = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
    fc.assert(
      fc.property(
        wild.filter((value) => value !== null),
        (value) => {
          const bytes = Buffer.byteLength(JSON.stringify(value));
          expect(encode(value, bytes)).toBe(JSON.stringify(value));
          expect(refusal(value, bytes - 1)).toBeInstanceOf(TooLargeError);
        },
      ),
      seeded(1_000),
    );
  });

  test('whatever is given, the text is JSON within the limit, or a FleetqError says why not', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    const counts = { encoded: 0, refused: 0 };
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const text = encode(value, 400);
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(400);
          expect(encode(JSON.parse(text), 400)).toBe(text);
          counts.encoded++;
        } catch (error) {
          if (!(error instanceof FleetqError)) throw error;
          counts.refused++;
        }
      }),
      seeded(2_000),
    );
    expect(counts.encoded).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(100);
  });
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

class Money {
  readonly amount = 5;
  double() {
    return this.amount * 2;
  }
}
class Thenable {
  readonly secret = 1;
  // biome-ignore lint/suspicious/noThenProperty: what looks like a promise is the point
  then(): void {}
}
class Tagged {
  readonly [Symbol.toStringTag] = 'Tagged';
}
const cyclic: Record<string, unknown> = { a: {} };
(cyclic['a'] as Record<string, unknown>)['back'] = cyclic;
const cyclicList: unknown[] = [];
cyclicList.push(cyclicList);

const BAD: readonly (readonly [what: string, value: unknown, says: string])[] = [
  ['a bigint', 1n, 'a bigint is not JSON: use a string'],
  ['a function', () => 1, 'a function is not JSON'],
  ['a class', Money, 'a function is not JSON'],
  ['a symbol', Symbol('s'), 'a symbol is not JSON'],
  ['NaN', Number.NaN, 'NaN is not JSON'],
  ['Infinity', Number.POSITIVE_INFINITY, 'Infinity is not JSON'],
  ['a Date', new Date(0), 'a Date is not JSON: use an ISO string'],
  ['a Date of another realm', runInNewContext('new Date(0)'), 'a Date is not JSON'],
  ['a Map', new Map(), 'a Map or Set is not JSON'],
  ['a Set', new Set(), 'a Map or Set is not JSON'],
  ['a WeakMap', new WeakMap(), 'a Map or Set is not JSON'],
  ['a Map of another realm', runInNewContext('new Map()'), 'a Map or Set is not JSON'],
  ['a Buffer', Buffer.from('x'), 'binary data is not JSON'],
  ['a typed array', new Float64Array(1), 'binary data is not JSON'],
  ['an ArrayBuffer', new ArrayBuffer(1), 'binary data is not JSON'],
  ['a SharedArrayBuffer', new SharedArrayBuffer(1), 'binary data is not JSON'],
  ['a DataView', new DataView(new ArrayBuffer(1)), 'binary data is not JSON'],
  ['a promise', Promise.resolve(1), 'a promise is not JSON: await it'],
  ['a thenable of a class', new Thenable(), 'a promise is not JSON: await it'],
  ['an Error', new RangeError('x'), 'an Error is not JSON: return its message'],
  ['an Error of another realm', runInNewContext('new Error("x")'), 'an Error is not JSON'],
  ['a URL', new URL('http://localhost/'), 'an object with toJSON (an instance of URL)'],
  ['an object with toJSON', { toJSON: () => 1 }, 'an object with toJSON'],
  ['an array with toJSON', Object.assign([1], { toJSON: () => 1 }), 'an object with toJSON'],
  ['a regular expression', /x/, 'a RegExp is not JSON: use plain data'],
  ['a boxed number', Object(1), 'a Number is not JSON'],
  ['a URLSearchParams', new URLSearchParams('a=1'), 'a URLSearchParams is not JSON'],
  ['a generator', (function* () {})(), 'a Generator is not JSON'],
  ['an object of a tagged class', new Tagged(), 'a Tagged is not JSON'],
  ['undefined in an array', [1, undefined], 'undefined in an array is not JSON: use null'],
  ['a hole in an array', new Array(3), 'undefined in an array is not JSON: use null'],
  ['an object that contains itself', cyclic, 'it contains itself'],
  ['an array that contains itself', cyclicList, 'it contains itself'],
];

describe('not JSON', () => {
  test.each(BAD)('%s is refused', (_, value, says) => {
    const error = refusal(value);
    expect(error).toBeInstanceOf(NotJsonError);
    expect(error.code).toBe('FLEETQ_NOT_JSON');
    expect(error.verdict).toBe('abort');
    expect(error.message).toMatch(/^the result cannot be journaled: at /);
    expect(error.message).toContain(says);
  });

  test.each(BAD)('%s is refused deep inside, with the path to it', (_, value, says) => {
    const error = refusal({ ok: 1, list: [{}, { 'the thing': value }] });
    expect(error.message).toContain('at list[1].the thing');
    expect(error.message).toContain(says);
  });

  test('nesting is refused past 200 levels, and accepted up to there', () => {
    const nest = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
      return value;
    };
    expect(decodeJson(encode(nest(200)))).toEqual(nest(200));
    expect(refusal(nest(201)).message).toContain('it is nested deeper than 200 levels');
    expect(refusal(nest(100_000)).message).toContain('it is nested deeper than 200 levels');
  });

  test('a getter that throws says so itself', () => {
    const hostile = {
      get a(): never {
        throw new Error('mine');
      },
    };
    expect(() => encode(hostile)).toThrow('mine');
  });
});

describe('JSON all the same', () => {
  test('undefined is null, and a property that is undefined is not there', () => {
    expect(encode(undefined)).toBe('null');
    expect(encode({ a: undefined, b: { c: undefined }, d: null })).toBe('{"b":{},"d":null}');
  });

  test('an object of a class is its data, and so is one of another realm or of no prototype', () => {
    expect(encode(new Money())).toBe('{"amount":5}');
    expect(encode(runInNewContext('({ a: [1, { b: 2 }] })'))).toBe('{"a":[1,{"b":2}]}');
    expect(encode(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test('something that occurs twice without containing itself is written twice', () => {
    const shared = { a: 1 };
    expect(encode([shared, shared, { shared }])).toBe('[{"a":1},{"a":1},{"shared":{"a":1}}]');
  });

  test("a property called '__proto__' is data like any other", () => {
    const back = decodeJson(encode(JSON.parse('{"__proto__":{"isAdmin":true}}')));
    expect(Object.keys(back as object)).toEqual(['__proto__']);
    expect((back as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });
});

describe('too large', () => {
  test('a hundred megabytes in many parts are refused before they are made into text', () => {
    let read = 0;
    const chunk = 'x'.repeat(1_000);
    const huge = new Proxy(new Array(100_000).fill(chunk), {
      get: (of, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) read++;
        return Reflect.get(of, key, receiver);
      },
    });
    const error = refusal({ huge });
    expect(error).toBeInstanceOf(TooLargeError);
    expect(error.code).toBe('FLEETQ_TOO_LARGE');
    expect(error.message).toBe('the result is larger than the limit of 1048576 bytes');
    // Each part is looked at twice, and none past the limit.
    expect(read).toBeLessThan((2 * MIB) / 1_000 + 10);
  });

  test('one string of a hundred megabytes is refused by its length alone', () => {
    const usedBefore = process.memoryUsage().rss;
    expect(refusal('x'.repeat(100 * MIB))).toBeInstanceOf(TooLargeError);
    // Neither the string, which is one only on paper until it is read, nor its text was made.
    expect(process.memoryUsage().rss - usedBefore).toBeLessThan(90 * MIB);
  });

  test('a value that shares its parts so often that its text would be endless is refused', () => {
    let value: unknown = [];
    for (let level = 0; level < 60; level++) value = [value, value];
    expect(refusal(value)).toBeInstanceOf(TooLargeError);
  });

  test('many short numbers that fit are accepted', () => {
    const digits = new Array(500_000).fill(7);
    expect(encode(digits)).toHaveLength(1_000_001);
  });

  test('many long numbers that do not fit are refused', () => {
    const long = new Array(60_000).fill(-1 / 3e200);
    expect(refusal(long)).toBeInstanceOf(TooLargeError);
  });
});

describe('freezeDeep', () => {
  test('plain data is frozen through and through', () => {
    const value = { a: [{ b: { c: 1 } }] };
    expect(freezeDeep(value)).toBe(true);
    expect(Object.isFrozen(value.a[0]!.b)).toBe(true);
  });

  test('what cannot be frozen is told, and the rest is frozen all the same', () => {
    const value = { at: new Date(0), b: { c: new Uint8Array(1) }, d: {} };
    expect(freezeDeep(value)).toBe(false);
    expect(Object.isFrozen(value.d)).toBe(true);
    expect(Object.isFrozen(value.at)).toBe(false);
    expect(freezeDeep({ f: () => 1 })).toBe(false);
    expect(freezeDeep(() => 1)).toBe(false);
    expect(freezeDeep('text')).toBe(true);
  });

  test('data that refers to itself, again and again, is frozen in an instant', () => {
    const node: Record<string, unknown> = {};
    Object.assign(node, { self: node, me: node, list: [node, node] });
    expect(freezeDeep(node)).toBe(true);
    expect(Object.isFrozen(node)).toBe(true);
  });

  test('nesting has no depth that is too much', () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(freezeDeep(deep)).toBe(true);
  });
});

test('each property is asked once: a getter or a proxy cannot answer the check and the text differently', () => {
  let asked = 0;
  const fickle = {
    get of() {
      return asked++ === 0 ? 'plain' : new Map([['lost', 1]]);
    },
  };
  expect(encode(fickle)).toBe('{"of":"plain"}');
  expect(asked).toBe(1);
  const answers = [[1], Number.NaN];
  const proxy = new Proxy(
    { of: 0 },
    { get: (_, key) => (key === 'of' ? answers.shift() : undefined) },
  );
  expect(encode(proxy)).toBe('{"of":[1]}');
  const items = Object.defineProperty([0], 0, {
    get: () => answers.shift(),
    enumerable: true,
  });
  expect(refusal(items)).toBeInstanceOf(NotJsonError);
});

test('a whole number that would come back with other digits is found, and nothing else is', () => {
  for (const text of [
    '12345678901234567890',
    '{"a":[1,-9007199254740993]}',
    '{"a":"\\"1","b":100000000000000000001}',
    '1000000000000000000000',
  ]) {
    expect(roundedIn(text)).toMatch(/^\d{16,}$/);
  }
  for (const text of [
    '"12345678901234567890"',
    '{"12345678901234567890":1}',
    '{"a":"\\"12345678901234567890"}',
    '0.12345678901234567890',
    '1.2345678901234567e-123',
    '9007199254740993e1',
    '9007199254740991',
    // What JSON.stringify itself writes.
    '12345678901234567000',
  ]) {
    expect(roundedIn(text)).toBe(undefined);
  }
});
