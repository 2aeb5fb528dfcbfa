/** What a throttle is told about an API: nothing has to be, and everything has a default. */
import { DURATION_WANTED, type Duration, nearest, parseDuration, show } from '../ground/index.ts';
import type { BreakerRule } from './breaker.ts';
import type { Classify } from './classify.ts';
import { ThrottleOptionsError } from './errors.ts';
import { LAW_NAMES, type LawName } from './laws/index.ts';
import { isWithin } from './outcome.ts';

/** Higher first. `control` is for calls that the fleet itself needs to live. */
export const PRIORITIES = ['control', 'high', 'retry', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const SCOPES = ['hybrid', 'fleet', 'local'] as const;
export type Scope = (typeof SCOPES)[number];

export interface ThrottleOptions {
  /** How the limit is found: 'hybrid' unless you know better. */
  readonly law?: LawName | undefined;
  /**
   * Whose limit it is, where pods share a store. 'hybrid', the default: one for the fleet, found and divided
   * by whoever leads, and braked by each pod at once. 'fleet': without that brake. 'local': each process for
   * itself. Other laws than 'hybrid' are local.
   */
  readonly scope?: Scope | undefined;
  /** Calls at once to begin with, where nothing has been learned. */
  readonly start?: number | undefined;
  /** Ceilings that are never exceeded, whatever was learned. */
  readonly limits?:
    | {
        readonly inFlight?: number | undefined;
        readonly perSecond?: number | undefined;
        readonly costPerMinute?: number | undefined;
        /** How many calls may follow at once after a pause, under `perSecond`. */
        readonly burst?: number | undefined;
      }
    | undefined;
  /** 'off' never tries more than what went well: for limits that are known. */
  readonly probe?: 'auto' | 'off' | undefined;
  /** The API charges for calls that it refuses. */
  readonly refusalsCostQuota?: boolean | undefined;
  /** Whether growing latency is taken for a queue on the other side. */
  readonly heedsLatency?: boolean | undefined;
  readonly classify?: Classify | undefined;
  /** Shares of the limit that are kept for a class while it has calls to make. */
  readonly reserve?: Partial<Readonly<Record<Priority, number>>> | undefined;
  /** `false` for none. */
  readonly breaker?:
    | false
    | {
        readonly errorShare?: number | undefined;
        readonly callsMin?: number | undefined;
        readonly inARowMax?: number | undefined;
        readonly cool?: Duration | undefined;
        readonly coolMax?: Duration | undefined;
      }
    | undefined;
  /** How many may wait for a permit in this process. */
  readonly waitingMax?: number | undefined;
  /** A wait that will be longer parks the run: it holds no slot meanwhile. */
  readonly parkAfter?: Duration | undefined;
}

/** The same with everything decided. */
export interface ThrottlePolicy {
  readonly name: string;
  readonly law: LawName;
  readonly scope: Scope;
  readonly mayBrake: boolean;
  readonly start: number;
  readonly inFlightMax: number;
  /** Whether that was said, and not only bounded. */
  readonly isDeclared: boolean;
  readonly perSecondMax: number | undefined;
  readonly costPerMinuteMax: number | undefined;
  readonly burst: number;
  readonly probes: boolean;
  readonly chargesRefusals: boolean;
  readonly heedsLatency: boolean;
  readonly classify: Classify | undefined;
  readonly reserve: Readonly<Record<Priority, number>>;
  readonly breaker: BreakerRule | undefined;
  readonly waitingMax: number;
  readonly parkAfterMs: number;
}

export const START_DEFAULT = 8;
const IN_FLIGHT_MAX_DEFAULT = 10_000;
const WAITING_MAX_DEFAULT = 10_000;
const RESERVE = { control: 0.02, high: 0.1, retry: 0.05, normal: 0, low: 0 } as const;
const KEYS = [
  ...([
    'law',
    'scope',
    'start',
    'limits',
    'probe',
    'refusalsCostQuota',
    'heedsLatency',
    'classify',
  ] as const),
  ...(['reserve', 'breaker', 'waitingMax', 'parkAfter'] as const),
] satisfies (keyof ThrottleOptions)[];
const LIMIT_KEYS = ['inFlight', 'perSecond', 'costPerMinute', 'burst'] as const;
const BREAKER_KEYS = ['errorShare', 'callsMin', 'inARowMax', 'cool', 'coolMax'] as const;

export function policyOf(name: string, options: ThrottleOptions = {}): ThrottlePolicy {
  const read = new Reader(name);
  read.keys('', options, KEYS);
  read.keys('limits.', options.limits ?? {}, LIMIT_KEYS);
  read.keys('reserve.', options.reserve ?? {}, PRIORITIES);
  const limits = options.limits ?? {};
  const inFlightMax = read.count('limits.inFlight', limits.inFlight) ?? IN_FLIGHT_MAX_DEFAULT;
  const perSecondMax = read.positive('limits.perSecond', limits.perSecond);
  // A limit that was declared is a better beginning than a guess, unless the pace is what was declared.
  const guess = limits.inFlight === undefined ? START_DEFAULT : inFlightMax;
  const law = read.oneOf('law', options.law, LAW_NAMES) ?? 'hybrid';
  const scope = scopeOf(read, law, options);
  return {
    name,
    law,
    scope,
    mayBrake: scope !== 'fleet',
    start: Math.min(inFlightMax, read.positive('start', options.start) ?? guess),
    inFlightMax,
    isDeclared: limits.inFlight !== undefined,
    perSecondMax,
    costPerMinuteMax: read.positive('limits.costPerMinute', limits.costPerMinute),
    burst: read.positive('limits.burst', limits.burst) ?? Math.max(1, (perSecondMax ?? 1) / 2),
    probes: (read.oneOf('probe', options.probe, ['auto', 'off']) ?? 'auto') === 'auto',
    chargesRefusals: read.flag('refusalsCostQuota', options.refusalsCostQuota) ?? false,
    heedsLatency: read.flag('heedsLatency', options.heedsLatency) ?? true,
    classify: read.fn('classify', options.classify),
    reserve: reserveOf(read, options),
    breaker: breakerOf(read, options),
    waitingMax: read.count('waitingMax', options.waitingMax) ?? WAITING_MAX_DEFAULT,
    parkAfterMs: read.duration('parkAfter', options.parkAfter) ?? 5_000,
  };
}

function scopeOf(read: Reader, law: LawName, options: ThrottleOptions): Scope {
  const given = read.oneOf('scope', options.scope, SCOPES);
  if (law === 'hybrid') return given ?? 'hybrid';
  if (given === undefined || given === 'local') return 'local';
  throw read.wrong('scope', `'local' with the law ${law}`, given);
}

function reserveOf(read: Reader, { reserve = {} }: ThrottleOptions): ThrottlePolicy['reserve'] {
  const found = { ...RESERVE } as Record<Priority, number>;
  for (const priority of PRIORITIES) {
    found[priority] = read.share(`reserve.${priority}`, reserve[priority]) ?? found[priority];
  }
  const all = Object.values(found).reduce((sum, share) => sum + share, 0);
  if (all < 1) return found;
  throw read.wrong('reserve', 'shares that add up to less than 1', all);
}

function breakerOf(read: Reader, { breaker }: ThrottleOptions): BreakerRule | undefined {
  if (breaker === false) return undefined;
  const given = breaker ?? {};
  read.keys('breaker.', given, BREAKER_KEYS);
  return {
    errorShare: read.someShare('breaker.errorShare', given.errorShare) ?? 0.5,
    callsMin: read.count('breaker.callsMin', given.callsMin) ?? 20,
    windowMs: 6_000,
    inARowMax: read.count('breaker.inARowMax', given.inARowMax) ?? 8,
    coolMs: read.duration('breaker.cool', given.cool) ?? 5_000,
    coolMsMax: read.duration('breaker.coolMax', given.coolMax) ?? 60_000,
  };
}

/** Reads one value after the other, and says what is wrong with the first that is. */
class Reader {
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }

  wrong(option: string, wanted: string, got: unknown): ThrottleOptionsError {
    return new ThrottleOptionsError(this.#name, `${option} must be ${wanted}, got ${show(got)}`);
  }

  keys(prefix: string, given: unknown, known: readonly string[]): void {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw this.wrong(prefix.slice(0, -1) || 'options', 'an object', given);
    }
    const odd = Object.keys(given).find((key) => !known.includes(key));
    if (odd === undefined) return;
    const meant = nearest(odd, known);
    const hint = meant === undefined ? known.join(', ') : `'${meant}'`;
    throw this.wrong(`${prefix}${odd}`, `not there; there is ${hint}`, odd);
  }

  positive(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (Number.isFinite(value) && value > 0)) return value;
    throw this.wrong(option, 'a number above 0', value);
  }

  count(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000)) {
      return value;
    }
    throw this.wrong(option, 'a whole number from 1 to 1000000', value);
  }

  share(option: string, value: number | undefined): number | undefined {
    if (value === undefined || isWithin(value, 1)) return value;
    throw this.wrong(option, 'a share from 0 to 1', value);
  }

  /** Of nothing that fails, good calls would be too many. */
  someShare(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (isWithin(value, 1) && value > 0)) return value;
    throw this.wrong(option, 'a share above 0, up to 1', value);
  }

  flag(option: string, value: boolean | undefined): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(option, 'true or false', value);
  }

  fn<F>(option: string, value: F): F {
    if (value === undefined || typeof value === 'function') return value;
    throw this.wrong(option, 'a function', value);
  }

  duration(option: string, value: Duration | undefined): number | undefined {
    const ms = value === undefined ? undefined : parseDuration(value);
    if (value === undefined || ms !== undefined) return ms;
    throw this.wrong(option, DURATION_WANTED, value);
  }

  oneOf<T extends string>(
    option: string,
    value: T | undefined,
    known: readonly T[],
  ): T | undefined {
    if (value === undefined || known.includes(value)) return value;
    throw this.wrong(option, `one of ${known.join(', ')}`, value);
  }
}
