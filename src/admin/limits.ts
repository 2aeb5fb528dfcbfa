/** Bounds of what can be asked at once, and what an unknown machine is told. Light: commands need it. */
import { nearest } from '../config/index.ts';
import { show } from '../ground/index.ts';
import type { FleetPort } from './fleet-port.ts';
import { RequestError } from './problem.ts';

export const LIMIT_MAX = 500;
export const EVENTS_MAX = 1_000;
/** A record that is larger than that is an answer of its own. */
export const EVENTS_BYTES_MAX = 2 * 1024 * 1024;
/** A run that is larger is written by a process of its own, which may take the memory for it. */
export const EXPORT_BYTES_MAX = 16 * 1024 * 1024;
export const WAIT_MS_MAX = 60_000;

/** Nobody has to guess what the machines are called. */
export function refuseUnknown(fleet: Pick<FleetPort, 'machines'>, machine: string): void {
  const names = [...new Set(fleet.machines.map(({ name }) => name))].sort();
  if (names.includes(machine)) return;
  const near = nearest(machine, names);
  throw new RequestError(
    404,
    'FLEETQ_REGISTRY',
    `there is no machine called ${show(machine)}`,
    names.length === 0
      ? 'no machine is registered'
      : `${near ? `did you mean ${near}? ` : ''}there are: ${names.join(', ')}`,
  );
}
