/**
 * One more pod dies, with its disk, when every other fault is over and tasks still come in. While other
 * faults last, the judge cannot say how long the tasks of a dead pod should wait, so a short run may have no
 * other death that counts. Where there is no peace in time the run goes on, and the rule reports that it
 * looked at nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Snapshots } from './judge-snapshots.ts';
import type { Stage } from './stage.ts';
import type { Witness } from './witness.ts';

const LOOK_MS = 50;
const WAIT_MS_MAX = 60_000;
/** One task may end while its pod is killed, and not all of so many. */
const HELD_MIN = 3;
/** The death lies between two looks that were calm. */
const CALM_LOOKS = 2;

export async function killInPeace(
  stage: Stage,
  witness: Witness,
  { taken }: Snapshots,
): Promise<void> {
  await stage.heal();
  const isCalm = () => taken.slice(-CALM_LOOKS).every(({ counts }) => counts && counts.fresh > 0);
  await until(() => stage.houses.every(({ isSteady }) => isSteady) && isCalm());
  const victim = await until(async () => {
    const name = await witness.busiestPod(HELD_MIN);
    const house = stage.houses.find((one) => one.name === name);
    return (await house?.kill()) ? house : undefined;
  });
  if (!victim) return;
  victim.loseDisk();
  await until(async () => !(await witness.isHolding(victim.name)));
  victim.start();
}

/** The first result that is not empty; undefined where there is none in time. */
async function until<T>(look: () => T | Promise<T>): Promise<T | undefined> {
  const lateMs = performance.now() + WAIT_MS_MAX;
  while (performance.now() < lateMs) {
    const found = await look();
    if (found) return found;
    await sleep(LOOK_MS);
  }
  return undefined;
}
