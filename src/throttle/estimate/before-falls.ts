/**
 * What went well before an API took much less. It may be as before again by the time it is tried: so what was
 * too much meanwhile is tried sooner, and from there on it goes in large steps. Each time that was in vain it
 * is twice as long until the next, as long as an API that never took more would be left alone. One that let
 * nothing in for a while was shut: once it lets calls in it is soon as before. Pure.
 */
import type { Bad } from './learned.ts';
import type { ShutSince } from './shut.ts';

export interface Before {
  readonly cap: number;
  /** How often more was tried in vain since. */
  readonly tries: number;
  /** It let nothing in meanwhile, which says nothing of how much is too much. */
  readonly isShut?: true;
}

/** A burst that was saved up lets more in than there is, for a while. */
const WELL_MS = 15_000;
/** What was half as much before is found soon enough without. */
const DEEP_SHARE = 0.4;
/** From here on it is as it was, or nearly. */
const BACK_SHARE = 0.9;
/** It takes more than before. */
const BEYOND_SHARE = 1.2;
/** What an API that was shut takes again: a little less, as it may have been too much all the same. */
const REOPENED_SHARE = 0.99;
/** After so long what it takes by now is what it takes. */
const KEPT_MS = 30 * 60_000;

export class Falls {
  #from: Bad | undefined;
  #well = 0;
  #isDeep = false;
  #tries = 0;
  /** What went well until nothing was let in any more. */
  #shutFrom: number | undefined;
  #shutAt: number | undefined;
  #shutTries = 0;
  /** It was shut before it had let anything in. */
  #isUnknown = false;

  constructor(from: Bad | undefined) {
    this.#from = from;
  }

  /** From where it fell, and when. */
  get from(): Bad | undefined {
    return this.#from;
  }

  /** This was used for so long, and nothing was refused. */
  wentWell(cap: number, forMs: number): void {
    // What goes well on the way back to it is not all that does.
    if (forMs >= WELL_MS && cap >= (this.#shutFrom ?? 0)) this.#well = cap;
  }

  /** Much less is let in. A deep fall is several of these. `since`: nothing is. `isUnknown`: nor ever was. */
  fell(nowMs: number, since?: ShutSince | undefined, isUnknown = false): void {
    this.#tries = 0;
    this.#isUnknown = isUnknown || (this.#isUnknown && since !== undefined);
    this.#noteShut(since);
    if (this.#well <= (this.#from?.cap ?? 0)) return;
    this.#from = { cap: this.#well, atMs: nowMs };
    this.#isDeep = false;
  }

  /** More than went well was tried, and was too much. */
  inVain(cap: number): void {
    this.#tries++;
    this.#isUnknown = false;
    this.#noteShut(undefined);
    if (cap >= BACK_SHARE * (this.#from?.cap ?? 0)) this.#from = undefined;
  }

  /** What was before, if it was much more, and not long ago. */
  before(cap: number, nowMs: number): Before | undefined {
    const from = this.#from;
    if (this.#shutFrom !== undefined) {
      return { cap: REOPENED_SHARE * this.#shutFrom, tries: this.#shutTries, isShut: true };
    }
    if (!from) return undefined;
    if (cap < DEEP_SHARE * from.cap) this.#isDeep = true;
    const isOver = cap > BEYOND_SHARE * from.cap || nowMs - from.atMs > KEPT_MS;
    if (isOver) this.#from = undefined;
    const isKnown = this.#isDeep && !isOver;
    return isKnown ? { cap: BACK_SHARE * from.cap, tries: this.#tries } : undefined;
  }

  /** Whether it takes again what it took until it was shut. Then that is over. */
  isBack(cap: number): boolean {
    if (this.#shutFrom === undefined || cap < BACK_SHARE * this.#shutFrom) return false;
    [this.#shutFrom, this.#from, this.#shutTries] = [undefined, undefined, 0];
    return true;
  }

  /** Whether it takes again what was tried of it at first, of which nothing was known then. */
  isNew(cap: number): boolean {
    const isNew = this.#isUnknown && this.isBack(cap);
    if (isNew) this.#isUnknown = false;
    return isNew;
  }

  #noteShut(since: ShutSince | undefined): void {
    const from = this.#shutFrom;
    if (from !== undefined && since?.at === this.#shutAt) return;
    // It was open again, but not for long, or not for as much.
    if (from !== undefined && (!since || since.cap >= DEEP_SHARE * from)) this.#shutTries++;
    // Of what was never used for long, what was used last.
    this.#shutFrom = since && (this.#well || Math.max(from ?? 0, since.cap));
    this.#shutAt = since?.at;
  }
}
