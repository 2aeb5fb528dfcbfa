/** A fleet that answers: on the socket of its data directory, and on an address where one is wanted. */
import type { AdminServer, FleetPort } from './admin/index.ts';
import type { FleetOptions, Parts } from './assemble.ts';
import { systemRandom, turn } from './ground/index.ts';

export interface Serving {
  readonly server: AdminServer;
  /** The address, where it answers on one. */
  readonly at: string | undefined;
}

export async function serve(
  fleet: FleetPort,
  options: FleetOptions,
  parts: Parts,
): Promise<Serving | undefined> {
  const { clock, dataDir, resultBytesMax } = parts;
  const { isIdle, socket, listen, redact: redacted = [], random = systemRandom } = options;
  if (!(socket ?? !isIdle)) return undefined;
  const isRequired = socket === true;
  // Loaded when the last of the runs is under way again: they do not need it, and HTTP takes its time.
  await turn(clock);
  const { serveFleet, listenOn } = await import('./admin/index.ts');
  const sizes = { dataDir, resultBytesMax, redacted, isRequired };
  const server = await serveFleet({ fleet, clock, random, ...sizes });
  const at = listen && (await listenOn(server, listen, { clock, random }));
  return { server, at };
}
