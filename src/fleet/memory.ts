/**
 * What this process was told by the store lately, and by which server of it. It outlives the lives of its
 * pod: one whose own row was lost with a server is not known to the next, and still has been told things.
 */
import type { Flush, PodId, Settlement } from '../store/index.ts';
import { Recent } from './recent.ts';

/** What the store has acknowledged, and what it had of the run before. */
export interface Acknowledged {
  readonly settlement: Settlement;
  readonly before: readonly Flush[];
  /** The life that was told. */
  readonly pod: PodId;
}

export class Memory {
  /** Of the server with which all of it was compared; undefined before any has answered. */
  timeline: string | undefined;
  readonly settled = new Recent<Acknowledged>();
}
