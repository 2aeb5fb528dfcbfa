/** What can go wrong about reaching a process. Apart from the server, which takes time to load. */
import { FleetqError } from '../ground/index.ts';

/** The socket file cannot be made. */
export class SocketError extends FleetqError {
  readonly code = 'FLEETQ_SOCKET';
  readonly verdict = 'abort';
}

/** The address cannot be listened on. */
export class ListenError extends FleetqError {
  readonly code = 'FLEETQ_LISTEN_FAILED';
  readonly verdict = 'abort';
}

/** It would answer to everybody: an address that others reach wants tokens. */
export class OpenListenError extends FleetqError {
  readonly code = 'FLEETQ_LISTEN_OPEN';
  readonly verdict = 'abort';
}
