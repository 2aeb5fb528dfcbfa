/** Ids, epochs, times, names and durations: what holds for every one of them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRunId, runIdMint, showDuration } from '../../src/ground/index.ts';
import {
  boundedSpan,
  boundedTime,
  EPOCH_MAX,
  EPOCH_TURN,
  raised,
  SPAN_MS_MAX,
  TIME_MS_MAX,
  TIME_MS_MIN,
} from '../../src/store/bounds.ts';
import { StoreOptionsError } from '../../src/store/errors.ts';
import { readPostgresWay } from '../../src/store/postgres/options.ts';
import { createSchema } from '../../src/store/postgres/schema-version.sql.ts';
import { TASK_ID_PATTERN } from '../../src/store/reasons.ts';
import { routeOf } from '../../src/store/words.ts';
import { seeded } from '../ground/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const nearlyIds = fc.oneof(
  fc.string({ unit: fc.constantFrom(...CROCKFORD), minLength: 25, maxLength: 27 }),
  fc.string({ unit: fc.constantFrom(...`${CROCKFORD}ILOUilou-`), minLength: 26, maxLength: 26 }),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.string(),
);

test('what is an id is the same to the program and to the tables', () => {
  fc.assert(
    fc.property(nearlyIds, (text) => {
      // A dollar in a pattern is the end of the text here, and of its last line elsewhere.
      expect(new RegExp(TASK_ID_PATTERN).test(text)).toBe(isRunId(text));
    }),
    seeded(2_000),
  );
});

test('an id that is minted later sorts later, and says when it was minted', () => {
  const times = fc.array(fc.integer({ min: -1, max: 2 ** 40 }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(times, fc.nat(), (given, seed) => {
      const random = seededRandom(seed);
      const sorted = given.toSorted((a, b) => a - b);
      const left = [...sorted];
      const mint = runIdMint({ now: () => left.shift()! } as never, random);
      const ids = sorted.map(() => mint());
      expect(ids.toSorted()).toEqual(ids);
      for (const [index, id] of ids.entries()) {
        const digits = [...id.slice(0, 10)].map((digit) => CROCKFORD.indexOf(digit));
        expect(digits.reduce((sum, digit) => sum * 32 + digit, 0)).toBe(
          Math.max(1, sorted[index]!),
        );
      }
    }),
    seeded(300),
  );
});

test('an epoch can be raised for ever, and rises until it turns', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.maxSafeNat(),
        fc.nat(2 ** 21).map((n) => EPOCH_MAX - n),
      ),
      (epoch) => {
        const next = raised(epoch);
        expect(Number.isSafeInteger(next) && next < EPOCH_TURN + 1).toBe(true);
        if (epoch < EPOCH_TURN) expect(next).toBe(epoch + 1);
        expect(raised(next)).toBe(next + 1);
      },
    ),
    seeded(1_000),
  );
});

test('bounds keep what is within them, keep the order, and change nothing a second time', () => {
  const ms = fc.double({ noNaN: true });
  fc.assert(
    fc.property(ms, ms, (a, b) => {
      for (const [bound, least, most] of [
        [boundedTime, TIME_MS_MIN, TIME_MS_MAX],
        [boundedSpan, Number.NEGATIVE_INFINITY, SPAN_MS_MAX],
      ] as const) {
        const [one, other] = [bound(Math.min(a, b)), bound(Math.max(a, b))];
        expect(one).toBeLessThanOrEqual(other);
        expect(bound(one)).toBe(one);
        expect(one >= least && other <= most).toBe(true);
        if (a >= least && a <= most) expect(bound(a)).toBe(a);
      }
    }),
    seeded(1_000),
  );
});

test('a schema is a plain name, or is refused: nothing gets out of its quotes', () => {
  const names = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...`ab_9"'; -\\$A`), maxLength: 70 }),
  );
  const counts = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(names, (name) => {
      const address = `postgres://localhost/db?schema=${encodeURIComponent(name)}`;
      try {
        const { schema } = readPostgresWay(address, {});
        expect(schema).toBe(name);
        expect(createSchema(schema!)).toMatch(/^create schema if not exists "[a-z0-9_]{1,63}"$/);
        counts.taken++;
      } catch (error) {
        if (!(error instanceof StoreOptionsError)) throw error;
        counts.refused++;
      }
    }),
    seeded(200),
  );
  expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(2);
});

test('a route stands for one machine and one version', () => {
  const machine = fc.stringMatching(/^[a-z][a-z0-9/@-]{0,8}$/);
  const task = fc.record({ machine, version: fc.nat(20) });
  fc.assert(
    fc.property(task, task, (one, other) => {
      const isSame = one.machine === other.machine && one.version === other.version;
      expect(routeOf(one) === routeOf(other)).toBe(isSame);
      expect(routeOf(one).slice(0, routeOf(one).lastIndexOf('@'))).toBe(one.machine);
    }),
    seeded(1_000),
  );
});

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};

/** What is meant by a duration as it is shown. */
function meant(shown: string): number {
  const [count, unit] = shown.split(' ');
  return Number(count) * UNIT_MS[unit!]!;
}

test('a duration is shown nearly as long as it is, and never longer than a longer one', () => {
  const ms = fc.oneof(fc.nat(2_000), fc.nat(100_000), fc.nat(10_000_000), fc.nat(2 ** 31 - 1));
  fc.assert(
    fc.property(ms, ms, (a, b) => {
      const [short, long] = [Math.min(a, b), Math.max(a, b)];
      expect(meant(showDuration(short))).toBeLessThanOrEqual(meant(showDuration(long)));
      expect(Math.abs(meant(showDuration(a)) - a)).toBeLessThanOrEqual(0.5 + a / 3);
    }),
    seeded(2_000),
  );
});
