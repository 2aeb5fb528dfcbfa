/** Which failures are one and the same to people. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { essenceOf, fingerprintOf, matches, parseFilter } from '../../src/query/index.ts';
import { seeded } from '../ground/seed.ts';

const of = (message: string, rest: object = {}) =>
  fingerprintOf({ machine: 'm', name: 'Error', code: 'E_X', message, ...rest });

test.each([
  ['timeout after 3000 ms', 'timeout after 12.5 ms'],
  ['no run 01JCQ8ZZZZZZZZZZZZZZZZZZZZ', 'no run 7ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
  [
    'task 5c0c2c14-9f1a-4bcd-abcd-0123456789ab is gone',
    'task ABCDEFAB-aaaa-bbbb-cccc-dddddddddddd is gone',
  ],
  ['bad pointer 0xdeadbeef', 'bad pointer 0x7'],
  ['commit 0a1b2c3d4e5f is missing', 'commit 99999999ffffffff is missing'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.0.3.77:6432'],
  ['no such file "a.txt"', 'no such file "/b/c d.txt"'],
  ["no such file 'a.txt'", "no such file 'b'"],
  ['no such file `a`', 'no such file `bc`'],
  ['at 2026-11-01T10:00:00Z it stopped', 'at 2025-01-31T23:59:59Z it stopped'],
  ['pod-7 is\n away', 'pod-12 is away'],
])('%s is what %s is', (one, other) => {
  expect(of(one)).toMatch(/^[0-9a-f]{16}$/);
  expect(of(one)).toBe(of(other));
});

test('another machine, code or wording is another failure', () => {
  const one = of('no such bucket');
  const others = [
    of('no such bucket', { machine: 'n' }),
    of('no such bucket', { code: 'E_Y' }),
    of('no such bucket', { code: undefined }),
    of('no such key'),
    of("can't open it, don't know why"),
    of("can't close it, don't know why"),
  ];
  expect(new Set([one, ...others]).size).toBe(others.length + 1);
});

test('a code makes the name of the class no matter', () => {
  expect(of('a', { name: 'Error' })).toBe(of('a', { name: 'Other' }));
  expect(of('a', { code: undefined, name: 'Error' })).not.toBe(
    of('a', { code: undefined, name: 'Other' }),
  );
});

test('a fingerprint is a word of a filter', () => {
  const error = { name: 'Error', code: 'E_X', message: 'timeout after 3 ms' };
  const facts = { id: 'a', machine: 'm', is: [], error };
  const filter = parseFilter(`error:${of('timeout after 99 ms')}`);
  expect(matches(filter, facts, 0)).toBe(true);
  expect(matches(filter, { ...facts, machine: 'n' }, 0)).toBe(false);
});

test('any message has an essence without digits, and taken again it is the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.nat(), (text, number) => {
      const essence = essenceOf(`${text} ${number}`);
      expect(essence).not.toMatch(/[0-9]/);
      expect(essenceOf(`${text} ${number + 1}`)).toBe(essence);
    }),
    seeded(2_000),
  );
});

test('a message of many megabytes takes no time', () => {
  const started = process.hrtime.bigint();
  for (const piece of ['"', "'", '`', 'a', '1', '#.', 'a-', "x'"]) of(piece.repeat(5_000_000));
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(5_000);
});
