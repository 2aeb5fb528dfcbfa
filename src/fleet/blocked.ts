/**
 * Which tasks nobody goes on with, though nothing is wrong with them: no pod that is up has their
 * version, and no newer version that is up could take them over. Computed from who is up now, so it ends
 * by itself when a pod comes that has the route.
 */
import { hasHeir, type LiveRoutes, type Of, type RouteTally, routeOf } from '../store/index.ts';

export { isBlocked, LiveRoutes } from '../store/index.ts';

export function blockedCount(live: LiveRoutes, tally: RouteTally): number {
  if (live.isEmpty || live.podCount(tally.route) > 0) return 0;
  return hasHeir(live, tally)
    ? tally.shelved + tally.suspect
    : tally.pending + tally.waiting - tally.pinned;
}

/** For people: why, and what would help. */
export function whyBlocked(live: LiveRoutes, of: Of): string {
  const route = routeOf(of);
  const newest = live.newest(of.machine);
  const missing = `no pod that is up has ${route}`;
  if (newest === undefined) return `${missing}, or another version of ${of.machine}; start one`;
  if (newest < of.version) {
    return `${missing}, and ${of.machine}@${newest} is older: no run goes back; start one that has it`;
  }
  return (
    `${missing}, and ${of.machine}@${newest} cannot go on with it: start one that has ${route}, or ` +
    `give ${of.machine}@${newest} an upgrade from version ${of.version}; fleetq plan says what is in the way`
  );
}
