/** How much of everything: tasks, time and doses of each fault. A dose not reached voids the run. */

export interface Doses {
  readonly kills: number;
  readonly pauses: number;
  /** SIGTERM and a new process, as in a deploy. */
  readonly drains: number;
  readonly storeCrashes: number;
  readonly cutOffs: number;
  readonly inDoubt: number;
}

export interface Size {
  readonly tasks: number;
  /** How long faults go on; tasks come in all the while. */
  readonly seconds: number;
  readonly pods: number;
  readonly slots: number;
  readonly doses: Doses;
}

export const SIZES = {
  ci: {
    tasks: 1_500,
    seconds: 45,
    pods: 4,
    slots: 32,
    doses: { kills: 6, pauses: 2, drains: 3, storeCrashes: 3, cutOffs: 2, inDoubt: 6 },
  },
  small: {
    tasks: 10_000,
    seconds: 170,
    pods: 6,
    slots: 32,
    doses: { kills: 20, pauses: 6, drains: 15, storeCrashes: 6, cutOffs: 6, inDoubt: 25 },
  },
  fleet: {
    tasks: 100_000,
    seconds: 960,
    pods: 6,
    slots: 48,
    doses: { kills: 105, pauses: 32, drains: 60, storeCrashes: 21, cutOffs: 30, inDoubt: 150 },
  },
} as const satisfies Record<string, Size>;

export type SizeName = keyof typeof SIZES;
