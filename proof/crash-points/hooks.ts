/** What a pod of the crash table is told: what it has, what it does, and where it strikes itself. */
import type { EventName } from '../../src/index.ts';
import type { Meeting } from './meeting.ts';

export type Act = 'kill' | 'pause' | 'lose';

export type Hook =
  /** A call of the store: before it is sent, or when it was answered with something. */
  | {
      readonly at: 'store';
      readonly verb: string;
      readonly when: 'before' | 'after';
      readonly nth?: number;
      readonly act: Act;
    }
  /** Something that is told. */
  | {
      readonly at: 'event';
      readonly name: EventName;
      readonly has?: Record<string, unknown>;
      readonly nth?: number;
      readonly act: Act;
    }
  /** A record: before the journal gets it, while it waits for its commit, or when it is durable. */
  | {
      readonly at: 'append';
      readonly when: 'before' | 'buffered' | 'after';
      readonly event: string;
      readonly state?: string;
      readonly act: Act;
    }
  /** Inside a handler: before its effect, half way, or when it is done and not answered. */
  | {
      readonly at: 'phase';
      readonly place: string;
      readonly moment: 'begun' | 'half' | 'done';
      readonly act: Act;
    }
  /** Of the releases of a drain the first half is sent. */
  | { readonly at: 'halfSettle' }
  /** What the store has is about to be removed from the journal, or just has been. */
  | { readonly at: 'forget'; readonly when: 'before' | 'after' };

export interface Line {
  readonly version: number;
  readonly steps: readonly string[];
}

export interface Orders {
  readonly dist: string;
  readonly url: string;
  readonly dataDir: string;
  readonly name: string;
  readonly ledger: string;
  /** The one machine this pod has; none for those that only keep watch. */
  readonly machine?: string | undefined;
  /** Its version and its steps; version 1 of a and b where nothing is said. */
  readonly line?: Line | undefined;
  readonly hook?: Hook | undefined;
  readonly archiveMs: number;
  readonly outputBytes: number;
  /** How long b.work takes. */
  readonly workMs: number;
  /** Between the two steps it sleeps for so long. */
  readonly napMs?: number;
  /** Starts one run of its own, which no other host may have. */
  readonly startsLocal?: boolean;
  /** Gives one task to the fleet under this key, and ends. */
  readonly enqueues?: string | undefined;
  /** Ends when every task of its machine has ended. */
  readonly isFinisher?: boolean;
  /** Begins to drain when b.work has begun. */
  readonly drains?: boolean;
  /** When so many runs are inside b.work; at the first where nothing is said. */
  readonly drainsAt?: number;
  /** Claims only tasks whose owners have died. */
  readonly isSuspectsOnly?: boolean;
  /** Believes that it leads, whoever else does. */
  readonly isForced?: boolean;
  /** Fences nobody, and takes nothing, before so many pods are about to. */
  readonly meets?: Meeting | undefined;
  /** Beats within the loop, where its store calls can be hooked. */
  readonly beatsInline?: boolean;
  readonly heartbeatMs?: number;
  readonly silentMs?: number;
}

export const HEARTBEAT_MS = 300;
export const SILENT_MS = 1_500;
