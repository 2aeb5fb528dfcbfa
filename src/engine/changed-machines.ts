/**
 * A definition that was changed under an unchanged version. Its runs go on: where a recorded phase no
 * longer fits they are quarantined by the replay, and where the line has only grown they can be
 * executed. But nobody may have meant them to be, so it is said, once for each machine and version.
 */
import type { StoredRecord } from '../journal/index.ts';
import { type Plan, type Registry, routeOf } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';

const told = new WeakMap<Registry, Set<string>>();

/** `first` is the first record of a run of that machine: it says what the run was started with. */
export function tellIfChanged(registry: Registry, plan: Plan, first: StoredRecord): void {
  const { event } = first;
  if (event.type !== 'STARTED' || event.fingerprint === plan.fingerprint) return;
  const known = told.get(registry) ?? new Set();
  told.set(registry, known);
  const route = routeOf(plan);
  if (known.has(route)) return;
  known.add(route);
  tell('machine.changed', () => ({
    machine: plan.name,
    version: plan.version,
    recorded: event.fingerprint,
    registered: plan.fingerprint,
  }));
}
