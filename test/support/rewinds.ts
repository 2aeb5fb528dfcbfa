/** A pod on a server of the store that is about to be replaced by one that lacks some of what it said. */
import { defineMachine } from '../../src/index.ts';
import type { MemoryTables } from '../../src/store/index.ts';
import { Script } from '../fleet/script.ts';
import { anyInput, type TestPod, useTestFleets } from '../fleet/support.ts';

type Clock = { advance(ms: number): Promise<void> };
type Verb = TestPod['wire']['asked'][number];

const LOOK_MS = 10;
const LOOKS_MAX = 1_000;

function roverOf({ phases: { check, work } }: Script, isEagerlyKept: boolean) {
  return defineMachine({
    name: 'rover',
    version: 1,
    input: anyInput,
    ...(isEagerlyKept ? { flush: { work: 'sync' as const } } : {}),
    steps: (line) => line.step('a', { check, work }).step('b', { check, work }),
  });
}

export function useRewinds({ isEagerlyKept = false } = {}) {
  const { startFleet, hear } = useTestFleets();
  /** One pod with a machine of two steps, whose every call the test sees and may hold. */
  const play = async () => {
    const script = new Script();
    const machine = roverOf(script, isEagerlyKept);
    const fleet = startFleet();
    const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
    const enqueue = async () => (await pod.fleet.enqueue(machine, {})).id;
    return { ...fleet, script, machine, pod, enqueue };
  };
  return { play, hear };
}

/** Until this has been asked once more. Of a heartbeat: for a while the pod then hears of nothing. */
export async function untilAsked({ wire }: TestPod, verb: Verb, clock: Clock): Promise<void> {
  const count = () => wire.asked.filter((asked) => asked === verb).length;
  const before = count();
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (count() > before) return;
    await clock.advance(LOOK_MS);
  }
  throw new Error(`${verb} is asked no more`);
}

/** The segments of a task from this one on, by the order in which they came. */
export function loseSegments(tables: MemoryTables, id: string, from = 0): void {
  const keys = [...tables.events].filter(([, { task }]) => task === id).map(([key]) => key);
  for (const key of keys.slice(from)) tables.events.delete(key);
}
