/** What can be asked of a process that executes, and not of one that only serves. */
import type { Desk } from '../desk/desk.ts';
import type { FleetPort } from '../fleet-port.ts';
import { RequestError } from '../problem.ts';

export function refuseNoFleet({ fleet }: Desk, what: string): FleetPort {
  if (fleet) return fleet;
  throw new RequestError(
    409,
    'FLEETQ_ONLY_SERVES',
    `this process executes nothing, so that it cannot ${what}`,
    'ask a worker, or name a store that workers share',
  );
}
