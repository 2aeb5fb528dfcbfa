/** A fleet that this process holds, with the settings of the command line. */
import type { Config } from '../config/index.ts';
import type { Machine } from '../machine/index.ts';
import { createFleet, type Fleet } from '../main.ts';

/** `isIdle` takes runs in and leaves them to the next process; else they are executed and served. */
export function openFleet(
  config: Config,
  machines: readonly Machine[],
  options: { readonly isIdle?: boolean } = {},
): Promise<Fleet> {
  const { dataDir, slots, retention, resultBytesMax, activeRunsMax } = config;
  const isIdle = options.isIdle ?? false;
  return createFleet({
    machines,
    dataDir,
    slots,
    retention,
    resultBytesMax,
    activeRunsMax,
    isIdle,
    socket: !isIdle,
  });
}
