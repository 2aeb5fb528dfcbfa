/** Rates that were declared hold for all pods together, from the first call on. */
import { describe, expect, test } from 'vitest';
import type { ThrottleOptions, Throttles } from '../../src/throttle/index.ts';
import { DeclaredRates } from '../../src/throttle/permits/declared-rates.ts';
import { Pods } from './pods.ts';

const CALLERS = 3;
const CALL_MS = 20;

class Fleet extends Pods {
  /** When calls began. */
  readonly calls: number[] = [];
  readonly #options: ThrottleOptions;
  readonly #callMs: number;

  constructor(options: ThrottleOptions, callMs = CALL_MS) {
    super();
    this.#options = options;
    this.#callMs = callMs;
  }

  override join(options = this.#options): Throttles {
    return super.join(options);
  }

  /** All of its callers call whenever they may. */
  call(pod: Throttles, callers = CALLERS): void {
    const api = pod.of('api', { isRetry: false, refusals: 0 });
    const caller = async () => {
      for (;;) {
        const calling = api.use(() => {
          this.calls.push(this.nowMs);
          return this.after(this.#callMs);
        });
        await calling.catch(() => this.after(500));
      }
    };
    for (let count = 0; count < callers; count++) void caller();
  }

  callAll(from = 0, callers = CALLERS): void {
    for (const pod of this.all.slice(from)) this.call(pod, callers);
  }

  /** The most calls beyond what the rate allows in any time that ends after `fromMs`. */
  beyond(perSecond: number, fromMs = 0): number {
    let most = 0;
    for (const [first, beginMs] of this.calls.entries()) {
      for (let last = first; last < this.calls.length; last++) {
        const [count, ms] = [last - first + 1, this.calls[last]! - beginMs];
        if (this.calls[last]! >= fromMs) most = Math.max(most, count - (ms / 1_000) * perSecond);
      }
    }
    return most;
  }
}

async function fleetOf(pods: number, options: ThrottleOptions, callMs?: number): Promise<Fleet> {
  const fleet = new Fleet(options, callMs);
  for (let count = 0; count < pods; count++) {
    await fleet.clock.advance(700);
    fleet.join();
  }
  return fleet;
}

describe.each([
  { limits: { perSecond: 2, burst: 1 }, perSecond: 2, burst: 1 },
  { limits: { perSecond: 20, burst: 10 }, perSecond: 20, burst: 10 },
  { limits: { costPerMinute: 120 }, perSecond: 2, burst: 20 },
  { limits: { perSecond: 20, burst: 10 }, perSecond: 20, burst: 10, adaptive: true },
  { limits: { costPerMinute: 120 }, perSecond: 2, burst: 20, adaptive: true },
] as const)('$limits, adaptive: $adaptive', ({ limits, perSecond, burst, adaptive }) => {
  const PODS = 4;

  test('hold where pods that know each other begin to call', async () => {
    const fleet = await fleetOf(PODS, { limits, adaptive });
    await fleet.run(12);
    const beginMs = fleet.nowMs;
    fleet.callAll();
    await fleet.run(60);
    const firstS = fleet.calls.filter((atMs) => atMs < beginMs + 1_000).length;
    expect(firstS).toBeLessThanOrEqual(burst + perSecond);
    expect(fleet.beyond(perSecond)).toBeLessThanOrEqual(burst + PODS);
    expect(fleet.calls.length).toBeLessThanOrEqual(burst + 60 * perSecond + PODS);
    expect(fleet.calls.length).toBeGreaterThan(0.7 * 60 * perSecond);
  });

  test('hold where pods begin at one time, and call at once', async () => {
    const fleet = new Fleet({ limits, adaptive });
    for (let count = 0; count < PODS; count++) {
      fleet.join();
      fleet.callAll(count);
      await fleet.clock.advance(40);
    }
    await fleet.run(60);
    expect(fleet.beyond(perSecond)).toBeLessThanOrEqual(burst + PODS);
    expect(fleet.calls.length).toBeGreaterThan(0.7 * 60 * perSecond);
  });

  test('hold where pods join others that call', async () => {
    const fleet = await fleetOf(2, { limits, adaptive });
    fleet.callAll();
    await fleet.run(60);
    const joinMs = fleet.nowMs;
    for (let count = 0; count < 6; count++) {
      fleet.join();
      fleet.callAll(2 + count);
      await fleet.clock.advance(40);
    }
    await fleet.run(30);
    expect(fleet.beyond(1.05 * perSecond, joinMs)).toBeLessThanOrEqual(burst + 8);
  });
});

test.each([
  { perSecond: 5, callMs: 190 },
  { perSecond: 10, callMs: 95 },
  { perSecond: 2, callMs: 700 },
])(
  '$perSecond a second of $callMs ms are had by the next leader, too, and no more',
  async ({ perSecond, callMs }) => {
    const fleet = await fleetOf(2, { limits: { perSecond } }, callMs);
    fleet.callAll();
    await fleet.run(60);
    const changedMs = fleet.nowMs;
    fleet.changeLeader();
    await fleet.run(150);
    const late = fleet.calls.filter((atMs) => atMs >= changedMs + 30_000).length;
    expect(late).toBeGreaterThan(0.75 * 120 * perSecond);
    expect(fleet.beyond(perSecond)).toBeLessThanOrEqual(Math.max(1, perSecond / 2) + 2);
  },
);

test.each([
  { pods: 1, idle: 0 },
  { pods: 4, idle: 0 },
  { pods: 4, idle: 3 },
])(
  'a declared rate is used where nothing beyond it is tried: $pods pods, $idle of them idle',
  async ({ pods, idle }) => {
    const perSecond = 20;
    const fleet = await fleetOf(pods, { limits: { perSecond } }, 1_000);
    fleet.callAll(idle, 50);
    await fleet.run(90);
    const late = fleet.calls.filter((atMs) => atMs >= fleet.nowMs - 30_000).length;
    expect(late).toBeGreaterThan(0.85 * 30 * perSecond);
    expect(fleet.beyond(perSecond)).toBeLessThanOrEqual(perSecond / 2 + pods);
  },
);

test.each([1, 1 / 8])(
  'what one call costs stops others for ten minutes at most, with %d of the rate',
  (portion) => {
    const rates = new DeclaredRates({ perSecondMax: undefined, costPerMinuteMax: 60, burst: 1 });
    rates.divide(portion, 0);
    rates.spend(1e9, 0);
    const waitMs = rates.waitMs(1, 0);
    expect(waitMs).toBeLessThanOrEqual(10 * 60_000);
    expect(waitMs).toBeGreaterThan(9 * 60_000);
    // It has nothing while the call ends that cost so much.
    const late = new DeclaredRates({ perSecondMax: undefined, costPerMinuteMax: 60, burst: 1 });
    late.divide(portion, 0);
    late.divide(0, 0);
    late.charge(1e9, 0);
    late.divide(portion, 0);
    expect(late.waitMs(1, 0)).toBeLessThanOrEqual(11 * 60_000);
    expect(late.waitMs(1, 0)).toBeGreaterThan(9 * 60_000);
  },
);

test('what one call costs stops others for ten minutes at most, also where less of the rate is left', () => {
  const rates = new DeclaredRates({ perSecondMax: undefined, costPerMinuteMax: 60, burst: 1 });
  rates.spend(120, 0);
  const alone = rates.waitMs(1, 0);
  expect(alone).toBeGreaterThan(100_000);
  expect(alone).toBeLessThan(130_000);
  rates.divide(1 / 100, 0);
  expect(rates.waitMs(1, 0)).toBe(600_000);
  expect(rates.waitMs(1, 599_000)).toBe(1_000);
  expect(rates.waitMs(1, 600_000)).toBeLessThanOrEqual(10_000);
  expect(rates.owedPart(600_000)).toBe(0);
});

test('whoever owes what a call has cost wants as much of the rate as pays it within ten seconds', () => {
  const rates = new DeclaredRates({ perSecondMax: undefined, costPerMinuteMax: 600, burst: 1 });
  expect(rates.owedPart(0)).toBe(0);
  rates.spend(100, 0);
  expect(rates.owedPart(0)).toBe(0);
  rates.charge(50, 0);
  expect(rates.owedPart(0)).toBeCloseTo(0.5);
  expect(rates.owedPart(2_500)).toBeCloseTo(0.25);
  expect(rates.owedPart(5_000)).toBe(0);
});

const DIFFERENT: readonly (readonly ThrottleOptions[])[] = [
  [{}, {}, { limits: { perSecond: 10 } }, { limits: { perSecond: 10 } }],
  [{ limits: { perSecond: 100 } }, { limits: { perSecond: 10 } }],
  [{ limits: { perSecond: 10 } }, { limits: { perSecond: 100 } }, {}],
  [{}, { limits: { costPerMinute: 600 } }],
];
test.each(DIFFERENT)(
  'of rates that pods declare the least holds for all of them: %j, %j',
  async (...all) => {
    const fleet = new Fleet({});
    for (const options of all) fleet.join(options);
    fleet.callAll(0, 20);
    await fleet.run(30);
    const fromMs = fleet.nowMs;
    await fleet.run(60);
    const perSecond = fleet.calls.filter((atMs) => atMs >= fromMs).length / 60;
    expect(perSecond).toBeLessThan(10.6);
    expect(perSecond).toBeGreaterThan(8);
  },
);
