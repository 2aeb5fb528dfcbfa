/**
 * What may go wrong between a store and its account. Everything is off to begin with, and may be
 * switched at any time: `emulator.chaos.dropAnswers = { share: 0.1, how: 'reset' }`.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `hang` never answers; `503` and `reset` make the driver ask again, which is answered; `400` is what it
 * gets however often it asks, until it gives up.
 */
export type Drop = '503' | 'reset' | 'hang' | '400';

export interface Dropping {
  readonly share: number;
  readonly how: Drop;
  readonly of?: RegExp;
}

export interface ChaosOptions {
  /** How long each statement takes besides what it takes: its least and its most. */
  latencyMs?: readonly [number, number];
  /** Of the statements that change rows, how many are carried out without an answer; of such texts. */
  dropAnswers?: Dropping;
  /** Of the statements, how many never come to be carried out, and get 503 or 429. */
  dropRequests?: { readonly share: number; readonly how?: '503' | '429' };
  /** Of the statements, how many get 401 with 390104: the driver gives up, and calls itself connected. */
  unauthorized?: { readonly share: number };
  /** Of the statements, how many find that their session's token has expired (390112). */
  expireTokens?: { readonly share: number };
  /** Of the statements that take a standard table's lock, how many get 000625. */
  waiterStorm?: { readonly share: number };
  /** Other sessions' writes are seen up to so much later, where nothing asks for the latest. */
  staleReadsMs?: number;
  /**
   * UPDATEs that are carried out on the rows that their condition chose before they waited, without
   * looking again: what an engine would do that does not look twice. The last writer wins.
   */
  lostUpdates?: RegExp;
  /** Texts that the role may not send (003001). */
  forbidden?: RegExp;
  /** After a minute without statements, the next one waits so long for its warehouse. */
  resumeMs?: number;
  /** A statement that takes longer is answered with 333334, and its result is fetched later. */
  inProgressAfterMs?: number;
  /** From 0 to 1; seeded by whoever wants to see the same twice. */
  random?: () => number;
}

export class Chaos implements ChaosOptions {
  latencyMs?: readonly [number, number];
  dropAnswers?: Dropping;
  dropRequests?: { readonly share: number; readonly how?: '503' | '429' };
  unauthorized?: { readonly share: number };
  expireTokens?: { readonly share: number };
  waiterStorm?: { readonly share: number };
  staleReadsMs?: number;
  lostUpdates?: RegExp;
  forbidden?: RegExp;
  resumeMs?: number;
  inProgressAfterMs?: number;
  random: () => number = Math.random;

  constructor(options: ChaosOptions = {}) {
    Object.assign(this, options);
  }

  /** Switches everything off. */
  calm(): void {
    for (const name of Object.keys(this) as (keyof ChaosOptions)[]) {
      if (name !== 'random') delete this[name];
    }
  }

  strikes(what: { readonly share: number } | undefined): boolean {
    return what !== undefined && this.random() < what.share;
  }

  async delay(): Promise<void> {
    const { latencyMs } = this;
    if (latencyMs === undefined) return;
    const [least, most] = latencyMs;
    await sleep(least + this.random() * (most - least));
  }
}
