/** A fleet answers on the socket of the data directory that it holds. */
import { version } from '../config/index.ts';
import { type Clock, describeError, isoTime } from '../ground/index.ts';
import { placeOf } from '../journal/index.ts';
import { tell } from '../telemetry/events.ts';
import type { FleetPort } from './fleet-port.ts';
import type { Sources } from './live/index.ts';
import { AdminServer } from './server.ts';

export interface ServeOptions {
  readonly fleet: FleetPort;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly resultBytesMax: number;
  /** Whether a socket that cannot be made is an error. Runs need none, so by default it is told. */
  readonly isRequired: boolean;
  readonly sources?: Sources | undefined;
}

/** A body holds an input, perhaps with indentation, and a few words around it. */
const BODY_SLACK = 64 * 1024;

/** Undefined where there can be no socket, such as under a path that is too long for one. */
export async function serveFleet(options: ServeOptions): Promise<AdminServer | undefined> {
  const { fleet, clock } = options;
  const path = placeOf(options.dataDir).socket;
  const server = new AdminServer({
    fleet,
    clock,
    sources: options.sources,
    bodyBytesMax: options.resultBytesMax * 2 + BODY_SLACK,
    about: { pid: process.pid, version: version(), since: isoTime(clock.now()) },
  });
  try {
    await server.start(path);
    return server;
  } catch (error) {
    if (options.isRequired) throw error;
    tell('socket.failed', () => ({ path, error: describeError(error) }));
    return undefined;
  }
}
