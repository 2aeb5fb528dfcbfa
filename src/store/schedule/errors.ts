/** What can be wrong with a schedule. */
import { FleetqError } from '../../ground/index.ts';

/** A schedule says something that makes no sense, or too much. */
export class ScheduleError extends FleetqError {
  readonly code = 'FLEETQ_BAD_SCHEDULE';
  readonly verdict = 'abort';
}

/** No schedule of that name is in the store. */
export class ScheduleNotFoundError extends FleetqError {
  readonly code = 'FLEETQ_SCHEDULE_NOT_FOUND';
  readonly verdict = 'abort';
  constructor(name: string) {
    super(`there is no schedule ${name}`, { hint: 'list them with: fleetq schedules list' });
  }
}
