/**
 * A definition that was changed under an unchanged version. Its runs go on where the line has only
 * grown, and are blocked where a recorded phase no longer fits. Nobody may have meant either, so it is
 * said, once for each machine and version.
 */
import { type Origin, type Plan, type Registry, routeOf } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';

const told = new WeakMap<Registry, Set<string>>();

/** `origin` is what the records of a run of that machine and version say of it. */
export function tellIfChanged(registry: Registry, plan: Plan, origin: Origin): void {
  if (origin.fingerprint === plan.fingerprint) return;
  const known = told.get(registry) ?? new Set();
  told.set(registry, known);
  const route = routeOf(plan);
  if (known.has(route)) return;
  known.add(route);
  tell('machine.changed', () => ({
    machine: plan.name,
    version: plan.version,
    recorded: origin.fingerprint,
    registered: plan.fingerprint,
  }));
}
