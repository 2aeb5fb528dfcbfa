/** What can be wrong with what somebody has configured. */
import { FleetqError } from '../ground/index.ts';

/** A flag, a variable or a line of the config file says something that cannot be. */
export class ConfigError extends FleetqError {
  readonly code = 'FLEETQ_CONFIG';
  readonly verdict = 'abort';
}

/** A file of the user's cannot be loaded: it is not there, does not parse, or throws. */
export class LoadError extends FleetqError {
  readonly code = 'FLEETQ_LOAD';
  readonly verdict = 'abort';
}
