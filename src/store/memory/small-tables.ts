/** Rows of the tables that have few: machines, changes, leaders, queues. */
import type { PodId } from '../words.ts';

export interface RegistryRecord {
  readonly route: string;
  readonly machine: string;
  readonly fingerprint: string;
  readonly shape: string;
  readonly firstSeen: number;
}

export interface AuditRecord {
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly taskId: string | undefined;
  readonly detail: string | undefined;
}

export interface TermRecord {
  readonly podId: PodId;
  readonly term: number;
  readonly name: string;
  readonly since: number;
}

export interface QueueRecord {
  limit: number | undefined;
  isPaused: boolean;
  pausedBy: string | undefined;
  pausedAt: number | undefined;
}

/** What people have said of queues and machines; those they have said nothing of are not here. */
export class FlowTables {
  readonly queues = new Map<string, QueueRecord>();
  readonly machines = new Map<string, { readonly pausedBy: string; readonly pausedAt: number }>();
}
