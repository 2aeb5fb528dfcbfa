/** Rules on the whole while it goes on: nothing disappears, and nobody is left alone for long. */
import type { Snapshot } from './evidence.ts';
import { isSettlement, lookAtEach, type Rule } from './rule.ts';

export const conservation: Rule = {
  name: 'conservation',
  says: 'at every look each task is in one state, none is gone, and none is there that nobody sent',
  proves: ['I3', 'I1'],
  weight: 'lost',
  ofAll: ({ snapshots }) => {
    let before = 0;
    const looks = snapshots.filter(({ counts }) => counts !== undefined);
    return lookAtEach(looks, (look) => {
      const fault = wrongSum(look, before);
      before = Math.max(before, look.counts!.all);
      return fault;
    });
  },
};

function wrongSum(
  { at, acknowledged, sent, counts }: Snapshot,
  before: number,
): string | undefined {
  const { all, byStatus, torn } = counts!;
  const when = new Date(at).toISOString();
  const sum = Object.values(byStatus).reduce((total, count) => total + count, 0);
  if (sum !== all) return `${when}: ${sum} tasks are in a state, of ${all}`;
  if (torn > 0) return `${when}: ${torn} tasks are in two states at once`;
  if (all < acknowledged)
    return `${when}: there were ${all} tasks, of ${acknowledged} acknowledged`;
  if (all > sent) return `${when}: there were ${all} tasks, and ${sent} were sent`;
  return all < before ? `${when}: there were ${all} tasks, and ${before} before` : undefined;
}

export const orphansGoOn: Rule = {
  name: 'orphans go on',
  says: 'a task whose owner has died is free again within three silences, a heartbeat and a bound',
  proves: ['I37', 'I38'],
  weight: 'stuck',
  ofLife: ({ task, changes }, { pods, limits, calm }) => {
    const { silenceMs, heartbeatMs, boundMs } = limits;
    // Whoever sweeps must have had two silences of its own without a break.
    const limitMs = 3 * silenceMs + heartbeatMs + boundMs;
    const orphans = changes.flatMap((change) => {
      const { wasOwner, owner, at, generation, wasGeneration } = change;
      const pod = wasOwner === undefined ? undefined : pods.get(wasOwner);
      const isTaken = owner !== wasOwner && !isSettlement(change) && generation === wasGeneration;
      if (!pod || !isTaken || (pod.deadAt ?? at) > at || pod.deadBy === pod.pod) return [];
      // From the last sign of life on. In trouble nobody can keep a time.
      const { lastBeatAt } = pod;
      return calm.covers(lastBeatAt, Math.min(at, lastBeatAt + limitMs)) ? [{ pod, at }] : [];
    });
    return lookAtEach(orphans, ({ pod, at }) => {
      const ms = at - pod.lastBeatAt;
      if (ms <= limitMs) return undefined;
      return `${task}: ${pod.name} had been silent for ${Math.round(ms)} ms when it was taken over`;
    });
  },
};
