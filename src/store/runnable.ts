/** What no pod could ever run is refused where it comes in; the SQL tables refuse it from a prompt too. */
import { show } from '../ground/index.ts';
import { StoreRefusedError } from './errors.ts';
import { RECOVERY_PREFIX } from './words.ts';

export interface Wanted {
  readonly machine: string;
  readonly version: number;
}

export function refuseNotRunnable(tasks: readonly Wanted[]): void {
  for (const { machine, version } of tasks) {
    if (!(version >= 1)) {
      throw new StoreRefusedError(
        `the version of ${machine} must be 1 or more, got ${show(version)}`,
        { hint: 'enqueue a version that a pod has: fleetq machines lists them' },
      );
    }
    if (machine.startsWith(RECOVERY_PREFIX)) {
      throw new StoreRefusedError(
        `a machine to enqueue must not begin with ${RECOVERY_PREFIX}, got ${machine}`,
        { hint: `a recovery runs on its pod alone; start it there: fleetq start ${machine}` },
      );
    }
  }
}
