/** The throttles of a process by the names of their APIs; one that nobody has defined has the defaults. */
import { type Clock, type Random, show } from '../ground/index.ts';
import type { ThrottleHandle, ThrottleSnapshot } from '../machine/index.ts';
import { API_NAME, isApiName } from './api-name.ts';
import type { Caller } from './caller.ts';
import { ThrottleOptionsError } from './errors.ts';
import { FleetShares } from './fleet/fleet-shares.ts';
import { BoundThrottle } from './handle.ts';
import { isHeld } from './permits/wanting.ts';
import { policyOf, type ThrottleOptions, type ThrottlePolicy } from './policy.ts';
import { RouteCalls } from './route-calls.ts';
import { snapshotOf } from './snapshot.ts';
import { Throttle } from './throttle.ts';

/** What `defineThrottle` gives: an API by its name, and how it is to be treated. */
export interface ThrottleDefinition {
  readonly name: string;
  readonly options: ThrottleOptions;
}

/** What is known of an API that somebody has had to wait for. */
export interface Crowd {
  readonly api: string;
  /** Whose runs keep to what is left. */
  readonly routes: ReadonlySet<string>;
  readonly left: number;
}

const SHOWN_LENGTH_MAX = 200;
const CROWDED_MS = 30_000;
/** Of more APIs than this those that nobody has called for so long are forgotten: names may be made up. */
const KEPT_COUNT = 200;
const KEPT_MS = 3_600_000;
const FORGET_EVERY_MS = 60_000;

function refuseOddName(name: unknown): void {
  if (isApiName(name)) return;
  const called = typeof name === 'string' ? name.slice(0, SHOWN_LENGTH_MAX) : show(name);
  throw new ThrottleOptionsError(called, `its name must be ${API_NAME}, got ${show(name)}`);
}

/** Says how calls of an API are to be limited. Refuses what cannot be, here and not at the first call. */
export function defineThrottle(name: string, options: ThrottleOptions = {}): ThrottleDefinition {
  refuseOddName(name);
  policyOf(name, options);
  return Object.freeze({ name, options: Object.freeze({ ...options }) });
}

function apisIn(given: unknown): Readonly<Record<string, number>> {
  if (given === undefined) return {};
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given };
  throw new TypeError(`apis must be an object such as { llm: 4 }, got ${show(given)}`);
}

/** They come from programs that nothing has checked: what is none would be heeded by nobody. */
function definitionsIn(given: unknown): readonly ThrottleDefinition[] {
  if (given === undefined) return [];
  const wanted = 'what defineThrottle gives';
  if (!Array.isArray(given)) {
    throw new TypeError(`throttles must be an array of ${wanted}, got ${show(given)}`);
  }
  const wrong = given.findIndex((one) => !isApiName(Object(one).name) || !Object(one).options);
  if (wrong < 0) return given;
  throw new TypeError(`throttles[${wrong}] must be ${wanted}, got ${show(given[wrong])}`);
}

/** For how long nobody has had anything to do with it; 0 where somebody has, or would find it shut. */
function idleMsOf({ pool, waiting, usedMs }: Throttle, nowMs: number): number {
  const isIdle = pool.inFlight + pool.cooling(nowMs) + waiting === 0;
  const isShut = pool.pausedUntilMs > nowMs || pool.breakerState(nowMs) !== 'closed';
  return isIdle && !isShut ? nowMs - usedMs : 0;
}

export interface ThrottlesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly throttles?: readonly ThrottleDefinition[] | undefined;
  /** So many calls at once, and nothing to be found out. */
  readonly apis?: Readonly<Record<string, number>> | undefined;
  /** Whether this process is a pod among others: then limits are the fleet's, unless they say otherwise. */
  readonly isInFleet?: boolean | undefined;
}

export class Throttles {
  /** What this process has to do with others. */
  readonly shares: FleetShares;
  readonly #ports: ThrottlesOptions;
  readonly #policies = new Map<string, ThrottlePolicy>();
  readonly #throttles = new Map<string, Throttle>();
  readonly #calls = new RouteCalls();
  /** When an API last had nothing left. */
  readonly #fullMs = new Map<string, number>();
  #isDraining = false;
  #forgotMs = Number.NEGATIVE_INFINITY;

  constructor(options: ThrottlesOptions) {
    this.#ports = options;
    this.shares = new FleetShares({
      throttles: () => this.#throttles.values(),
      throttleOf: (name) => {
        if (!isApiName(name)) return undefined;
        const throttle = this.throttleOf(name);
        return throttle.isShared ? throttle : undefined;
      },
      random: options.random,
    });
    for (const [name, inFlight] of Object.entries(apisIn(options.apis))) {
      refuseOddName(name);
      this.#policies.set(name, policyOf(name, { limits: { inFlight }, scope: 'local' }));
    }
    for (const { name, options: given } of definitionsIn(options.throttles)) {
      if (this.#policies.has(name)) {
        throw new ThrottleOptionsError(name, 'its name must be defined once, got two definitions');
      }
      this.#policies.set(name, policyOf(name, given));
    }
  }

