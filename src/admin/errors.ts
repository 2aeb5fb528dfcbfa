/** What can go wrong about reaching a process. Apart from the server, which takes time to load. */
import { FleetqError } from '../ground/index.ts';

/** The socket file cannot be made. */
export class SocketError extends FleetqError {
  readonly code = 'FLEETQ_SOCKET';
  readonly verdict = 'abort';
}
