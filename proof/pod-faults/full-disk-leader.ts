/** F4: the disk of the leader is full when a pod dies with tasks; a healthy pod is beside. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeSmallDisk } from '../../test/journal/small-disk.ts';
import { msUntil, type Pod, until } from './pods.ts';
import { atMost, exactly, type Promised } from './promised.ts';
import { HEARTBEAT_MS, RELEASED_MS_MAX, STEADY_MS, type Stage, TURN_MS } from './stage.ts';

const DISK_MIB = 12;
const LIFE_SECONDS = 600;
const TASKS = 6;
const PADDING = 400_000;
const FULL_MS_MAX = 20_000;
/** Longer than it takes to make the scene; the pod that takes them over does it once more. */
const WORK_MS = 30_000;
/** Where the pod behind learns nothing of the full disk it waits for its turn. */
const STOOD_IN_MS_MAX = RELEASED_MS_MAX + TURN_MS;
/** A pod looks for tasks once a second at least; the rest is for a host that is busy. */
const TAKEN_MS_MAX = 5_000;
/** A stalled journal tries again within seconds, and takes its place by a heartbeat. */
const BACK_MS_MAX = 10_000 + 3 * HEARTBEAT_MS;

export async function fullDiskLeader(stage: Stage): Promise<Promised[]> {
  const disk = await makeSmallDisk(DISK_MIB, LIFE_SECONDS);
  stage.atEnd(() => disk.remove());
  const dataDir = join(disk.directory, 'alder');
  const alder = await stage.pod({ podName: 'alder', dataDir, inside: disk.inside, slots: 4 });
  const cedar = await stage.pod({ podName: 'cedar', machines: ['faults/long'] });
  const birch = await stage.pod({ podName: 'birch' });
  // No other pod has this machine, until there is one to take it over.
  const work = { machine: 'faults/long', count: TASKS, ms: WORK_MS };
  const ids = await cedar.ask<string[]>('enqueue', work);
  const { pod: cedarId = '' } = await cedar.look();
  await until('cedar to hold its tasks', 30_000, async () => {
    return (await stage.claimsOf(cedarId)) === TASKS;
  });
  const dogwood = await stage.pod({ podName: 'dogwood', machines: ['faults/long'] });
  await sleep(STEADY_MS);
  const wasLeader = (await birch.look()).leader === (await alder.look()).pod;
  fill(disk);
  const fullMs = await msUntil(FULL_MS_MAX, () => isFull(alder));
  const held = await stage.claimsOf(cedarId);
  await cedar.kill();
  const releasedMs = await stage.msUntilReleased(cedarId, 60_000);
  const doneMs = await stage.msUntilDone(ids, 60_000);
  const { isReady: wasReady = false, stalledBy } = await alder.look();

  disk.run('rm', join(disk.directory, 'filler'));
  const backMs = await msUntil(60_000, async () => {
    const { isReady, stalledBy: still } = await alder.look();
    return isReady === true && still === undefined;
  });
  const own = await alder.ask<string[]>('finish', { count: 3 }, 10_000).catch(() => []);
  // Now it is the only one that can.
  await Promise.all([birch.kill(), dogwood.kill()]);
  const later = await alder.ask<string[]>('enqueue', { count: 4, ms: 10 });
  const takenMs = await stage.msUntilDone(later, 30_000);
  return [
    exactly('the pod with the full disk was the leader', true, wasLeader),
    atMost('ms until its journal took no record more', FULL_MS_MAX, fullMs),
    exactly('tasks that the killed pod held', TASKS, held),
    atMost('ms until the killed pod held none', STOOD_IN_MS_MAX, releasedMs),
    atMost('ms until they were completed', WORK_MS + 10_000, doneMs),
    exactly('tasks failed', 0, await stage.countOf(ids, 'failed')),
    exactly('the full pod was ready', false, wasReady && stalledBy === undefined),
    atMost('ms until it is ready, from when there is room', BACK_MS_MAX, backMs),
    exactly('local runs done then', 3, own.length),
    atMost('ms until it completed tasks, alone', TAKEN_MS_MAX, takenMs),
  ];
}

/** What the file of its WAL has room for it still takes. */
async function isFull(pod: Pod): Promise<boolean> {
  await pod.ask('finish', { count: 1, padding: PADDING }, 1_000).catch(() => undefined);
  return (await pod.look()).stalledBy !== undefined;
}

function fill({ run, directory }: Awaited<ReturnType<typeof makeSmallDisk>>): void {
  const script = 'dd if=/dev/zero of="$0" bs=4096 2>/dev/null; true';
  run('sh', '-c', script, join(directory, 'filler'));
}
