/**
 * Rings before work is put in, so that pods which rest look at the tables again: they watch a small table
 * of standard kind, whose last change is told without a warehouse. Whoever has rung lately need not ring
 * again, since nobody lies down to rest for a while after a ring.
 */
import type { Clock } from '../../ground/index.ts';
import { StoreUnreachableError } from '../errors.ts';
import { FLEET_FACT, STEP_TRACKER } from './columns.ts';
import type { Desk } from './desk.ts';
import { insertRing, selectRungLately } from './rest.sql.ts';
import type { Run } from './sessions.ts';

/** Half of the time for which nobody lies down; the other half is for what is on its way. */
export const RING_MS = 30_000;
export const QUIET_MS = 2 * RING_MS;

/** Facts that decide what may run. Who leads, and what APIs can take, wakes nobody. */
const KINDS: readonly unknown[] = ['schedule', 'queue', 'machine', 'bulk'];

export class Bell {
  readonly #clock: Clock;
  #rungMs = Number.NEGATIVE_INFINITY;
  #rungAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async ring(run: Run, desk: Desk): Promise<void> {
    const [nowMs, now] = [this.#clock.monotonicMs(), this.#clock.now()];
    // Where the host slept, only one of the two clocks has gone on.
    const sinceMs = Math.max(nowMs - this.#rungMs, Math.abs(now - this.#rungAt));
    if (sinceMs < RING_MS || !isWork(desk)) return;
    try {
      await run(insertRing);
    } catch (error) {
      if (!(error instanceof StoreUnreachableError) || !(await hasRung(run))) throw error;
    }
    [this.#rungMs, this.#rungAt] = [nowMs, now];
  }
}

/** Nobody has answered, and it may have rung all the same; whoever did, it was heard. */
async function hasRung(run: Run): Promise<boolean> {
  const [row] = (await run(selectRungLately, [RING_MS])).rows;
  return Number(row?.['count']) > 0;
}

function isWork(desk: Desk): boolean {
  if (desk.changes(STEP_TRACKER).length > 0) return true;
  return desk.changes(FLEET_FACT).some(({ cells }) => KINDS.includes(cells['kind']));
}
