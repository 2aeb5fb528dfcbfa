/** A breaker leaves an API alone that is down, and not one of which some calls fail. */
import { describe, expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { FleetBreaker } from '../../src/throttle/fleet/fleet-breaker.ts';
import { FleetEstimate, HybridLaw, Lease, PermitPool, policyOf } from '../../src/throttle/index.ts';
import { Breaker } from '../../src/throttle/permits/breaker.ts';
import { blank } from '../../src/throttle/record/seconds.ts';
import { seededRandom } from '../support/seeded-random.ts';

const RULE = policyOf('api', {}).breaker!;

/** Calls one after the other, of which this share fails; what part of them was let through. */
function letThrough(failedShare: number, { seed = 1, everyMs = 16, forMs = 600_000 } = {}): number {
  const breaker = new Breaker(RULE);
  const random = seededRandom(seed);
  let [sent, wanted] = [0, 0];
  for (let nowMs = 0; nowMs < forMs; nowMs += everyMs) {
    wanted++;
    if (!breaker.mayStart(nowMs)) continue;
    sent++;
    const isProbe = breaker.started(nowMs);
    const kind = random.fraction() < failedShare ? 'failure' : 'ok';
    breaker.ended(kind, isProbe, nowMs, random.fraction());
  }
  return sent / wanted;
}

describe('a process', () => {
  test.each([0.1, 0.3, 0.4])('calls on where %f of the calls fail by chance', (share) => {
    for (const seed of [1, 2, 3]) expect(letThrough(share, { seed })).toBeGreaterThan(0.95);
  });

  test('calls on also where a window has just enough calls to judge', () => {
    for (const seed of [1, 2, 3]) {
      expect(letThrough(0.4, { seed, everyMs: 250, forMs: 1_800_000 })).toBeGreaterThan(0.85);
    }
  });

  test.each([0.7, 0.9, 1])('leaves an API alone of whose calls %f fail', (share) => {
    expect(letThrough(share)).toBeLessThan(0.05);
  });

  test('opens after eight failures in a row of an API that was well, however many calls there were', () => {
    const breaker = new Breaker(RULE);
    for (let count = 0; count < 500; count++) breaker.ended('ok', false, count * 10, 0.5);
    for (let count = 0; count < 8; count++) {
      expect(breaker.state(5_000)).toBe('closed');
      breaker.ended('failure', false, 5_000, 0.5);
    }
    expect(breaker.state(5_001)).toBe('open');
  });

  test.each([
    ['ok ok ok', 'closed'],
    ['ok failure ok ok', 'closed'],
    ['ok failure failure', 'open'],
    ['failure', 'open'],
  ])('after the probes %s it is %s', (probes, state) => {
    const breaker = new Breaker(RULE);
    for (let count = 0; count < 8; count++) breaker.ended('failure', false, 0, 0.5);
    for (const kind of probes.split(' ') as ('ok' | 'failure')[]) {
      expect(breaker.state(6_000)).toBe('half-open');
      breaker.ended(kind, breaker.started(6_000), 6_000, 0.5);
    }
    expect(breaker.state(6_000)).toBe(state);
  });
});

/** Of each fifty calls one is said to have failed, and nothing is said of the others. */
test('calls of which nothing is said keep no breaker open, nor open it', () => {
  const breaker = new Breaker(RULE);
  let sent = 0;
  for (let nowMs = 0; nowMs < 600_000; nowMs += 20) {
    if (!breaker.mayStart(nowMs)) continue;
    const kind = ++sent % 50 === 0 ? 'failure' : 'ignored';
    breaker.ended(kind, breaker.started(nowMs), nowMs, 0.5);
  }
  expect(sent).toBe(30_000);
  for (let count = 0; count < 200; count++) breaker.ended('failure', false, 600_000, 0.5);
  expect(breaker.state(600_000)).toBe('open');
  for (let count = 0; count < 3; count++) {
    expect(breaker.state(606_000)).toBe('half-open');
    breaker.ended('ignored', breaker.started(606_000), 606_000, 0.5);
  }
  expect(breaker.state(606_000)).toBe('closed');
});

describe('a fleet', () => {
  const at = (ms: number, ok: number, failed: number) => [
    { ...blank(ms / 1_000), sent: ok + failed, ok, failed },
  ];
  const tick = (breaker: FleetBreaker, ms: number, ok: number, failed: number) =>
    breaker.tick({ seconds: at(ms - 1_000, ok, failed), late: [] }, ms, 3_000, 0.5);

  test('is shut by most calls that fail, and not by about half of a few', () => {
    const breaker = new FleetBreaker(RULE);
    tick(breaker, 3_000, 9, 11);
    expect(breaker.state).toBe('closed');
    tick(breaker, 6_000, 1, 19);
    expect(breaker.state).toBe('open');
  });

  test('is not shut by calls that went well, whatever share of them may fail', () => {
    const breaker = new FleetBreaker({ ...RULE, errorShare: 0 });
    tick(breaker, 3_000, 50, 0);
    expect(breaker.state).toBe('closed');
  });

  test('is well again by most probes', () => {
    const breaker = new FleetBreaker(RULE);
    tick(breaker, 3_000, 0, 30);
    tick(breaker, 6_000, 0, 0);
    expect(breaker.state).toBe('half-open');
    tick(breaker, 9_000, 2, 4);
    expect(breaker.state).toBe('half-open');
    tick(breaker, 12_000, 5, 3);
    expect(breaker.state).toBe('closed');
  });

  test.each(['client', 'ignored'] as const)('is well again by calls that end %s', (kind) => {
    const policy = policyOf('api', {});
    const estimate = new FleetEstimate(policy);
    const law = new HybridLaw(0);
    const pool = new PermitPool(policy, law);
    const lease = new Lease('alder', law, pool, 3_000);
    const states: string[] = [];
    for (let nowMs = 0; nowMs < 120_000; nowMs += 100) {
      if (nowMs % 3_000 === 0) {
        const reports = new Map([['alder', lease.report(5, nowMs)]]);
        lease.told(nowMs);
        const said = estimate.tick(reports, { nowMs, beatMs: 3_000, chance: 0.5 });
        lease.heed(said, nowMs, 0.5);
        states.push(said.breaker);
      }
      lease.turn(nowMs);
      const permit = pool.take('normal', 1, nowMs);
      const isIll = nowMs > 10_000 && nowMs < 30_000;
      if (permit) pool.end(permit, { kind: isIll ? 'failure' : kind }, nowMs, 0.5);
    }
    expect(states).toContain('half-open');
    expect(states.slice(-10)).toEqual(Array(10).fill('closed'));
  });

  test('that is shut has one pod ask, however often another one leads', () => {
    const scene = new Scene({ kind: 'inflight', pods: 64, seed: 5, by: 'ours', beatMs: 3_000 });
    scene.runTo(60);
    scene.api.scale = 0;
    for (let second = 60; second < 240; second += 30) {
      scene.runTo(second + 30);
      scene.fleet!.changeLeader();
    }
    expect(scene.figures(90, 240).sent).toBeLessThan(40);
    scene.api.scale = 1;
    scene.runTo(300);
    expect(scene.goodFrom(240, 300, 4, 0.85)).toBeLessThan(285);
  });

  test.each([1, 8])(
    'of %i pods gets as much of an API that fails at times as without one',
    (pods) => {
      const okOf = (breaker: false | undefined) => {
        const throttle = { breaker };
        const scene = new Scene({
          ...{ kind: 'inflight', pods, seed: 5, by: 'ours', beatMs: 3_000, throttle },
        });
        const call = scene.api.call.bind(scene.api);
        scene.api.call = (answer) => {
          if (scene.world.fraction() >= 0.4) return call(answer);
          scene.world.at(scene.world.now + 300, () => answer('failure'));
        };
        scene.runTo(600);
        return scene.seconds(60, 600).reduce((sum, { ok }) => sum + ok, 0);
      };
      expect(okOf(undefined)).toBeGreaterThan(0.9 * okOf(false));
    },
  );
});
