/** Starts a process for suspects: the same machines, one slot, a data directory of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { ClaimMode } from './config/index.ts';
import type { SuspectProcess } from './fleet/index.ts';
import type { CodecKeys, Duration } from './ground/index.ts';
import type { ThrottleDefinition } from './throttle/index.ts';

/**
 * What the process needs to know. The address of the store and the keys are secrets, so they go over
 * the channel: its environment is inherited by every program that a handler starts.
 */
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

export function suspectProcess(orders: SuspectOrders): () => SuspectProcess {
  return () => {
    const pods = new Set<string>();
    let child: ChildProcess | undefined;
    const ended = new Promise<void>((resolve, reject) => {
      child = startChild();
      // An error of a process that has started, such as of a message, is not its end.
      child.on('error', (error) => child?.pid === undefined && reject(error));
      child.once('exit', () => resolve());
      child.on('message', (message) => {
        if (typeof message === 'object' && 'pod' in message) pods.add(String(message.pod));
      });
      const own = { ...orders, dataDir: join(orders.dataDir, 'suspects') };
      // A process that dies before it has read this shows it by its end.
      if (child.connected) child.send(own, () => undefined);
    });
    return { pods, ended, stop: () => child?.connected && child.disconnect() };
  };
}

function startChild(): ChildProcess {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = isSource ? './suspect-main.ts' : './suspect-main.js';
  return fork(new URL(entry, import.meta.url), {
    execArgv: [],
    // A terminal's Ctrl-C goes to the whole group; the parent asks this process to drain.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
