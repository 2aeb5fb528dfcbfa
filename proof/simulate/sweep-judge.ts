/**
 * I28: whoever takes another for dead has itself been heard for twice the silence, and has seen the
 * same beat of the other for almost a silence; nobody is swept for what only the store was to blame
 * for; and where more than half of the fleet is missing, that is nobody's crash. All of it by the true
 * time, and by what was asked and answered.
 */
import type { Beat, BeatAnswer, Worklist } from '../../src/store/pods.ts';
import type { Taking } from '../../src/store/tasks.ts';
import type { CallFate } from './network.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 500;
/** What a monotonic clock may go wrong by, by which pods judge. */
const DRIFT = 0.05;
const ROUNDED_MS = 5;
/** A beat, its deadline and the next: whoever is well sends one in this time. */
const BEAT_GAP_MS = 3 * HEARTBEAT_MS;

/** A sweep looks twice: it decides by the first, and acts by the second. */
const SECOND_LOOK_MS = 5_000;

/** What a pod was told of the fleet. */
interface Watched {
  readonly pod: string;
  steadySinceMs: number;
  lastMs: number;
  sightings: ReadonlyMap<string, { readonly seq: number; readonly sinceMs: number }>;
}

interface SentBeat {
  readonly ms: number;
  /** Nothing but the store kept it from being heard. */
  readonly isBlameless: boolean;
}

/** One look at who is missing, what was known then of those who look, and what was done about it. */
interface Sweep {
  readonly lookedMs: number;
  /** How long whoever looked had been heard without a break, now or when it decided to look again. */
  readonly steadyMs: number;
  readonly watched: Watched | undefined;
  readonly missing: Set<string>;
  readonly silentCount: number;
  readonly podCount: number;
  counted: string | undefined;
}

/** Whom, by whom, and after which silence. */
export type Fencing = readonly [string, string, { readonly silentMs: number }];

export class SweepJudge {
  readonly #world: World;
  readonly #watched = new Map<Process, Watched>();
  readonly #beats = new Map<string, SentBeat[]>();
  readonly #sweeps = new Map<Process, Sweep>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A beat is on its way, or will never arrive. */
  beatSent({ pod }: Beat, fate: CallFate, isStoreAway: boolean): void {
    const isBlameless = fate === 'fine' || (fate === 'cut' && isStoreAway);
    const sent = { ms: this.#world.nowMs, isBlameless };
    const before = this.#beats.get(pod);
    if (before) before.push(sent);
    else this.#beats.set(pod, [sent]);
  }

  /** A pod has heard this. */
  beatHeard(process: Process, { pod }: Beat, answer: BeatAnswer): void {
    if (answer.kind !== 'taken') return;
    const { nowMs } = this.#world;
    const latest = this.#watched.get(process);
    const known = latest?.pod === pod ? latest : undefined;
    const gapMs = 2 * HEARTBEAT_MS * (1 + DRIFT) + ROUNDED_MS;
    const before = known && nowMs - known.lastMs <= gapMs ? known : undefined;
    const sightings = answer.fleet.map(({ pod: other, seq }) => {
      const seen = before?.sightings.get(other);
      return [other, seen?.seq === seq ? seen : { seq, sinceMs: nowMs }] as const;
    });
    this.#watched.set(process, {
      pod,
      steadySinceMs: before?.steadySinceMs ?? nowMs,
      lastMs: nowMs,
      sightings: new Map(sightings),
    });
  }

  /** Somebody says that another has been silent for too long: by what it knew when it looked. */
  fenceSent(process: Process, [victim, , { silentMs }]: Fencing): void {
    this.#world.count('judged fences');
    const fault = (how: string) =>
      this.#world.violate('I28', `${process.name} sweeps ${victim} ${how}`);
    const sweep = this.#sweeps.get(process);
    if (!sweep) return fault('without a look at who is missing');
    const { steadyMs, watched, lookedMs } = sweep;
    if (steadyMs < 2 * silentMs * (1 - DRIFT)) {
      return fault(`and has been heard for ${steadyMs.toFixed(0)} ms`);
    }
    const seenMs = lookedMs - (watched?.sightings.get(victim)?.sinceMs ?? lookedMs);
    if (seenMs < (silentMs - HEARTBEAT_MS) * (1 - DRIFT)) {
      fault(`and has seen its last beat for ${seenMs.toFixed(0)} ms`);
    }
  }

  /** The pod is taken for dead, and was heard of at this time last. */
  fenced(process: Process, victim: string, lastHeartbeat: number): void {
    const sweep = this.#sweeps.get(process);
    sweep?.missing.add(victim);
    if (sweep) this.#judgeOutage(sweep);
    const fromMs = this.#world.trueMsOf(lastHeartbeat);
    const beats = (this.#beats.get(victim) ?? []).filter(({ ms }) => ms > fromMs);
    const times = [fromMs, ...beats.map(({ ms }) => ms), this.#world.nowMs];
    const isWell = times.every((ms, at) => at === 0 || ms - times[at - 1]! <= BEAT_GAP_MS);
    if (beats.length === 0 || !isWell || !beats.every(({ isBlameless }) => isBlameless)) return;
    this.#world.violate('I28', `${victim} was swept, and only the store had been away`);
  }

  /** Somebody has been told who is missing. */
  looked(process: Process, { silent, dead, liveCount }: Worklist): void {
    const { nowMs } = this.#world;
    const before = this.#sweeps.get(process);
    const watched = this.#watched.get(process);
    const steadyMs = nowMs - (watched?.steadySinceMs ?? nowMs);
    const isSecond = before && nowMs - before.lookedMs <= SECOND_LOOK_MS;
    const fenced = dead.filter(({ pod, deadBy }) => deadBy !== pod).map(({ pod }) => pod);
    this.#sweeps.set(process, {
      lookedMs: nowMs,
      steadyMs: Math.max(steadyMs, isSecond ? before.steadyMs : 0),
      watched,
      missing: new Set(fenced),
      silentCount: silent.length + fenced.length,
      podCount: liveCount + fenced.length,
      counted: undefined,
    });
  }

  /** What a dead pod held was taken from it; `isWilling` where it had ended by its own word. */
  taken(process: Process, { from, to, crashed }: Taking, isWilling: boolean): void {
    const sweep = this.#sweeps.get(process);
    if (to !== 'pool' || !sweep) return;
    this.#world.count(crashed === 'none' ? 'sweeps without crashes' : 'sweeps with crashes');
    if (crashed !== 'none') {
      sweep.counted = from;
      return this.#judgeOutage(sweep);
    }
    if (isWilling || !sweep.missing.has(from) || sweep.silentCount * 2 > sweep.podCount) return;
    const share = `${sweep.silentCount} of ${sweep.podCount}`;
    this.#world.violate('I28', `${from} was swept, ${share} missing, and no crash was counted`);
  }

  #judgeOutage({ missing, podCount, counted }: Sweep): void {
    if (counted === undefined || missing.size * 2 <= podCount) return;
    const share = `${missing.size} of ${podCount}`;
    this.#world.violate('I28', `crashes of ${counted} were counted with ${share} missing`);
  }
}