  /** The throttle of this API, for somebody who calls it. */
  of(name: string, caller: Caller): ThrottleHandle {
    const throttle = this.throttleOf(name);
    const { route, held } = caller;
    if (route !== undefined) this.#calls.note(route, name, held, throttle.nowMs);
    // Looked up at every call: a handle may be kept for longer than an API that nobody calls is known.
    return new BoundThrottle(() => this.throttleOf(name), caller, this.#ports.clock);
  }

  /** How many wait for leave to call, over all APIs. */
  get waiting(): number {
    let count = 0;
    for (const throttle of this.#throttles.values()) count += throttle.waiting;
    return count;
  }

  /** APIs that runs have lately had to wait for, whose runs those are, and how many more may come. */
  crowds(): Crowd[] {
    const found = new Map<string, Crowd & { readonly isShut: boolean }>();
    this.#forgetIdle(this.#ports.clock.monotonicMs());
    for (const [api, throttle] of this.#throttles) {
      const { nowMs } = throttle;
      const sinceMs = nowMs - throttle.waitedMs;
      const isShut = isHeld(throttle, sinceMs, nowMs);
      const left = isShut ? 0 : Math.max(0, throttle.left(nowMs));
      if (left === 0) this.#fullMs.set(api, nowMs);
      // Of those who are held back, or were sent away, nobody can have come meanwhile.
      if (!isShut && nowMs >= throttle.parking.lastMs) this.#forget(api, throttle, nowMs);
      const routes = new Set(throttle.routes.keys());
      if (routes.size > 0) found.set(api, { api, routes, left, isShut });
    }
    const fromMs = this.#ports.clock.monotonicMs() - CROWDED_MS;
    return [...found.values()].map(({ api, left, isShut, routes }) => {
      // Where its other runs can call, those of this API find out by themselves that they cannot.
      const canElsewhere = (route: string) =>
        this.#calls
          .othersThan(api, route, fromMs)
          .some((other) => (found.get(other)?.left ?? (isShut ? 1 : 0)) > 0);
      const held = left > 0 ? [...routes] : [...routes].filter((route) => !canElsewhere(route));
      return { api, left, routes: new Set(held) };
    });
  }

  /**
   * Runs of a machine may have ceased to call this API, or it has room for all of them. While no more come
   * than are called nobody waits, and yet all of them would if more came.
   */
  #forget(api: string, { routes, pool }: Throttle, nowMs: number): void {
    const fromMs = nowMs - CROWDED_MS;
    const isFull = (this.#fullMs.get(api) ?? Number.NEGATIVE_INFINITY) > fromMs;
    const roundMs = 2 * (pool.latencies.quantile(0.5) ?? 0);
    const callsMs = isFull ? nowMs - Math.max(CROWDED_MS, roundMs) : nowMs;
    for (const [route, lastMs] of routes) {
      if (lastMs <= fromMs && !this.#calls.hasCalled(api, route, callsMs)) routes.delete(route);
    }
  }

  snapshots(): ThrottleSnapshot[] {
    return [...this.#throttles.values()].map(snapshotOf);
  }

  /** Whoever waits goes home: this process calls nothing any more that is not free at once. */
  drain(): void {
    this.#isDraining = true;
    this.shares.leave();
    for (const throttle of this.#throttles.values()) throttle.drain();
  }

  policyOf(name: string): ThrottlePolicy {
    return this.#policies.get(name) ?? policyOf(name);
  }

  throttleOf(name: string): Throttle {
    let throttle = this.#throttles.get(name);
    if (!throttle) {
      refuseOddName(name);
      throttle = new Throttle(this.policyOf(name), this.#ports);
      if (this.#isDraining) throttle.drain();
      this.#forgetIdle(throttle.nowMs);
      this.#throttles.set(name, throttle);
      this.shares.admit(throttle, throttle.nowMs);
    }
    return throttle;
  }

  /** What was learned of an API is in the store, for whoever calls it next. */
  #forgetIdle(nowMs: number): void {
    if (this.#throttles.size <= KEPT_COUNT || nowMs - this.#forgotMs < FORGET_EVERY_MS) return;
    this.#forgotMs = nowMs;
    for (const [name, throttle] of this.#throttles) {
      const isDeclared = this.#policies.has(name);
      if (isDeclared || idleMsOf(throttle, nowMs) < KEPT_MS) continue;
      this.#throttles.delete(name);
      this.#fullMs.delete(name);
    }
  }
}
