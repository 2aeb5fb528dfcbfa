/** Pods that are rows and nothing else: to be looked at, drained, and found dead. */
import type { Fleet } from '../../src/index.ts';
import type { PodId } from '../../src/store/index.ts';

export interface Ghost {
  readonly name: string;
  readonly routes?: readonly string[];
  readonly version?: string;
}

let born = 0;

/** Heard of just now, and allowed to be silent for an hour. */
export async function haunt(fleet: Fleet, ghost: Ghost): Promise<PodId> {
  const pod = `01JCQ8GHXST${String(++born).padStart(15, '0')}` as PodId;
  await fleet.store.register({
    pod,
    name: ghost.name,
    journal: `journal-of-ghost-${born}`,
    boot: 1,
    lsn: 0,
    routes: ghost.routes ?? ['ui/ghostly@1'],
    report: { version: ghost.version ?? '0.0.9', slots: 4, busy: 1, capacity: 3 },
    nonce: `nonce-${born}`,
    silenceMs: 3_600_000,
  });
  return pod;
}

/** Taken for dead by whoever leads, and not swept yet. */
export async function bury(fleet: Fleet, pod: PodId): Promise<void> {
  const [leader] = await fleet.store.pods();
  await fleet.store.fence(pod, leader!.pod, 'proved');
}
