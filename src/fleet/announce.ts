/**
 * Makes the machines of this process known to the fleet. A version stands for one definition: a pod
 * that has another one under the same version would read the records of others by the wrong line, so it
 * does not join, and is told what has changed. Who develops a machine may let that pass.
 */
import { FleetqError } from '../ground/index.ts';
import { changesOf, type Plan, type Registry, routeOf } from '../machine/index.ts';
import { type Announcement, RECOVERY_PREFIX, type Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';

/** What becomes of a pod whose machine was changed under an unchanged version. */
export type ChangedMachines = 'refuse' | 'warn';

/** The fleet knows another definition under the same name and version. */
export class MachineChangedError extends FleetqError {
  readonly code = 'FLEETQ_MACHINE_CHANGED';
  readonly verdict = 'abort';
  readonly changes: readonly string[];
  constructor(route: string, changes: readonly string[]) {
    super(`${route} is not what the fleet knows under this version: ${changes.join('; ')}`, {
      hint: 'raise its version; while you develop it, changedMachines: "warn" lets that pass',
    });
    this.changes = changes;
  }
}

export interface AnnouncePorts {
  readonly store: Pick<Store, 'announce' | 'known'>;
  readonly registry: Registry;
  readonly changedMachines: ChangedMachines;
}

export async function announceMachines(ports: AnnouncePorts): Promise<void> {
  const { store, registry, changedMachines } = ports;
  const plans = new Map(registry.all().map((plan) => [routeOf(plan), plan]));
  // Looked at first: of a pod that is refused nothing is remembered, or others were held to it.
  if (changedMachines === 'refuse') refuse(plans, await store.known());
  const given = [...plans].map(([route, { fingerprint, shape }]) => {
    return { route, fingerprint, shape };
  });
  const changed = await store.announce(given);
  if (changedMachines === 'refuse') return refuse(plans, changed);
  for (const { route, fingerprint: recorded } of changed) {
    if (route.startsWith(RECOVERY_PREFIX)) continue;
    const { name: machine, version, fingerprint: registered } = plans.get(route)!;
    tell('machine.changed', () => ({ machine, version, recorded, registered }));
  }
}

function refuse(plans: ReadonlyMap<string, Plan>, known: readonly Announcement[]): void {
  for (const was of known) {
    const plan = plans.get(was.route);
    // Those are FleetQ's own, and no run of them ever goes to another pod.
    if (!plan || was.route.startsWith(RECOVERY_PREFIX)) continue;
    if (was.fingerprint === plan.fingerprint) continue;
    throw new MachineChangedError(was.route, changesSince(was, plan));
  }
}

/** What a machine has become since the fleet first heard of it. */
export function changesSince({ shape }: Announcement, plan: Plan): string[] {
  try {
    return changesOf(shape, plan.shape);
  } catch {
    return ['what it was cannot be read'];
  }
}
