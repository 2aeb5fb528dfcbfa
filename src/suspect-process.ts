/** Starts a process for suspects: the same machines, one slot, a data directory of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClaimMode } from './config/index.ts';
import type { SuspectProcess } from './fleet/index.ts';
import type { CodecKeys, Duration } from './ground/index.ts';
import type { ThrottleDefinition } from './throttle/index.ts';

/** What the process is told; as JSON, in its environment. */
export interface SuspectOrders {
  readonly store: string;
  /** The files that export the machines. */
  readonly modules: readonly string[];
  readonly dataDir: string;
  readonly isPooled?: boolean | undefined;
  readonly claimMode?: ClaimMode | undefined;
  readonly poolSize?: number | undefined;
  readonly changedMachines?: 'refuse' | 'warn' | undefined;
  readonly podName?: string | undefined;
  readonly heartbeat?: Duration | undefined;
  readonly silence?: Duration | undefined;
  readonly resultBytesMax?: number | undefined;
  readonly codecKeys?: CodecKeys | undefined;
  /** As they were declared to the program; a `classify` is a function, and is not told. */
  readonly throttles?: readonly ThrottleDefinition[] | undefined;
  readonly apis?: Readonly<Record<string, number>> | undefined;
  readonly isSealedOnly?: boolean | undefined;
}

export const ORDERS_VARIABLE = 'FLEETQ_SUSPECT_ORDERS';

export function suspectProcess(orders: SuspectOrders): () => SuspectProcess {
  return () => {
    const isSource = import.meta.url.endsWith('.ts');
    const entry = isSource ? './suspect-main.ts' : './suspect-main.js';
    const own = { ...orders, dataDir: join(orders.dataDir, 'suspects') };
    const child = fork(new URL(entry, import.meta.url), {
      execArgv: [],
      env: { ...process.env, [ORDERS_VARIABLE]: JSON.stringify(own) },
      // A terminal's Ctrl-C goes to the whole group; this process is told by its parent.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    return watched(child);
  };
}

function watched(child: ChildProcess): SuspectProcess {
  const pods = new Set<string>();
  child.on('message', (message) => {
    if (typeof message === 'object' && 'pod' in message) pods.add(String(message.pod));
  });
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => undefined);
  return { pods, ended, stop: () => child.disconnect() };
}
