/** Fleets under a clock that the test owns, and what a SIGKILL would leave of them. */
import { afterEach } from 'vitest';
import * as z from 'zod';
import type { EventName, Fleet, FleetOptions, FleetqEvents } from '../../src/index.ts';
import { createFleet, listen } from '../../src/index.ts';
import { FakeClock } from './fake-clock.ts';
import { seededRandom } from './seeded-random.ts';
import { crashImage, useTempDirs } from './temp-dir.ts';

export interface Rig {
  readonly fleet: Fleet;
  readonly clock: FakeClock;
  readonly dataDir: string;
}

type RigOptions = Omit<FleetOptions, 'clock'> & { readonly clock?: FakeClock | undefined };

/** Any object, for machines whose input is beside the point. */
export const anyInput = z.object({ id: z.string().optional() });

export function useFleets() {
  const newDir = useTempDirs();
  const opened: Fleet[] = [];
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const fleet of opened.splice(0)) fleet.stopNow();
    for (const stop of stops.splice(0)) stop();
  });
  const open = async (options: RigOptions): Promise<Rig> => {
    const clock = options.clock ?? new FakeClock();
    const dataDir = options.dataDir ?? newDir();
    const random = options.random ?? seededRandom(1);
    const fleet = await createFleet({ ...options, clock, dataDir, random });
    opened.push(fleet);
    return { fleet, clock, dataDir };
  };
  return {
    newDir,
    open,
    /** Another process finds what a SIGKILL of `rig` would leave now; time goes on as it was. */
    async afterCrash(rig: Rig, options: RigOptions): Promise<Rig> {
      const dataDir = crashImage(rig.dataDir, newDir());
      return open({ clock: rig.clock, ...options, dataDir });
    },
    /** Everything said under this name from now on. */
    hear<N extends EventName>(name: N): FleetqEvents[N][] {
      const heard: FleetqEvents[N][] = [];
      stops.push(listen(name, (event) => heard.push(event)));
      return heard;
    },
  };
}

/** The kinds of a run's records, in order. */
export function kinds(fleet: Fleet, id: string): string[] {
  return fleet.events(id).map((record) => record.event.type);
}

/** A promise and the way to settle it, for handlers that wait for the test. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

/** For handlers that never answer. */
export const never = (): Promise<never> => new Promise(() => undefined);
