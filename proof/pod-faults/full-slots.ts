/** F5: every slot of the only pod that is left is in use, by phases that last, when the other dies with tasks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './pods.ts';
import { atLeast, atMost, exactly, type Promised } from './promised.ts';
import { RELEASED_MS_MAX, STEADY_MS, type Stage } from './stage.ts';

export interface FullSlots {
  readonly slots: number;
  readonly tasks: number;
  readonly local: number;
}

const WORK_MS = 40_000;
const HELD = 6;

export async function fullSlots(
  stage: Stage,
  { slots, tasks, local }: FullSlots,
): Promise<Promised[]> {
  const of = `slots ${slots}`;
  const [alder, cedar] = [`alder-${slots}`, `cedar-${slots}`];
  const leader = await stage.pod({ podName: alder, slots, machines: [`faults/${alder}`] });
  const other = await stage.pod({ podName: cedar, machines: [`faults/${cedar}`] });
  await other.ask('enqueue', { machine: `faults/${cedar}`, count: HELD, ms: WORK_MS });
  const { pod: otherId = '' } = await other.look();
  await until('its tasks to be held', 30_000, async () => {
    return (await stage.claimsOf(otherId)) === HELD;
  });
  await sleep(STEADY_MS);
  await leader.ask('enqueue', { machine: `faults/${alder}`, count: tasks, ms: WORK_MS });
  if (local > 0) await leader.ask('start', { count: local, ms: WORK_MS });
  const noted = (what: 'started' | 'worked') => stage.notedBy([leader.pid], what);
  await until('its slots to be full', 20_000, () => noted('started') >= slots);
  const held = await stage.claimsOf(otherId);
  await other.kill();
  const releasedMs = await stage.msUntilReleased(otherId, 2 * WORK_MS);
  const stillBusy = noted('started') - noted('worked');
  await leader.kill();
  return [
    exactly(`${of}: tasks that the killed pod held`, HELD, held),
    atMost(`${of}: ms until it held none`, RELEASED_MS_MAX, releasedMs),
    atLeast(`${of}: slots in use then`, slots, stillBusy),
  ];
}
