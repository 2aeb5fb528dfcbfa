/** Permits divided among pods: never more than there are, nobody left out who could have one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Asking, divide, shareOf } from '../../src/throttle/fleet/shares.ts';

const pods = fc
  .array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 80 })
  .map((demands) => demands.map((demand, index) => ({ key: `pod-${index * 7 + 3}`, demand })));

function sharesOf(cap: number, asking: readonly Asking[], from?: string): number[] {
  const division = divide(cap, asking, from);
  return asking.map((pod) => shareOf(division, pod));
}

test('all shares together are the whole cap, whoever asks for what', () => {
  fc.assert(
    fc.property(pods, fc.integer({ min: 1, max: 500 }), fc.string(), (asking, cap, from) => {
      const sum = sharesOf(cap + 0.5, asking, from).reduce((all, share) => all + share, 0);
      expect(sum).toBe(cap);
    }),
  );
});

test('nobody who asks for more gets less, but for one permit that does not divide', () => {
  fc.assert(
    fc.property(pods, fc.integer({ min: 1, max: 500 }), (asking, cap) => {
      const shares = sharesOf(cap, asking);
      for (const [index, { demand }] of asking.entries()) {
        for (const [other, { demand: otherDemand }] of asking.entries()) {
          if (demand >= otherDemand)
            expect(shares[index]!).toBeGreaterThanOrEqual(shares[other]! - 1);
        }
      }
    }),
  );
});

test('where there is enough, everybody gets what they asked for', () => {
  fc.assert(
    fc.property(pods, fc.integer({ min: 0, max: 50 }), (asking, more) => {
      const wanted = asking.reduce((all, { demand }) => all + demand, 0);
      const shares = sharesOf(wanted + more, asking);
      for (const [index, { demand }] of asking.entries()) {
        expect(shares[index]!).toBeGreaterThanOrEqual(demand);
      }
    }),
  );
});

test('with fewer permits than pods, the arc gives one each to as many as there are', () => {
  const asking = Array.from({ length: 64 }, (_, index) => ({ key: `p${100 + index}`, demand: 64 }));
  const shares = sharesOf(50.9, asking, 'p150');
  expect(shares.filter((share) => share === 1)).toHaveLength(50);
  expect(shares[50]).toBe(1);
  expect(shares[49]).toBe(0);
});
