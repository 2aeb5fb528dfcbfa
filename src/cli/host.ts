/** A fleet that this process holds, and the socket others reach it by. */
import { AdminServer } from '../admin/index.ts';
import type { Config } from '../config/index.ts';
import { isoTime, systemClock } from '../ground/index.ts';
import { placeOf } from '../journal/index.ts';
import type { Machine } from '../machine/index.ts';
import { createFleet, type Fleet } from '../main.ts';
import { version } from './version.ts';

export interface Host {
  readonly fleet: Fleet;
  readonly server: AdminServer;
}

/** A body holds an input, perhaps with indentation, and a few words around it. */
const BODY_SLACK = 64 * 1024;

/** Opens the journal, takes up its runs, and answers on the socket. */
export async function openHost(config: Config, machines: readonly Machine[]): Promise<Host> {
  const fleet = await openFleet(config, machines);
  const server = new AdminServer({
    fleet,
    clock: systemClock,
    bodyBytesMax: config.resultBytesMax * 2 + BODY_SLACK,
    about: { pid: process.pid, version: version(), since: isoTime(systemClock.now()) },
  });
  try {
    await server.start(placeOf(config.dataDir).socket);
    return { fleet, server };
  } catch (error) {
    fleet.stopNow();
    throw error;
  }
}

/** The fleet alone; `isIdle` takes runs in and leaves their execution to the next process. */
export function openFleet(
  config: Config,
  machines: readonly Machine[],
  options: { readonly isIdle?: boolean } = {},
): Promise<Fleet> {
  const { dataDir, slots, retention, resultBytesMax, activeRunsMax } = config;
  return createFleet({
    machines,
    dataDir,
    slots,
    retention,
    resultBytesMax,
    activeRunsMax,
    isIdle: options.isIdle,
  });
}
