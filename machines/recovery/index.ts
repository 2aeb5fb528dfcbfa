/** The fleet's own machines: rescue, repair, removal. Ordinary machines, journaled like any other. */
import type { Machine, Recovery } from 'fleetq';
import { reconcile } from './reconcile.ts';
import { redrive } from './redrive.ts';
import { retention } from './retention.ts';
import { sweep } from './sweep.ts';

export function recoveryMachines(recovery: Recovery): readonly Machine[] {
  return [sweep(recovery), reconcile(recovery), retention(recovery), redrive(recovery)];
}
