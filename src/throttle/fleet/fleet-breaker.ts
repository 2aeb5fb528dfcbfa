/**
 * A breaker over what all pods see. While it is half open one pod alone finds out whether the API is
 * well again: a probe from each of many pods would be the crowd that it is to be spared. Once it is well,
 * the cap comes back in steps.
 */
import { areProbesIll, areTooMany, type BreakerState, PROBES_WANTED } from '../permits/breaker.ts';
import type { Second } from '../record/seconds.ts';

export interface FleetBreakerRule {
  readonly errorShare: number;
  readonly callsMin: number;
  readonly coolMs: number;
  readonly coolMsMax: number;
}

const RETURN_SHARE = 0.6;
/** One pod's probe a heartbeat is no load: only an API that stays ill is asked less and less often. */
const PATIENT_AFTER = 6;

export class FleetBreaker {
  readonly #rule: FleetBreakerRule;
  #state: BreakerState = 'closed';
  #retryAtMs = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;
  /** Looks at probes of which too many had failed. */
  #failedCount = 0;
  #turn = 0;
  #recent: Second[] = [];
  #share = 1;
  #raisedMs = 0;
  #probesOk = 0;
  #probesFailed = 0;

  /** `former` is how another leader left it: one pod goes on asking, and nobody else begins. */
  constructor(rule: FleetBreakerRule, former: BreakerState = 'closed') {
    this.#rule = rule;
    if (former === 'closed') return;
    this.#state = 'half-open';
    this.#failedCount = PATIENT_AFTER;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** The share of what was good that is let through again. */
  get share(): number {
    return this.#share;
  }

  /**
   * Whose turn it is to find out, of all who would: the next one's where the last one found nothing good. It
   * may be that pod that cannot reach the API.
   */
  get turn(): number {
    return this.#turn;
  }

  /**
   * `late`: how calls ended that were sent in seconds that were seen before. `areOpen`: most pods that call
   * it have each found it to be ill.
   */
  tick(
    { seconds, late }: { readonly seconds: readonly Second[]; readonly late: readonly Second[] },
    nowMs: number,
    tickMs: number,
    chance: number,
    areOpen = false,
  ): void {
    const since = this.#sinceMs;
    const isFresh = ({ at }: Second) => at * 1_000 >= since;
    const fresh = [...seconds, ...late].filter(isFresh);
    // What timed out by now says how the API is by now, whenever it was sent.
    const at = Math.floor((nowMs - tickMs) / 1_000);
    const known = late.filter(isFresh).map((second) => ({ ...second, at }));
    this.#recent = [...this.#recent, ...seconds.filter(isFresh), ...known].filter(
      (second) => second.at * 1_000 >= nowMs - 4 * tickMs,
    );
    if (this.#state === 'open') this.#whenOpen(nowMs);
    else if (this.#state === 'half-open') this.#whenHalfOpen(fresh, nowMs, chance);
    else this.#whenClosed(nowMs, tickMs, chance, areOpen);
  }

  #whenOpen(nowMs: number): void {
    if (nowMs < this.#retryAtMs) return;
    this.#state = 'half-open';
    this.#sinceMs = nowMs;
    this.#forgetProbes();
  }

  #whenHalfOpen(fresh: readonly Second[], nowMs: number, chance: number): void {
    const { failed, ok } = sums(fresh);
    this.#probesOk += ok;
    this.#probesFailed += failed;
    if (failed > 0 && areProbesIll(this.#probesFailed, this.#probesOk, this.#rule.errorShare)) {
      this.#forgetProbes();
      if (this.#failedCount++ < PATIENT_AFTER) return;
      // Nobody has anything meanwhile, so that the next one's turn costs no time.
      this.#turn++;
      return this.#open(nowMs, chance);
    }
    if (this.#probesOk === 0 && nowMs - this.#sinceMs >= this.#rule.coolMsMax) {
      this.#turn++;
      this.#sinceMs = nowMs;
    }
    if (this.#probesOk < PROBES_WANTED) return;
    this.#state = 'closed';
    this.#failedCount = 0;
    this.#recent = [];
    this.#share = RETURN_SHARE;
    this.#raisedMs = nowMs;
  }

  #forgetProbes(): void {
    this.#probesOk = 0;
    this.#probesFailed = 0;
  }

  #whenClosed(nowMs: number, tickMs: number, chance: number, areOpen: boolean): void {
    const { errorShare, callsMin } = this.#rule;
    const { failed, ended } = sums(this.#recent);
    const isIll = ended >= callsMin && areTooMany(failed, ended, errorShare);
    if (isIll || (areOpen && failed > 0)) return this.#open(nowMs, chance);
    if (this.#share < 1 && nowMs - this.#raisedMs >= tickMs) {
      this.#share = Math.min(1, this.#share * 1.7);
      this.#raisedMs = nowMs;
    }
  }

  #open(nowMs: number, chance: number): void {
    const { coolMs, coolMsMax } = this.#rule;
    const exponent = Math.min(20, Math.max(0, this.#failedCount - PATIENT_AFTER));
    const wholeMs = Math.min(coolMsMax, (coolMs / 2) * 2 ** exponent);
    this.#retryAtMs = nowMs + wholeMs * (0.8 + 0.4 * chance);
    this.#state = 'open';
    this.#recent = [];
  }
}

function sums(seconds: readonly Second[]): { failed: number; ok: number; ended: number } {
  let [failed, ok, ended] = [0, 0, 0];
  for (const second of seconds) {
    failed += second.failed + second.timedOut;
    ok += second.ok;
    ended += second.failed + second.timedOut + second.ok + second.throttled;
  }
  return { failed, ok, ended };
}
