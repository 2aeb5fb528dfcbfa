/** Why somebody is not let in to look on. */
import { RequestError } from '../problem.ts';

export function tooMany(countMax: number): RequestError {
  return new RequestError(
    429,
    'FLEETQ_TOO_MANY_FOLLOWERS',
    `${countMax} followers are connected, which is the limit`,
  );
}

export function draining(): RequestError {
  return new RequestError(
    503,
    'FLEETQ_DRAINING',
    'this process is draining',
    'ask another one, or the one that follows it',
  );
}
