/** APIs of which nothing is known, some of which let calls wait in line from the first one on. */
import { describe, expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { FirstContact } from '../../src/throttle/estimate/first-contact.ts';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { bucketOf } from '../../src/throttle/record/latencies.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const RULE = { chargesRefusals: false, heedsLatency: true };

/** Calls that take as long as a server makes them wait that works on `room` of them at a time. */
function served(first: FirstContact, cap: number, room: number, before = cap): void {
  const msOf = (count: number) => 100 * Math.max(1, count / room);
  // As many as had waited before come back first.
  const most = Math.max(before, cap);
  first.note([[bucketOf(msOf(before)), most]], most);
  first.note([[bucketOf(msOf(cap)), 20]], 20);
}

function findFrom(
  from: number,
  room: number,
  first = new FirstContact(RULE),
  before = from,
): number {
  let [cap, former] = [from, before];
  for (let looks = 0; looks < 20; looks++) {
    served(first, cap, room, former);
    former = cap;
    const next = first.next(cap, 0, false)!;
    if (next.foundMs !== undefined) return next.cap;
    cap = next.cap;
  }
  return Number.POSITIVE_INFINITY;
}

describe('the first limit', () => {
  test.each([1, 2, 6, 50])('of an API that works on %i at a time is about that', (room) => {
    expect(findFrom(8, room)).toBeGreaterThanOrEqual(room);
    expect(findFrom(8, room)).toBeLessThan(1.5 * room + 0.1);
  });

  test('grows in large steps as long as calls take no longer', () => {
    const first = new FirstContact(RULE);
    for (const cap of [8, 20, 50]) {
      served(first, cap, 1_000);
      expect(first.next(cap, 0, false)).toEqual({ cap: 2.5 * cap });
    }
  });

  test('is halved from all that there were, also where half of them were on their way', () => {
    const first = new FirstContact(RULE);
    served(first, 8, 4);
    // Half of the permits were on their way between pods.
    expect(first.next(8, 4, false)).toEqual({ cap: 20 });
    served(first, 20, 4, 8);
    expect(first.next(20, 0, false)).toEqual({ cap: 4 });
    expect(findFrom(4, 4, first, 20)).toBeGreaterThanOrEqual(4);
  });

  test('of few is what the line of more tells, where fewer had none', () => {
    // Three at a time: ten and five waited in line, and two did not.
    expect(findFrom(10, 3)).toBeGreaterThanOrEqual(3);
    expect(findFrom(10, 3)).toBeLessThan(4);
  });

  test('goes on where calls failed for another reason than a line', () => {
    const first = new FirstContact(RULE);
    expect(first.ill(8)).toEqual({ cap: 4 });
    expect(findFrom(4, 1_000, first, 8)).toBe(Number.POSITIVE_INFINITY);
  });

  test('is what went well before a step after which most calls fail, and that step is not tried again', () => {
    const first = new FirstContact(RULE);
    for (const cap of [8, 20, 50]) {
      served(first, cap, 50);
      first.next(cap, 0, false);
    }
    expect(first.ill(125)).toMatchObject({ cap: 50, illCap: 125 });
  });

  test('is halved from where there was a line, also where calls of that line fail meanwhile', () => {
    const first = new FirstContact(RULE);
    served(first, 8, 4);
    first.next(8, 0, false);
    served(first, 20, 4, 8);
    expect(first.next(20, 0, false)).toEqual({ cap: 4 });
    expect(first.ill(4)).toEqual({ cap: 2 });
    expect(findFrom(2, 4, first, 20)).toBeGreaterThanOrEqual(4);
  });

  test('of one where nothing came back yet is not halved by guess', () => {
    const first = new FirstContact(RULE);
    first.ill(8);
    expect(first.next(4, 0, false)).toBeUndefined();
  });
});

test.each([
  [1, 1, 400],
  [1, 2, 1_500],
  [8, 1, 400],
  [8, 2, 1_500],
])('%i pods find that an API works on %i calls of %i ms at a time', (pods, permits, latencyMs) => {
  const api = { permits, latencyMs };
  const scene = new Scene({ kind: 'queueing', pods, seed: 3, by: 'ours', beatMs: 3_000, api });
  scene.runTo(900);
  const { goodput, timeouts, p95Ms } = scene.figures(300, 900);
  // Of one or two permits one is on its way from pod to pod now and then.
  expect(goodput).toBeGreaterThan(0.8);
  expect(timeouts).toBeLessThan(0.01);
  expect(p95Ms).toBeLessThan(1.7 * 1.5 * latencyMs);
});

test.each([
  [1, 3, 1_000],
  [3, 4, 500],
  [8, 3, 500],
  [8, 5, 1_000],
])(
  '%i pods soon use an API that works on %i calls of %i ms at a time',
  (pods, permits, latencyMs) => {
    const api = { permits, latencyMs, sigma: 0.2 };
    const scene = new Scene({ kind: 'queueing', pods, seed: 1, by: 'ours', beatMs: 3_000, api });
    scene.runTo(360);
    expect(scene.figures(60, 360).goodput).toBeGreaterThan(0.8);
    expect(scene.figures(120, 360).timeouts).toBe(0);
    expect(scene.figures(120, 360).p95Ms).toBeLessThan(2.5 * latencyMs);
  },
);

test.each([20, 50])(
  'no more than %i calls of 3 s are sent again and again where all of them time out then',
  (permits) => {
    const api = { permits, latencyMs: 3_000, sigma: 0.1 };
    const scene = new Scene({ kind: 'queueing', pods: 8, seed: 1, by: 'ours', beatMs: 3_000, api });
    scene.runTo(600);
    expect(scene.figures(120, 600).goodput).toBeGreaterThan(0.9);
    expect(scene.figures(120, 600).timeouts).toBeLessThan(0.04);
  },
);

test.each(['inflight', 'quota', 'queueing'] as const)(
  '64 pods that know nothing of an API (%s) use all of it within 22 s, and a step too far is short',
  (kind) => {
    const scene = new Scene({ kind, pods: 64, seed: 5, by: 'ours', beatMs: 2_000 });
    scene.runTo(60);
    expect(scene.goodFrom(0, 60, 4, 0.9)).toBeLessThanOrEqual(22);
    expect(scene.peak(0, 60)).toBeLessThan(2.5);
    const over = scene.seconds(20, 60).filter(({ sent, capacity }) => sent > 1.2 * capacity);
    expect(over.length).toBeLessThanOrEqual(5);
  },
);

test.each([24, 30, 36])('whoever leads from the %i. second on knows of a line', (atS) => {
  const scene = new Scene({ kind: 'queueing', pods: 8, seed: 4, by: 'ours', beatMs: 3_000 });
  scene.runTo(atS);
  scene.fleet!.changeLeader();
  scene.runTo(150);
  expect(scene.figures(40, 150).goodput).toBeGreaterThan(0.95);
  expect(scene.figures(40, 150).p95Ms).toBeLessThan(1_300);
});

test('so does a process by itself', async () => {
  const clock = new FakeClock();
  const throttles = new Throttles({
    ...{ clock, random: seededRandom(3) },
    throttles: [defineThrottle('model', { adaptive: true })],
  });
  const sleep = (ms: number) => new Promise<void>((wake) => clock.after(ms, wake));
  const counts = { ok: 0, timedOut: 0 };
  let freeMs = 0;
  // One at a time, and it works on at what nobody waits for any more.
  const call = async () => {
    freeMs = Math.max(freeMs, clock.monotonicMs()) + 400;
    const waitMs = freeMs - clock.monotonicMs();
    await sleep(Math.min(5_000, waitMs));
    counts[waitMs > 5_000 ? 'timedOut' : 'ok']++;
    if (waitMs > 5_000) throw Object.assign(new Error('late'), { name: 'TimeoutError' });
  };
  const caller = async () => {
    for (;;) {
      await throttles
        .of('model', { isRetry: false, refusals: 0 })
        .use(call)
        .catch(() => sleep(1_000));
    }
  };
  for (let index = 0; index < 40; index++) void caller();
  await clock.advance(300_000);
  Object.assign(counts, { ok: 0, timedOut: 0 });
  await clock.advance(300_000);
  expect(counts.ok).toBeGreaterThan(0.9 * 750);
  expect(counts.timedOut).toBeLessThan(0.01 * 750);
});
