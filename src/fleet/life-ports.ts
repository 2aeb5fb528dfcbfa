/** What one life of a pod is given, and what it asks the store for. */
import type { ClaimRequest, PodId } from '../store/index.ts';
import type { Life } from './life.ts';
import type { PodPorts } from './options.ts';

export interface LifePorts extends PodPorts {
  readonly id: PodId;
  /** The pod has been taken for dead, or found a clone of itself. */
  readonly onDead: (why: string) => void;
  readonly onDrainWanted: () => void;
  /** Tasks have been settled. */
  readonly onEnded: () => void;
  /** After every heartbeat that was taken. */
  readonly onBeat: (life: Life) => void;
}

/** What it claims, but for how much. */
export function requestOf(ports: LifePorts): Omit<ClaimRequest, 'countMax' | 'token'> {
  return {
    pod: ports.id,
    routes: ports.routes.all,
    journal: ports.journal.id,
    head: ports.isSuspectsOnly ? 'suspect' : 'ready',
    payloadBytesMax: ports.limits.payloadBytesMax,
  };
}
