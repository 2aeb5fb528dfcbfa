/** Ids of runs: what is one, and how both kinds fit into the same space. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRunId, longId, runIdMint, shortId, systemRandom } from '../../src/ground/index.ts';

test('a UUID becomes 26 characters and itself again, and no ULID is taken for one', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const short = shortId(uuid);
      expect(short).toHaveLength(26);
      expect(isRunId(short)).toBe(false);
      expect(longId(short)).toBe(uuid);
    }),
  );
});

test('a ULID stays as it is', () => {
  const clock = { now: () => 1_900_000_000_000 } as Parameters<typeof runIdMint>[0];
  const id = runIdMint(clock, systemRandom)();
  expect(shortId(id)).toBe(id);
  expect(longId(id)).toBe(id);
});

test('the least and the greatest UUID fit', () => {
  for (const digit of ['0', 'f']) {
    const uuid = '8-4-4-4-12'.replaceAll(/\d+/g, (count) => digit.repeat(Number(count)));
    expect(longId(shortId(uuid))).toBe(uuid);
  }
});

test.each(['', 'a', 'z'.repeat(26), `a${'U'.repeat(25)}`, '9'.repeat(26), 'A'.repeat(26)])(
  'the text %j stands for no run',
  (text) => {
    expect(longId(text)).toBeUndefined();
  },
);
