/** What a store can do, and how it would like to be asked. */
import type { RestTimes } from './rest.ts';

export interface Capabilities {
  /** 'postgres', 'sqlite', 'memory' …: for people. */
  readonly kind: string;
  /** What a pod should use where nothing is configured. */
  readonly heartbeatMs: number;
  readonly silentMs: number;
  /** How long an idle claimer may wait between two looks. */
  readonly idlePollMs: number;
  /**
   * What one process wrote, another may read a little later: in lists, in what there is to claim, in what
   * a heartbeat tells. Each reads at once what it wrote itself, and nobody is told that something is lost,
   * gone or refused because it was only not seen yet.
   */
  readonly readsLate?: boolean | undefined;
  /** What this store refuses to do, for want of what it would take; nothing where nothing is said. */
  readonly lacks?: readonly Lack[] | undefined;
  /** Pods that have nothing to do rest; never, where nothing is said. */
  readonly rest?: RestTimes | undefined;
}

export type Lack = 'serial keys' | 'queue limits' | 'following' | 'transactions';
