/** How many processes a poison task may have ended (I29), and why it was more. */
import type { Change, PodLife } from '../history/evidence.ts';

const DEATHS_MAX = 3;
/** Whoever died within this time of each other may have been missed by one and the same sweep. */
const TOGETHER_MS = 15_000;

/** Nothing, or in words who had it. */
export function tooManyDeaths(
  deaths: number,
  changes: readonly Change[],
  pods: readonly PodLife[],
): string[] {
  const excused = changes.filter((change) => isExcused(change, pods)).length;
  if (deaths <= DEATHS_MAX + excused) return [];
  return [`poison has ended ${deaths} processes, ${excused} in an outage: ${storyOf(changes)}`];
}

/**
 * Its owner was taken for dead, it was not charged, and others were missing too: an outage may have
 * been nobody's fault, and is nobody's crash (I28).
 */
function isExcused(change: Change, pods: readonly PodLife[]): boolean {
  const { wasOwner, owner, wasCrashes, crashes, at } = change;
  if (wasOwner === undefined || owner === wasOwner || crashes !== wasCrashes) return false;
  const wasMissed = ({ pod, deadAt, deadBy }: PodLife) =>
    deadAt !== undefined && deadBy !== pod && Math.abs(at - deadAt) < TOGETHER_MS;
  const missed = pods.filter(wasMissed).map(({ pod }) => pod);
  return missed.includes(wasOwner) && missed.length > 1;
}

/** Who had it, and what it was charged with when it was taken from them. */
function storyOf(changes: readonly Change[]): string {
  return changes
    .filter(({ wasOwner, owner }) => wasOwner !== undefined && wasOwner !== owner)
    .map(({ wasEpoch, wasOwner, wasCrashes, crashes, status }) => {
      return `epoch ${wasEpoch} of ${wasOwner}, ${wasCrashes} to ${crashes} crashes, ${status}`;
    })
    .join('; ');
}
