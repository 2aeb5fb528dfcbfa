/** What a server that took over had lost: claims that pods were given are given back to them. */
import type { RunId } from '../../ground/index.ts';
import type { Claim, PodId } from '../words.ts';
import type { MemoryTables } from './tables.ts';

export function restore(tables: MemoryTables, pod: PodId, claims: readonly Claim[]): RunId[] {
  const status = tables.pods.get(pod)?.status;
  if (status !== 'up' && status !== 'draining') return [];
  return claims
    .filter(({ task, generation, epoch }) => {
      const row = tables.tasks.get(task);
      const isOpen = row?.status === 'pending' || row?.status === 'waiting';
      if (!row || !isOpen || row.waitFor === 'turn' || row.generation !== generation) return false;
      if (row.claimEpoch >= epoch) return false;
      row.status = 'claimed';
      row.waitFor = undefined;
      row.serialHeld = row.serialKey !== undefined;
      row.claimEpoch = epoch;
      row.claimedBy = pod;
      row.claimToken = undefined;
      row.claimedAt = tables.now();
      row.lastUpdate = tables.now();
      return true;
    })
    .map(({ task }) => task);
}
