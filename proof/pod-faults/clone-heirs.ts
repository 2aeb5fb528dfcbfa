/** F3, the end of it: the original dies for good while clones of its volume wait, and a person adopts one. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startClones } from './clones.ts';
import { atLeast, atMost, exactly, type Promised } from './promised.ts';
import { HEARTBEAT_MS, SILENCE_MS, type Stage } from './stage.ts';
import { makeVolume } from './volume.ts';

const LOCAL_MS = 8_000;
/** More than a clone would wait that had never seen its original at work. */
const WAIT_MS = 2 * SILENCE_MS + 3 * HEARTBEAT_MS;
const WATCH_MS = 3 * HEARTBEAT_MS + 2 * LOCAL_MS;

export async function cloneHeirs(
  stage: Stage,
  { clones: count, local }: { readonly clones: number; readonly local: number },
): Promise<Promised[]> {
  const volume = await makeVolume(join(stage.directory, 'heirs'));
  stage.atEnd(() => volume.remove());
  const dataDir = join(volume.directory, 'data');
  const birch = await stage.pod({ podName: 'birch', dataDir, inside: volume.inside });
  const ids = await birch.ask<string[]>('start', { count: local, ms: LOCAL_MS });
  const { journal } = await birch.look();
  const clones = await startClones(stage, volume, { podName: 'birch', count });
  await sleep(2 * HEARTBEAT_MS);
  await birch.kill();
  const done = ids.filter((id) => stage.noted('worked').has(id)).length;
  await sleep(WAIT_MS);
  const byItself = clones.filter(({ pids }) => stage.notedBy(pids, 'started') > 0);
  await clones[0]!.adopt();
  await sleep(WATCH_MS);
  const heirs = clones.filter(({ pids }) => stage.notedBy(pids, 'started') > 0);
  const ready = await Promise.all(clones.map((clone) => clone.probe()));
  const worked = stage.noted('worked');
  return [
    exactly('heirs: local runs done before the original died', 0, done),
    exactly('heirs: clones that start a phase by themselves', 0, byItself.length),
    exactly('heirs: local runs done', local, ids.filter((id) => worked.has(id)).length),
    exactly('heirs: local runs done twice', 0, ids.filter((id) => worked.get(id)! > 1).length),
    exactly('heirs: clones that started a phase', 1, heirs.length),
    exactly('heirs: clones ready', 1, ready.filter((answer) => answer?.status === 200).length),
    exactly('heirs: clones up', count, clones.filter(({ isUp }) => isUp).length),
    atLeast('heirs: probes answered', count, ready.filter((answer) => answer).length),
    // The original, and the one that goes on.
    atMost(
      'heirs: registrations',
      2,
      await stage.count('pod_health where journal_id = $1', [journal]),
    ),
  ];
}
