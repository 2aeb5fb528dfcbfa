/**
 * A fault of one pod that lasts, most often of the leader: its disk is full, its journal is damaged, its loop
 * is blocked, its slots are taken, the store refuses to register it, or its volume was cloned. The other pods
 * finish all tasks without it, those that it held as well (I43 to I46). Only then is the fault mended.
 */
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { Cluster } from './cluster.ts';
import type { Disk } from './disk.ts';
import type { Hosts } from './judge.ts';
import type { SimPod } from './sim-pod.ts';
import type { World } from './world.ts';

const LOOK_MS = 500;
const LOCAL_FROM = 30_000;
/** A phase of a run that fills a slot. */
const PACE_MS = 20_000;
/** Two silences, the turn of the pod behind the leader, and some heartbeats. */
const LEFT_MS_MAX = 10_000;
/** Two silences, and a little. */
const STEADY_MS = 6_500;
const DOWN_MS = 20_000;
/** Until one of two that met is gone: a heartbeat, and what a bad line adds to it. */
const BOTH_MS_MAX = 5_000;

type Undo = () => void;
type Lasting = (pod: SimPod, cluster: Cluster, world: World, slots: number) => Undo;

const fullDisk: Lasting = ({ disk }) => {
  disk.isFull = true;
  return () => {
    disk.isFull = false;
  };
};

const damagedJournal: Lasting = (pod) => {
  pod.disk.isDamaged = true;
  return () => pod.kill();
};

const blockedLoop: Lasting = ({ process }) => {
  process.pause();
  return () => process.resume();
};

const fullSlots: Lasting = (pod, _, world, slots) => {
  for (let count = 0; count < 2 * slots; count++) {
    pod.startLocal(LOCAL_FROM + count, world.within(PACE_MS / 2, PACE_MS));
  }
  return () => undefined;
};

const refusedRegistration: Lasting = (pod, cluster) => {
  cluster.refuse(pod, true);
  pod.kill();
  return () => cluster.refuse(pod, false);
};

const clonedVolume: Lasting = (pod, cluster, world) => {
  const clone = cluster.cloneVolume(pod);
  let sinceMs = world.nowMs;
  const look = () => {
    if (clone.hasEnded) return;
    const areBoth =
      isUp(clone) && cluster.alive().some((one) => one.disk === pod.disk && isUp(one));
    if (!areBoth) sinceMs = world.nowMs;
    if (world.nowMs - sinceMs > BOTH_MS_MAX) {
      world.violate('I45', `two processes with the journal of ${pod.name} are both up`);
    }
    world.schedule.at(world.nowMs + LOOK_MS, look);
  };
  look();
  return () => {
    clone.kill();
    // Where the original came back to its clone at work, it stopped for good: a person adopts its journal.
    if (pod.disk.owners.rival === undefined) return;
    for (const one of cluster.alive()) if (one.disk === pod.disk) one.kill();
    pod.disk.owners.rival = undefined;
    world.count('adopted journals');
  };
};

function isUp({ process, member }: SimPod): boolean {
  return !process.isDead && member.pod.status.isReady;
}

const KINDS: Readonly<Record<string, Lasting>> = {
  'full disk that lasts': fullDisk,
  'damaged journal': damagedJournal,
  'blocked loop that lasts': blockedLoop,
  'full slots': fullSlots,
  'refused registration': refusedRegistration,
  'cloned volume': clonedVolume,
};
export const LASTING_KINDS = Object.keys(KINDS);

export class LastingFault {
  readonly #world: World;
  readonly #cluster: Cluster;
  readonly #slots: number;
  /** By claim, since when it is held by a pod that cannot go on with it. */
  readonly #left = new Map<string, number>();
  #journal: string | undefined;
  #undo: Undo | undefined;
  #isOver = false;

