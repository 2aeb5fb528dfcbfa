/** What pods write about themselves, and what they see of each other. Ages are by the store's clock. */
import type { Json, RunId } from '../ground/index.ts';
import type { ReportGlimpse, ThrottleGlimpse } from './throttles.ts';
import type { PodId, PodStatus } from './words.ts';

export interface PodBirth {
  readonly pod: PodId;
  /** For people; several pods may share it. */
  readonly name: string;
  readonly journal: string;
  /** How often that journal has been opened. */
  readonly boot: number;
  readonly lsn: number;
  readonly routes: readonly string[];
  /** Capacity, versions, load: for people and for the leader. */
  readonly report: Json;
  /** Names this very life of the process; its heartbeats go on from here. */
  readonly nonce: string;
  /** After this silence it is to be taken for dead, whoever sweeps; undefined: by the sweeper's own. */
  readonly silenceMs?: number | undefined;
}

/** What the store knew of the journal before: one that is behind it has lost records. */
export interface JournalSeen {
  readonly boot: number;
  readonly lsn: number;
  /** Lives of this journal that have not been swept to the end. */
  readonly pods: readonly { readonly pod: PodId; readonly status: PodStatus }[];
}

export interface Beat {
  readonly pod: PodId;
  /** The number of the last beat that is known to have been taken. */
  readonly seq: number;
  /** Names this beat, so that an answer that was lost is told from a clone's beat. */
  readonly nonce: string;
  /**
   * The names of its own of which one stands in the row; any, where nothing is said. A clone may have come
   * to the same number, where a server that took over had lost who was registered.
   */
  readonly since?: readonly string[] | undefined;
  readonly lsn: number;
  readonly report: Json;
  /** It leads, for all it knows: it is told what all pods say of the APIs they call. */
  readonly leads?: boolean | undefined;
  /** Decides how much of the fleet the answer shows; undefined: all of it. */
  readonly times?: BeatTimes | undefined;
}

export interface BeatTimes {
  /** How often this pod beats. */
  readonly heartbeatMs: number;
  /** How long a pod may be silent that has not said so itself. */
  readonly silentMs: number;
}

export interface Control {
  readonly task: RunId;
  readonly generation: number;
  readonly epoch: number;
  readonly control: 'cancel' | 'pause';
  readonly reason: string;
}

export interface PodGlimpse {
  readonly pod: PodId;
  readonly name: string;
  readonly status: PodStatus;
  readonly seq: number;
  /** How long ago its last heartbeat was taken. */
  readonly silentMs: number;
  /** How long it may be silent, by its own word; undefined where it has given none. */
  readonly silenceMs?: number | undefined;
  /** Its last heartbeat said that its journal cannot be written: it takes nothing, and does not lead. */
  readonly isStalled?: boolean | undefined;
  /** Who declared it dead; its own id where it left on purpose. */
  readonly deadBy: string | undefined;
}

/** How a report begins to say why the pod cannot write its journal. Looked for in the text of the report. */
export const STALLED_IN_REPORT = '"stalled":"';

/** The first pod that is up, was heard of lately and can write its journal. `pods`: oldest first. */
export function leaderOf<P extends PodGlimpse>(
  pods: readonly P[],
  silentMs: number,
): P | undefined {
  return pods.find((pod) => mayLead(pod, silentMs));
}

/** `silentMs`: how long a pod may be silent that has not said so itself. */
export function mayLead(pod: PodGlimpse, silentMs: number): boolean {
  return pod.status === 'up' && pod.silentMs < (pod.silenceMs ?? silentMs) && !pod.isStalled;
}

/** What the answer to a heartbeat shows of the fleet; fleet-sight.ts decides how much. */
export interface FleetSight {
  /** Oldest first. Every pod that is not down, or the leader and the lives of the pod's own journal. */
  readonly fleet: readonly PodGlimpse[];
  /** Whether `fleet` is every pod that is not down. */
  readonly seesAll: boolean;
  readonly headcount: Headcount;
}

/** Which pods are up, for a pod that is not shown each of them. */
export interface Headcount {
  /** Pods that are up, silent ones included. */
  readonly up: number;
  /** Those of them that beat within the last `AUDIBLE_BEATS` heartbeats of the pod that asks. */
  readonly heard: number;
  /** Differs where other pods are up. */
  readonly mark: string;
}

/** A pod that has not beaten for longer calls no API any more. */
export const AUDIBLE_BEATS = 5;

export type BeatAnswer =
  | (FleetSight & {
      readonly kind: 'taken';
      readonly seq: number;
      readonly status: 'up' | 'draining';
      readonly desired: 'drain' | 'pause' | undefined;
      /** How many tasks the store believes this pod to hold. */
      readonly claimCount: number;
      /** Asked for again with every beat until the task is settled. */
      readonly controls: readonly Control[];
      /** What is known of APIs, as it was published. */
      readonly throttles: readonly ThrottleGlimpse[];
      /** What pods that are up or draining say of the APIs they call; only for one that leads. */
      readonly reports: readonly ReportGlimpse[] | undefined;
      /** Changes when another server has become the primary. */
      readonly timeline: string;
    })
  | {
      /** The row was not as expected: this pod is dead, or somebody else beats in its name. */
      readonly kind: 'refused';
      readonly status: PodStatus | undefined;
      readonly seq: number | undefined;
      readonly nonce: string | undefined;
    };

/** A pod as `fleetq pods` shows it. */
export interface PodRow extends PodGlimpse {
  readonly journal: string;
  readonly boot: number;
  readonly lsn: number;
  readonly bornAt: number;
  readonly beatAt: number;
  /** `rest`: it is down by its own word, and comes back when there is work. */
  readonly desired: 'drain' | 'pause' | 'rest' | undefined;
  readonly routes: readonly string[];
  readonly report: Json;
  readonly deadAt: number | undefined;
  readonly claimCount: number;
}

/** Why the pod cannot write its journal, by its last heartbeat; undefined where it can. */
export function stallOf({
  isStalled,
  report,
}: Pick<PodRow, 'isStalled' | 'report'>): string | undefined {
  if (!isStalled) return undefined;
  const { stalled } = Object(report) as { stalled?: unknown };
  return typeof stalled === 'string' ? stalled : 'without a reason';
}

/** What a sweep has to look at. */
export interface Worklist {
  /** Up or draining, and silent for longer than they said they might be. */
  readonly silent: readonly PodGlimpse[];
  /** Dead, and not yet down. */
  readonly dead: readonly PodGlimpse[];
  /** Owners of claims that are neither up nor draining nor in `dead`: there should be none. */
  readonly ownerless: readonly PodId[];
  /** How many pods are up or draining, silent ones included. */
  readonly liveCount: number;
}

/** What one call of `prune` did. */
export interface Pruned {
  /** Tasks, and rows of the audit log. */
  readonly removed: number;
  /** A batch was full: there may be more. */
  readonly isMore: boolean;
}
