/** What a throttle is told about an API: nothing has to be, and everything has a default. */
import type { Duration } from '../ground/index.ts';
import type { Classify } from './answers/classify.ts';
import { LAW_NAMES, type LawName } from './laws/index.ts';
import { OptionsReader } from './options-reader.ts';
import type { BreakerRule } from './permits/breaker.ts';

/** Higher first. `control` is for calls that the fleet itself needs to live. */
export const PRIORITIES = ['control', 'high', 'retry', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

export const SCOPES = ['hybrid', 'fleet', 'local'] as const;
export type Scope = (typeof SCOPES)[number];

export interface ThrottleOptions {
  /**
   * Finds the limit out, from refusals and latency. Without it a throttle goes by `limits` and by what
   * the API says, in Retry-After and rate headers; and `law`, `start`, `refusalsCostQuota` and
   * `heedsLatency` are refused.
   */
  readonly adaptive?: boolean | undefined;
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
  readonly isAdaptive: boolean;
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
  readonly chargesRefusals: boolean;
  readonly heedsLatency: boolean;
  readonly classify: Classify | undefined;
  readonly reserve: Readonly<Record<Priority, number>>;
  readonly breaker: BreakerRule | undefined;
  readonly waitingMax: number;
  readonly parkAfterMs: number;
}

export const START_DEFAULT = 8;
/** More calls at once than a process makes: where so many may be out, nothing bounds them. */
export const UNBOUNDED = 10_000;
const WAITING_MAX_DEFAULT = 10_000;
const COOL_MS_MAX_DEFAULT = 60_000;
const IN_SECONDS: Readonly<Record<string, number>> = {
  ...{ perMinute: 60, rpm: 60, perHour: 3_600, perDay: 86_400 },
};
const RESERVE = { control: 0.02, high: 0.1, retry: 0.05, normal: 0, low: 0 } as const;
const KEYS = [
  ...([
    'adaptive',
    'law',
    'scope',
    'start',
    'limits',
    'refusalsCostQuota',
    'heedsLatency',
    'classify',
  ] as const),
  ...(['reserve', 'breaker', 'waitingMax', 'parkAfter'] as const),
] satisfies (keyof ThrottleOptions)[];
/** How a limit is found out. */
const ADAPTIVE_KEYS = ['law', 'start', 'refusalsCostQuota', 'heedsLatency'] as const;
const LIMIT_KEYS = ['inFlight', 'perSecond', 'costPerMinute', 'burst'] as const;
const BREAKER_KEYS = ['errorShare', 'callsMin', 'inARowMax', 'cool', 'coolMax'] as const;

export function policyOf(name: string, options: ThrottleOptions = {}): ThrottlePolicy {
  const read = new OptionsReader(name);
  read.keys('', options, KEYS);
  const { limits = {}, reserve = {} } = options;
  read.keys('limits', limits, LIMIT_KEYS, { hint: rateHint });
  read.keys('reserve', reserve, PRIORITIES);
  const inFlightMax = read.count('limits.inFlight', limits.inFlight) ?? UNBOUNDED;
  const perSecondMax = read.positive('limits.perSecond', limits.perSecond);
  // A limit that was declared is a better beginning than a guess, unless the pace is what was declared.
  const guess = limits.inFlight === undefined ? START_DEFAULT : inFlightMax;
  const isAdaptive = isAdaptiveIn(read, options);
  const law = read.oneOf('law', options.law, LAW_NAMES) ?? 'hybrid';
  const scope = scopeOf(read, law, options);
  return {
    name,
    isAdaptive,
    law,
    scope,
    mayBrake: isAdaptive && scope !== 'fleet',
    start: Math.min(inFlightMax, startOf(read, options) ?? guess),
    inFlightMax,
    isDeclared: limits.inFlight !== undefined,
    perSecondMax,
    costPerMinuteMax: read.positive('limits.costPerMinute', limits.costPerMinute),
    burst: burstOf(read, options) ?? Math.max(1, (perSecondMax ?? 1) / 2),
    chargesRefusals: read.flag('refusalsCostQuota', options.refusalsCostQuota) ?? false,
    heedsLatency: read.flag('heedsLatency', options.heedsLatency) ?? true,
    classify: read.prompt('classify', options.classify),
    reserve: reserveOf(read, options),
    breaker: breakerOf(read, options),
    waitingMax: read.count('waitingMax', options.waitingMax) ?? WAITING_MAX_DEFAULT,
    parkAfterMs: read.duration('parkAfter', options.parkAfter) ?? 5_000,
  };
}

/** A rate that was meant, in the words that there are. */
function rateHint(odd: string, value: unknown): string | undefined {
  const seconds = Object.hasOwn(IN_SECONDS, odd) ? IN_SECONDS[odd] : undefined;
  if (seconds === undefined) return undefined;
  return `say perSecond: ${typeof value === 'number' && value > 0 ? value : 10} / ${seconds}`;
}

/** What can never be had is no beginning. */
function startOf(read: OptionsReader, { start, limits }: ThrottleOptions): number | undefined {
  const most = limits?.inFlight;
  if (read.positive('start', start) === undefined || most === undefined || start! <= most)
    return start;
  throw read.wrong('start', `at most limits.inFlight, which is ${most}`, start);
}

/** What is found out by nobody would be heeded by nothing. */
function isAdaptiveIn(read: OptionsReader, options: ThrottleOptions): boolean {
  const isAdaptive = read.flag('adaptive', options.adaptive) ?? false;
  const vain = isAdaptive ? undefined : ADAPTIVE_KEYS.find((key) => options[key] !== undefined);
  if (vain === undefined) return isAdaptive;
  throw read.wrong(vain, 'left out, or stand beside adaptive: true', options[vain]);
}

function burstOf(read: OptionsReader, { limits }: ThrottleOptions): number | undefined {
  const burst = read.positive('limits.burst', limits?.burst);
  if (burst === undefined || limits?.perSecond !== undefined) return burst;
  throw read.wrong('limits.burst', 'beside limits.perSecond, which it is a part of', burst);
}

function scopeOf(read: OptionsReader, law: LawName, options: ThrottleOptions): Scope {
  const given = read.oneOf('scope', options.scope, SCOPES);
  if (law === 'hybrid') return given ?? 'hybrid';
  if (given === undefined || given === 'local') return 'local';
  throw read.wrong('scope', `'local' with the law ${law}`, given);
}

function reserveOf(
  read: OptionsReader,
  { reserve = {} }: ThrottleOptions,
): ThrottlePolicy['reserve'] {
  const found = { ...RESERVE } as Record<Priority, number>;
  for (const priority of PRIORITIES) {
    found[priority] = read.share(`reserve.${priority}`, reserve[priority]) ?? found[priority];
  }
  const all = Object.values(found).reduce((sum, share) => sum + share, 0);
  if (all < 1) return found;
  throw read.wrong('reserve', 'shares that add up to less than 1', all);
}

function breakerOf(read: OptionsReader, { breaker }: ThrottleOptions): BreakerRule | undefined {
  if (breaker === false) return undefined;
  const given = breaker === undefined ? {} : breaker;
  read.keys('breaker', given, BREAKER_KEYS, { wanted: 'an object, or false for none' });
  const coolMs = read.duration('breaker.cool', given.cool) ?? 5_000;
  const coolMsMax = read.duration('breaker.coolMax', given.coolMax);
  if (coolMsMax !== undefined && coolMsMax < coolMs) {
    throw read.wrong('breaker.coolMax', 'no shorter than breaker.cool', given.coolMax);
  }
  return {
    errorShare: read.someShare('breaker.errorShare', given.errorShare) ?? 0.5,
    callsMin: read.count('breaker.callsMin', given.callsMin) ?? 20,
    windowMs: 6_000,
    inARowMax: read.count('breaker.inARowMax', given.inARowMax) ?? 8,
    coolMs,
    coolMsMax: coolMsMax ?? Math.max(coolMs, COOL_MS_MAX_DEFAULT),
  };
}
