/**
 * What went well before an API took much less. It may be as before again by the time it is tried: so what was
 * too much meanwhile is tried sooner, and from there on it goes in large steps. Each time that was in vain it
 * is twice as long until the next, as long as an API that never took more would be left alone. Pure.
 */
import type { Bad } from './learned.ts';

export interface Before {
  readonly cap: number;
  /** How often more was tried in vain since. */
  readonly tries: number;
}

/** A burst that was saved up lets more in than there is, for a while. */
const WELL_MS = 15_000;
/** What was half as much before is found soon enough without. */
const DEEP_SHARE = 0.4;
/** From here on it is as it was, or nearly. */
const BACK_SHARE = 0.9;
/** It takes more than before. */
const BEYOND_SHARE = 1.2;
/** After so long what it takes by now is what it takes. */
const KEPT_MS = 30 * 60_000;

export class Falls {
  #from: Bad | undefined;
  #well = 0;
  #isDeep = false;
  #tries = 0;

  constructor(from: Bad | undefined) {
    this.#from = from;
  }

  /** From where it fell, and when. */
  get from(): Bad | undefined {
    return this.#from;
  }

  /** This was used for so long, and nothing was refused. */
  wentWell(cap: number, forMs: number): void {
    if (forMs >= WELL_MS) this.#well = cap;
  }

  /** Much less is let in. A deep fall is several of these. */
  fell(nowMs: number): void {
    this.#tries = 0;
    if (this.#well <= (this.#from?.cap ?? 0)) return;
    this.#from = { cap: this.#well, atMs: nowMs };
    this.#isDeep = false;
  }

  /** More than went well was tried, and was too much. */
  inVain(cap: number): void {
    this.#tries++;
    if (cap >= BACK_SHARE * (this.#from?.cap ?? 0)) this.#from = undefined;
  }

  /** What was before, if it was much more, and not long ago. */
  before(cap: number, nowMs: number): Before | undefined {
    const from = this.#from;
    if (!from) return undefined;
    if (cap < DEEP_SHARE * from.cap) this.#isDeep = true;
    const isOver = cap > BEYOND_SHARE * from.cap || nowMs - from.atMs > KEPT_MS;
    if (isOver) this.#from = undefined;
    const isKnown = this.#isDeep && !isOver;
    return isKnown ? { cap: BACK_SHARE * from.cap, tries: this.#tries } : undefined;
  }
}