  constructor(world: World, cluster: Cluster, stormMs: number, slots: number) {
    this.#world = world;
    this.#cluster = cluster;
    this.#slots = slots;
    world.schedule.at(world.within(0.2, 0.95) * stormMs, () => this.#begin());
    this.#look();
  }

  /** Those of its own host wait for it, and nobody else is there for them. */
  readonly hosts: Hosts = {
    hasDisk: (journal) => this.#cluster.hasDisk(journal),
    isLossy: (journal) => this.#cluster.isLossy(journal),
    isFarOff: (journal, run) => journal === this.#journal || this.#cluster.isFarOff(journal, run),
    hasTime: (task) => this.#cluster.hasTime(task),
  };

  /** All else is well: once pods have been heard for long enough to judge others, one more dies. */
  healed(): void {
    this.#world.schedule.at(this.#world.nowMs + STEADY_MS, () => {
      const { tables } = this.#world;
      const heldBy = (pod: SimPod) =>
        tables.tasksWhere((task) => isLeft(task) && task.claimedBy === pod.lifeId).length;
      const fit = this.#cluster.alive().filter((pod) => !pod.isFaulty && !pod.isSuspectsOnly);
      if (this.#isOver || fit.length < 2) return;
      const victim = fit.reduce((one, other) => (heldBy(other) > heldBy(one) ? other : one));
      if (heldBy(victim) === 0) return;
      this.#world.count('kills in peace');
      this.#cluster.killFor(victim, DOWN_MS);
    });
  }

  end(): void {
    this.#isOver = true;
    this.#world.say('world', 'has nothing wrong with any pod any more');
    this.#undo?.();
    for (const pod of this.#cluster.alive()) pod.isFaulty = false;
  }

  #begin(): void {
    const pods = this.#cluster.alive().filter(({ member, isSuspectsOnly }) => {
      return member.pod.status.isReady && !isSuspectsOnly;
    });
    const kind = this.#world.pick(LASTING_KINDS);
    // What runs on two hosts at once is no run of a fleet: nobody fences those.
    const fit = kind === 'cloned volume' ? pods.filter(({ disk }) => !hasLocalRuns(disk)) : pods;
    if (fit.length < 1 || pods.length < 2) {
      this.#world.schedule.at(this.#world.nowMs + LOOK_MS, () => this.#begin());
      return;
    }
    const oldest = fit.reduce((one, other) => (one.lifeId! < other.lifeId! ? one : other));
    const pod = this.#world.random.fraction() < 0.7 ? oldest : this.#world.pick(fit);
    this.#world.say(pod.name, `has a fault that lasts: ${kind}`);
    this.#world.count(kind);
    this.#journal = pod.disk.id;
    pod.isFaulty = true;
    this.#undo = KINDS[kind]!(pod, this.#cluster, this.#world, this.#slots);
  }

  /** Once all else is well nothing stays with a pod that cannot go on with it. */
  #look(): void {
    if (this.#isOver) return;
    const { nowMs, tables, healedMs } = this.#world;
    const able = new Set(this.#cluster.all().filter(canGoOn).map(lifeIdOf));
    const left = tables.tasksWhere((task) => isLeft(task) && !able.has(task.claimedBy));
    const names = new Set(left.map(nameOf));
    for (const name of this.#left.keys()) if (!names.has(name)) this.#left.delete(name);
    for (const task of left) {
      const sinceMs = this.#left.get(nameOf(task)) ?? nowMs;
      this.#left.set(nameOf(task), sinceMs);
      const ms = nowMs - Math.max(sinceMs, healedMs || nowMs);
      if (ms <= LEFT_MS_MAX) continue;
      const { taskId, claimedBy } = task;
      this.#world.violate('I44', `${taskId} is left with ${claimedBy} for ${ms.toFixed(0)} ms`);
    }
    this.#world.schedule.at(nowMs + LOOK_MS, () => this.#look());
  }
}

/** What is its host's own stays with it. */
function isLeft({ status, pinnedTo }: TaskRecord): boolean {
  return status === 'claimed' && pinnedTo === undefined;
}

const lifeIdOf = ({ lifeId }: SimPod) => lifeId;
const nameOf = ({ taskId, claimEpoch }: TaskRecord) => `${taskId} ${claimEpoch}`;

function hasLocalRuns({ runs }: Disk): boolean {
  return [...runs.values()].some((row) => row.generation === null && row.finished_at === null);
}

function canGoOn({ process, disk, hasEnded }: SimPod): boolean {
  return !hasEnded && !process.isDead && !process.isPaused && !disk.isFull && !disk.isDamaged;
}
