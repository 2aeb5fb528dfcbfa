/** APIs whose names are made up by the thousand, and handles of those that were forgotten. */
import { expect, test } from 'vitest';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CALLER = { isRetry: false, refusals: 0, route: 'm' };
const HOUR_MS = 3_600_000;

function stage() {
  const clock = new FakeClock();
  const throttles = [defineThrottle('declared')];
  const all = new Throttles({ clock, random: seededRandom(1), throttles });
  const names = () => all.snapshots().map(({ api }) => api);
  const of = (name: string) => all.of(name, CALLER);
  const callMany = (count: number) => {
    for (let index = 0; index < count; index++) of(`tenant-${index}`).tryAcquire()?.release('ok');
  };
  return { clock, all, of, names, callMany };
}

test('what nobody has called for an hour is forgotten where there are many, and what is in use is not', async () => {
  const { clock, all, of, names, callMany } = stage();
  of('declared').tryAcquire()!.release('ok');
  const out = of('out').tryAcquire()!;
  of('ill')
    .tryAcquire()!
    .release({ kind: 'throttled', retryAfterMs: 3 * HOUR_MS });
  callMany(1_000);
  await clock.advance(HOUR_MS / 2);
  of('later').tryAcquire()!.release('ok');
  all.crowds();
  expect(names()).toHaveLength(1_004);
  await clock.advance(HOUR_MS / 2 + 1_000);
  all.crowds();
  expect(names().sort()).toEqual(['declared', 'ill', 'later', 'out']);
  out.release('ok');
});

test('a few are kept for good', async () => {
  const { clock, all, names, callMany } = stage();
  callMany(50);
  await clock.advance(5 * HOUR_MS);
  all.crowds();
  expect(names()).toHaveLength(50);
});

test('a handle of one that was forgotten goes on, with others of the same name', async () => {
  const { clock, all, of, callMany } = stage();
  const kept = of('tenant-7');
  callMany(1_000);
  await clock.advance(HOUR_MS + 1_000);
  all.crowds();
  const permit = kept.tryAcquire()!;
  expect(of('tenant-7').snapshot().inFlight).toBe(1);
  permit.release('ok');
  expect(kept.snapshot()).toMatchObject({ inFlight: 0, ended: { ok: 1 } });
});
