/** How much of everything: tasks, time and doses of each fault. A dose not reached voids the run. */

export interface Doses {
  /** SIGKILL of one pod; every third with its disk. */
  readonly kills: number;
  /** SIGKILL of all pods at once; with half of their disks, with all, with none, in turn. */
  readonly massKills: number;
  /** SIGSTOP past the silence. */
  readonly pauses: number;
  /** SIGTERM and a new process, as in a deploy. */
  readonly drains: number;
  /** All pods replaced one by one by others with the next version of every machine. */
  readonly deploys: number;
  /** SIGTERM, and SIGKILL before the drain was over. */
  readonly roughDrains: number;
  readonly storeCrashes: number;
  /** The primary killed and a standby promoted; with any, the store is a primary and two standbys. */
  readonly failovers: number;
  /** The way to the store cut past the silence. */
  readonly cutOffs: number;
  /** Changes of the way to the store: slow, narrow, deaf, torn, flapping. */
  readonly networkSwitches: number;
  /** Answers to a commit that were lost. */
  readonly inDoubt: number;
  /** A pod's disk full until its journal stood still, and then larger again. */
  readonly fullDisks: number;
  /** The same for several silences, in which the pod took nothing. */
  readonly longFullDisks: number;
  /** A page of a journal in use overwritten, and met by the pod or by its next start. */
  readonly damagedJournals: number;
  /** All slots of the oldest pod in use for three silences, while another was killed with its tasks. */
  readonly fullSlots: number;
  /** No room in the store for another pod, while one was killed and tried to come back. */
  readonly refusedRegistrations: number;
  /** A second process on a clone of a pod's volume, which found out that the pod lives. */
  readonly clonedVolumes: number;
  /** A pod's wall clock set or running wrong, as the pod itself saw it. */
  readonly clockJumps: number;
  /** The wall clock of the store set hours ahead, for the rest of the run: once is all there is. */
  readonly storeClockJumps: number;
  /** Handlers that hold the loop longer than the silence. */
  readonly spins: number;
  /** Processes that their own handlers ended: heap used up, abort(), exit(0). */
  readonly heapDeaths: number;
  readonly aborts: number;
  readonly exits: number;
  /** Answered calls of people: cancel, reschedule, redrive, discard, lists. */
  readonly adminCalls: number;
}

export type Fault = keyof Doses;

export interface Size {
  readonly tasks: number;
  /** How long faults go on; tasks come in all the while. */
  readonly seconds: number;
  readonly pods: number;
  readonly slots: number;
  readonly doses: Doses;
}

export const SIZES = {
  /** Without the two that take pods away for longest. */
  ci: {
    tasks: 1_000,
    seconds: 34,
    pods: 4,
    slots: 32,
    doses: {
      kills: 4,
      massKills: 1,
      pauses: 2,
      drains: 2,
      deploys: 1,
      roughDrains: 2,
      storeCrashes: 4,
      failovers: 0,
      cutOffs: 1,
      networkSwitches: 10,
      inDoubt: 6,
      fullDisks: 1,
      longFullDisks: 0,
      damagedJournals: 1,
      fullSlots: 0,
      refusedRegistrations: 1,
      clonedVolumes: 1,
      clockJumps: 4,
      storeClockJumps: 1,
      spins: 1,
      heapDeaths: 1,
      aborts: 1,
      exits: 1,
      adminCalls: 100,
    },
  },
  small: {
    tasks: 10_000,
    seconds: 180,
    pods: 6,
    slots: 32,
    doses: {
      kills: 30,
      massKills: 2,
      pauses: 10,
      drains: 8,
      deploys: 2,
      roughDrains: 6,
      storeCrashes: 8,
      failovers: 0,
      cutOffs: 4,
      networkSwitches: 30,
      inDoubt: 25,
      fullDisks: 2,
      longFullDisks: 2,
      damagedJournals: 4,
      fullSlots: 2,
      refusedRegistrations: 3,
      clonedVolumes: 4,
      clockJumps: 9,
      storeClockJumps: 1,
      spins: 3,
      heapDeaths: 2,
      aborts: 2,
      exits: 2,
      adminCalls: 600,
    },
  },
  /** With a primary that is lost again and again. Nobody sets its clock: it is never the same for long. */
  failover: {
    tasks: 2_000,
    seconds: 80,
    pods: 4,
    slots: 32,
    doses: {
      kills: 6,
      massKills: 1,
      pauses: 2,
      drains: 2,
      deploys: 1,
      roughDrains: 2,
      storeCrashes: 4,
      failovers: 5,
      cutOffs: 2,
      networkSwitches: 10,
      inDoubt: 10,
      fullDisks: 1,
      longFullDisks: 1,
      damagedJournals: 1,
      fullSlots: 1,
      refusedRegistrations: 1,
      clonedVolumes: 1,
      clockJumps: 4,
      storeClockJumps: 0,
      spins: 1,
      heapDeaths: 1,
      aborts: 1,
      exits: 1,
      adminCalls: 200,
    },
  },
  fleet: {
    tasks: 100_000,
    seconds: 1_320,
    pods: 6,
    slots: 48,
    doses: {
      kills: 306,
      massKills: 6,
      pauses: 102,
      drains: 45,
      deploys: 6,
      roughDrains: 30,
      storeCrashes: 60,
      failovers: 0,
      cutOffs: 30,
      networkSwitches: 200,
      inDoubt: 150,
      fullDisks: 6,
      longFullDisks: 6,
      damagedJournals: 20,
      fullSlots: 6,
      refusedRegistrations: 12,
      clonedVolumes: 20,
      clockJumps: 30,
      storeClockJumps: 1,
      spins: 9,
      heapDeaths: 6,
      aborts: 6,
      exits: 6,
      adminCalls: 2_100,
    },
  },
  release: {
    tasks: 1_000_000,
    seconds: 13_200,
    pods: 6,
    slots: 48,
    doses: {
      kills: 3_000,
      massKills: 60,
      pauses: 1_000,
      drains: 450,
      deploys: 20,
      roughDrains: 300,
      storeCrashes: 600,
      failovers: 0,
      cutOffs: 300,
      networkSwitches: 3_000,
      inDoubt: 1_500,
      fullDisks: 60,
      longFullDisks: 60,
      damagedJournals: 200,
      fullSlots: 60,
      refusedRegistrations: 120,
      clonedVolumes: 200,
      clockJumps: 300,
      storeClockJumps: 1,
      spins: 80,
      heapDeaths: 60,
      aborts: 60,
      exits: 60,
      adminCalls: 50_000,
    },
  },
} as const satisfies Record<string, Size>;

export type SizeName = keyof typeof SIZES;

/** One of so many equal legs; together they are at least the whole. */
export function shareOf(size: Size, legs: number): Size {
  const part = (count: number) => Math.ceil(count / legs);
  const doses = Object.entries(size.doses).map(([fault, dose]) => [fault, part(dose)]);
  return {
    ...size,
    tasks: part(size.tasks),
    seconds: part(size.seconds),
    doses: Object.fromEntries(doses) as Record<Fault, number>,
  };
}
