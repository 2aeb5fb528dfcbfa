/**
 * How the first limit of an API is looked for. It is raised by large steps, while all of it is used and
 * nothing refused. Where calls take as much longer as there are more at once, or fail, they may wait in
 * line: then it is halved, for as long as calls take less by that. Pure.
 *
 *   growing ──far longer, or ill──▶ halving ──no shorter──▶ found, or growing again if there was no line
 */
import { Latencies, type LatencyCounts } from '../record/latencies.ts';
import type { Second } from '../record/seconds.ts';
import type { EstimatorRule } from './estimator-rule.ts';
import { usableAtFirst } from './used.ts';

export interface Next {
  readonly cap: number;
  /** What calls take without a line, where that is all that the API works on at a time. */
  readonly foundMs?: number | undefined;
  /** What was tried beyond that, and was far too much. */
  readonly illCap?: number | undefined;
}

export interface Taken {
  readonly cap: number;
  readonly ms: number;
}

/** Each step takes some heartbeats, and a step too far is braked at once: so there are few of them. */
const GROWTH = 2.5;
const CAREFUL_GROWTH = 1.5;
/** After a large step it was far too much or not: either shows within so long. */
const CLEAN_MS = 1_000;
/** Fewer say little of what calls take. */
const ANSWERS_MIN = 6;
/** What is taken for normal has to be known better. */
const HALVED_ANSWERS_MIN = 12;
const RECENT_COUNT = 30;
const FEW_SHARE = 0.25;
/** With one and a half times as many at once, at least; without a line it would be as long as before. */
const LONGER = 1.6;
/** By chance the least of all takes may be that much less. */
const PRESSED_LONGER = 1.3;
const SHORTER = 0.7;
const FULL_MARGIN = 1.05;
const WHOLE_MARGIN = 1.1;

export class FirstContact {
  readonly #rule: Pick<EstimatorRule, 'chargesRefusals' | 'heedsLatency'>;
  /** The second of the first call of all. */
  #firstAt: number | undefined;
  #isHalving = false;
  /** Whether calls took longer with more at once, or less with fewer. */
  #isLine = false;
  /** Whether calls took as long with more at once. */
  #hasGrown = false;
  /** Once it was found that there is none, or what there is. */
  #isSure = false;
  #former: Taken | undefined;
  /** The least that there was a line with, as fewer took less. */
  #lined: Taken | undefined;
  /** So many come back first that began before this cap, or without all of a line before them. */
  #inLine = 0;
  readonly #latencies = new Latencies(RECENT_COUNT);

  /** `before`: another one has grown to it, when calls took so long at the least. */
  constructor(rule: Pick<EstimatorRule, 'chargesRefusals' | 'heedsLatency'>, before?: Taken) {
    this.#rule = rule;
    this.#former = before;
    this.#hasGrown = before !== undefined;
  }

  /** Calls began somewhere within the first one: what was let in since is no measure of a second. */
  whole(seconds: readonly Second[]): readonly Second[] {
    this.#firstAt ??= seconds[0]?.at;
    return seconds.filter(({ at }) => at !== this.#firstAt);
  }

  /** How long it has to have gone well before more is tried: where none has come back, nothing has. */
  cleanMs(latencyMs: number | undefined, tickMs: number): number {
    if (latencyMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#rule.chargesRefusals ? tickMs : Math.min(tickMs, CLEAN_MS);
  }

  /** What came back under the cap as it is. */
  note(latencies: LatencyCounts, answers: number): void {
    // Which of them came back first is not known: they are to be few among the others.
    if (this.#inLine <= FEW_SHARE * answers) this.#latencies.recordCounts(latencies);
    this.#inLine = Math.max(0, this.#inLine - answers);
  }

  /** What calls take under the cap as it is; undefined while too little is known of it. */
  get ms(): number | undefined {
    return this.#latencies.count < ANSWERS_MIN ? undefined : this.#latencies.typicalMs;
  }

  /** There is another cap. */
  forget(): void {
    this.#latencies.forget();
  }

  /**
   * The cap was used but for what was on its way, and nothing refused; undefined while too little is known of
   * what calls take. Pressed: they take longer than at their best.
   */
  next(cap: number, moving: number | undefined, isPressed: boolean): Next | undefined {
    const { ms } = this;
    const used = usableAtFirst(cap, moving);
    if (this.#isHalving) {
      const isKnown = ms !== undefined && this.#latencies.count >= HALVED_ANSWERS_MIN;
      return isKnown ? this.#halve({ cap, ms }) : undefined;
    }
    if (ms === undefined && this.#rule.heedsLatency) return undefined;
    const former = this.#former;
    const longer = former && ms !== undefined ? ms / former.ms : 1;
    const isLonger = longer > (isPressed ? PRESSED_LONGER : LONGER);
    if (former && isLonger && !this.#isSure) {
      // Where more took no longer before, nobody waited in line then.
      if (this.#hasGrown && ms !== undefined) return found({ cap: used, ms }, former.ms);
      [this.#isHalving, this.#isLine] = [true, true];
      return this.#go(former.cap / 2, former);
    }
    this.#hasGrown ||= former !== undefined && ms !== undefined;
    const more = cap * (this.#rule.chargesRefusals ? CAREFUL_GROWTH : GROWTH);
    return this.#go(more, ms === undefined ? undefined : { cap, ms });
  }

  /** Most calls failed: of an API that lets calls wait it may have been too much. */
  ill(cap: number): Next {
    const former = this.#former;
    // Where more took no longer before, nobody waited in line then: all of that went well.
    if (!this.#isHalving && this.#hasGrown && former && former.cap < cap) {
      return { cap: former.cap, foundMs: former.ms, illCap: cap };
    }
    const longer = this.#isHalving ? former : undefined;
    this.#isHalving = true;
    return this.#go(cap / 2, longer);
  }

  #halve(taken: Taken): Next {
    const former = this.#former;
    const isShorter = former !== undefined && taken.ms < SHORTER * former.ms;
    this.#isLine ||= isShorter;
    if (isShorter) this.#lined = former;
    if (taken.cap <= 1 && (isShorter || !former)) return { cap: 1, foundMs: taken.ms };
    if (isShorter || !former) return this.#go(taken.cap / 2, taken);
    this.#isSure = true;
    this.#isHalving = false;
    if (!this.#isLine) return this.#go(former.cap, taken);
    const next = found(former, taken.ms);
    // What took as long as half of it may be less than there is room for.
    const more = this.#lined ? found(this.#lined, taken.ms) : next;
    return more.cap > next.cap ? more : next;
  }

  #go(cap: number, former: Taken | undefined): Next {
    this.#former = former;
    this.forget();
    this.#inLine = this.#isHalving ? 2 * cap : cap;
    return { cap: Math.max(1, cap) };
  }
}

/** What an API works on at a time: in a line calls take longer by as many as there are too many. */
function found({ cap, ms }: Taken, baseMs: number): Next {
  const worked = FULL_MARGIN * cap * (baseMs / ms);
  // Of few, a part of a permit that is missing is a whole one that nobody has.
  const whole = Math.ceil(worked);
  const room = whole <= WHOLE_MARGIN * worked ? whole : worked;
  return { cap: Math.min(cap, Math.max(1, room)), foundMs: baseMs };
}
