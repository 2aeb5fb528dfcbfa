/** The verdict over a chaos run: the rules of the history checker, with the times of its pods. */
import { type CheckerOptions, HistoryChecker } from '../history/checker.ts';
import type { Tally } from '../history/tally.ts';

/** As the pods are told; the rest is what a machine with more processes than processors may take. */
export const LIMITS = { silenceMs: 3_000, heartbeatMs: 500, boundMs: 30_000 };

export class Judge extends HistoryChecker {
  constructor(options: Omit<CheckerOptions, 'limits'>) {
    super({ ...options, limits: LIMITS });
  }

  get lost(): Tally {
    return this.tallies.lost;
  }
  get doubled(): Tally {
    return this.tallies.doubled;
  }
  get zombieWrites(): Tally {
    return this.tallies.zombieWrites;
  }
  get stuck(): Tally {
    return this.tallies.stuck;
  }
  get violations(): Tally {
    return this.tallies.violations;
  }
}
