/** What no statement may do, wherever in whatever order it comes: held against before and after. */
import { violations } from '../../src/store/memory/rules.ts';
import { isEnded } from '../../src/store/memory/tables.ts';
import { endingOf } from '../simulate/seen.ts';
import { type Action, acceptedRows, SILENT_MS, type State } from './pair-model.ts';

const RANK = { up: 0, draining: 1, dead: 2, down: 3 } as const;

/** The promises that this step has broken. */
export function brokenBy(before: State, { verb, by }: Action, after: State): string[] {
  return [
    ...violations(after.tables).map(({ rule, examples }) => `structure: ${rule}: ${examples[0]}`),
    ...podsBroken(before, after),
    ...(verb === 'settle' ? strangersBroken(before, by, after) : []),
    ...tasksBroken(before, after),
    ...historyBroken(after),
  ];
}

/** I25, and that nobody comes back from the dead. */
function podsBroken(before: State, after: State): string[] {
  return [...after.tables.pods.values()].flatMap(({ podId, status, beatSeq }) => {
    const was = before.tables.pods.get(podId)!;
    const isFenced = RANK[was.status] < RANK.dead && RANK[status] >= RANK.dead;
    const silentMs = before.nowMs - was.lastHeartbeat;
    return [
      ...(isFenced && silentMs <= SILENT_MS ? [`I25: ${podId} after ${silentMs} ms`] : []),
      ...(RANK[status] < RANK[was.status] ? [`pods: ${podId} is ${status} again`] : []),
      ...(beatSeq > was.beatSeq && RANK[was.status] >= RANK.dead
        ? [`pods: ${podId} beats though it is ${was.status}`]
        : []),
    ];
  });
}

/** I8: a settlement changes only what is its pod's own. */
function strangersBroken(before: State, by: number, after: State): string[] {
  const pod = before.pods[by]!.id;
  const isLive = before.tables.isPod(pod, 'up', 'draining');
  return [...before.tables.tasks.values()].flatMap((task) => {
    const isOwn = isLive && task.claimedBy === pod;
    const isSame = JSON.stringify(task) === JSON.stringify(after.tables.tasks.get(task.taskId));
    return isOwn || isSame ? [] : [`I8: ${pod} changed ${task.taskId}, which was not its own`];
  });
}

/** I4, I7, I9. */
function tasksBroken(before: State, after: State): string[] {
  return [...after.tables.tasks.values()].flatMap((task) => {
    const { taskId, claimEpoch, claimedBy } = task;
    const was = before.tables.tasks.get(taskId)!;
    const owner = before.owners.get(`${taskId} ${claimEpoch}`);
    const isLetGo = was.claimedBy !== undefined && claimedBy !== was.claimedBy && !isEnded(task);
    return [
      ...(claimEpoch < was.claimEpoch ? [`I7: ${taskId} fell to epoch ${claimEpoch}`] : []),
      ...(isLetGo && claimEpoch <= was.claimEpoch
        ? [`I7: ${taskId} kept epoch ${claimEpoch}`]
        : []),
      ...(claimedBy !== undefined && owner !== undefined && owner !== claimedBy
        ? [`I9: ${taskId} epoch ${claimEpoch} was ${owner}'s, and now ${claimedBy}'s`]
        : []),
      ...(claimedBy !== undefined &&
      claimedBy !== was.claimedBy &&
      !after.tables.isPod(claimedBy, 'up')
        ? [`fence: ${claimedBy} was given ${taskId} and is not up`]
        : []),
      ...(isEnded(was) && endingOf(was) !== endingOf(task)
        ? [`I4: ${taskId} ended as ${endingOf(was)}, and then as ${endingOf(task)}`]
        : []),
    ];
  });
}

/** I13, I16, I19: one line of records; it has what the owner went on from, and what was settled. */
function historyBroken({ tables, pods }: State): string[] {
  const broken: string[] = [];
  for (const { taskId, claimEpoch, lastHash, lastSeq, status } of tables.tasks.values()) {
    try {
      const rows = acceptedRows(tables, taskId);
      const isSettled = isEnded({ status } as never) || status === 'waiting';
      if (isSettled && rows[lastSeq]?.hash !== lastHash) {
        broken.push(`I16: ${taskId} is ${status} at ${lastSeq}, which is not in its history`);
      }
      for (const { holds } of pods) {
        const hold = holds.find((one) => one.task === taskId && one.epoch === claimEpoch);
        if (!hold || hold.baseSeq < 0 || rows[hold.baseSeq]?.hash === hold.baseHash) continue;
        broken.push(`I19: ${taskId} has lost record ${hold.baseSeq}, from which its owner goes on`);
      }
    } catch (error) {
      broken.push(`I13: ${(error as Error).message}`);
    }
  }
  return broken;
}
