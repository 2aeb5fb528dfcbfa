/** What people want done to the fleet: machines that every pod of it has. */
import type { Bulks, Machine } from 'fleetq';
import { bulk } from './bulk.ts';

export function fleetMachines(bulks: Bulks): readonly Machine[] {
  return [bulk(bulks)];
}
