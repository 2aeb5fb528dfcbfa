/** Joins, kills and a store that is gone, one after the other, while the APIs count. */
import { type Seen, Stage, type StageOptions } from './stage.ts';

export interface FaultOptions extends StageOptions {
  readonly pods: number;
  /** How long each look is. */
  readonly lookMs: number;
  readonly withoutStoreMs: number;
  readonly say: (line: string) => void;
}

/** Pods that do not know of each other yet have a twentieth of the cap between them. */
export const NEWCOMERS = 0.05;

/** The most that may be out at once: the cap, what newcomers have, and a permit for what does not divide. */
export function boundOf(cap: number): number {
  return Math.ceil(cap * (1 + NEWCOMERS)) + 1;
}

export async function runFaults(options: FaultOptions) {
  const { pods, lookMs, withoutStoreMs, heartbeatMs, silentMs, cap } = options;
  const looks: Record<string, Seen> = {};
  const sharedMs: Record<string, number> = {};
  const stage = await Stage.open(options);
  const look = async (what: string, seeing: Promise<Seen>) => {
    const seen = await seeing;
    looks[what] = seen;
    const { outMost, out, goodput, refused } = seen;
    const share = (value: number) => `${Math.round(value * 1_000) / 10} %`;
    options.say(
      `${what}: at most ${outMost} of ${cap} at once, ${share(out)} on average; goodput ${share(goodput)}, refused ${share(refused)}`,
    );
  };
  try {
    const first = Math.max(1, Math.floor(pods / 4));
    await stage.startPods(first);
    // The first pods may each have been alone for a heartbeat: what is declared holds from then on.
    await stage.watch(8 * heartbeatMs);
    await look('few', stage.watch(lookMs));
    const joining = look('join', stage.watch(lookMs + 4 * heartbeatMs));
    await stage.startPods(pods - first);
    await joining;
    sharedMs['joined'] = await stage.untilShared();
    await look('steady', stage.watch(2 * lookMs));
    stage.kill(((await stage.leader()) + 1) % stage.pods.length);
    await look('podKilled', stage.watch(lookMs));
    stage.kill(await stage.leader());
    await look('leaderKilled', stage.watch(silentMs + 4 * heartbeatMs));
    await look('afterLeader', stage.watch(lookMs));
    await look('storeGone', stage.withoutStore(withoutStoreMs));
    const back = look('storeBack', stage.watch(silentMs + 8 * heartbeatMs));
    sharedMs['storeBack'] = await stage.untilShared();
    await back;
    await look('after', stage.watch(lookMs));
  } finally {
    await stage.close();
  }
  const outMost = Math.max(...Object.values(looks).map((seen) => seen.outMost));
  return { pods, cap, heartbeatMs, bound: boundOf(cap), outMost, sharedMs, looks };
}
