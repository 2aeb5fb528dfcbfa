/**
 * Leaves an API alone that is ill. Refusals never open it: an API that refuses is well.
 *
 *   closed ──half of many calls failed, or many in a row──▶ open ──cooled──▶ half open
 *     ▲                                                       ▲                 │
 *     └──────────────── three probes went well ───────────────┴── most failed ──┘
 */
import { isIllness, isWell, type OutcomeKind } from '../answers/outcome.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerRule {
  /** Opens where more than this share of the calls in the window failed, and not by chance. */
  readonly errorShare: number;
  /** In a window with fewer calls a share says nothing. */
  readonly callsMin: number;
  readonly windowMs: number;
  /** Opens after so many failures in a row, however few calls there are; after more where some fail. */
  readonly inARowMax: number;
  readonly coolMs: number;
  readonly coolMsMax: number;
}

export const PROBES_WANTED = 3;
/** Of a few calls more fail now and then than of many: so many standard errors are no sign. */
const ERRORS_BY_CHANCE = 2;
/** Failures in a row are a sign where that many would follow each other once in so many calls. */
const BY_CHANCE = 1e-6;

/** Whether more of these calls failed than would by chance, if `share` of all calls did. */
export function areTooMany(failed: number, ended: number, share: number): boolean {
  const byChance = ERRORS_BY_CHANCE * Math.sqrt(share * (1 - share) * ended);
  return failed > 0 && failed >= Math.min(ended, share * ended + byChance);
}

/** Of probes there are too few for doubt: it is ill where all failed, or more than the share. */
export function areProbesIll(failed: number, ok: number, share: number): boolean {
  return failed > 0 && (ok === 0 || failed > share * (failed + ok));
}

export class Breaker {
  readonly #rule: BreakerRule;
  #state: BreakerState = 'closed';
  #retryAtMs = 0;
  #openedCount = 0;
  #inARow = 0;
  #windowFromMs = 0;
  #calls = [0, 0];
  #failures = [0, 0];
  #probesOut = 0;
  #probedMs = 0;
  #probesOk = 0;
  #probesFailed = 0;

  constructor(rule: BreakerRule) {
    this.#rule = rule;
  }

  state(nowMs: number): BreakerState {
    if (this.#state === 'open' && nowMs >= this.#retryAtMs) {
      this.#state = 'half-open';
      this.#probesOut = 0;
      this.#probesOk = 0;
      this.#probesFailed = 0;
    }
    return this.#state;
  }

  /** When an open breaker lets a probe through. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** Whoever watches over more than this process wants to know now. */
  probe(nowMs: number): void {
    if (this.#state === 'open') this.#retryAtMs = Math.min(this.#retryAtMs, nowMs);
  }

  /** Half open, one call at a time finds out. */
  mayStart(nowMs: number): boolean {
    const state = this.state(nowMs);
    if (state !== 'half-open') return state === 'closed';
    // One that is never answered must not be the last.
    return this.#probesOut === 0 || nowMs - this.#probedMs >= this.#rule.coolMsMax;
  }

  started(nowMs: number): boolean {
    if (this.#state !== 'half-open') return false;
    this.#probesOut++;
    this.#probedMs = nowMs;
    return true;
  }

  /** `chance` spreads the next probes of processes that were hit at once. */
  ended(kind: OutcomeKind, wasProbe: boolean, nowMs: number, chance: number): void {
    if (wasProbe) this.#probesOut = Math.max(0, this.#probesOut - 1);
    if (isIllness(kind)) this.#failed(wasProbe, nowMs, chance);
    else if (isWell(kind)) this.#answered(wasProbe, nowMs);
  }

  #answered(wasProbe: boolean, nowMs: number): void {
    this.#inARow = 0;
    this.#count(nowMs, 0);
    if (this.#state !== 'half-open' || !wasProbe) return;
    this.#probesOk++;
    if (this.#probesOk < PROBES_WANTED) return;
    this.#state = 'closed';
    this.#openedCount = 0;
    this.#calls = [0, 0];
    this.#failures = [0, 0];
  }

  #failed(wasProbe: boolean, nowMs: number, chance: number): void {
    this.#inARow++;
    this.#count(nowMs, 1);
    const state = this.state(nowMs);
    const isIll = state === 'half-open' ? this.#hasProbeFailed(wasProbe) : this.#isIll();
    if (isIll && state !== 'open') this.#open(nowMs, chance);
  }

  #hasProbeFailed(wasProbe: boolean): boolean {
    if (wasProbe) this.#probesFailed++;
    return wasProbe && areProbesIll(this.#probesFailed, this.#probesOk, this.#rule.errorShare);
  }

  #isIll(): boolean {
    const { errorShare, callsMin, inARowMax } = this.#rule;
    const calls = this.#calls[0]! + this.#calls[1]!;
    const failures = this.#failures[0]! + this.#failures[1]!;
    if (calls >= callsMin && areTooMany(failures, calls, errorShare)) return true;
    // Of many calls of which some fail, some fail in a row.
    const before = calls - this.#inARow;
    const usual = before >= callsMin ? (failures - this.#inARow) / before : 0;
    const inARowWanted = Math.max(inARowMax, Math.log(BY_CHANCE) / Math.log(usual));
    return this.#inARow >= inARowWanted;
  }

  #open(nowMs: number, chance: number): void {
    const { coolMs, coolMsMax } = this.#rule;
    const wholeMs = Math.min(coolMsMax, coolMs * 2 ** Math.min(this.#openedCount, 20));
    this.#openedCount++;
    this.#retryAtMs = nowMs + wholeMs * (0.8 + 0.4 * chance);
    this.#state = 'open';
    this.#inARow = 0;
  }

  /** Two halves of the window, so that what is old is forgotten. */
  #count(nowMs: number, failure: 0 | 1): void {
    const halfMs = this.#rule.windowMs / 2;
    if (nowMs - this.#windowFromMs >= halfMs) {
      const isStale = nowMs - this.#windowFromMs >= 2 * halfMs;
      this.#calls = [isStale ? 0 : this.#calls[1]!, 0];
      this.#failures = [isStale ? 0 : this.#failures[1]!, 0];
      this.#windowFromMs = nowMs;
    }
    this.#calls[1]!++;
    this.#failures[1]! += failure;
  }
}
