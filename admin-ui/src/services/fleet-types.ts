/** What the API answers of the fleet as a whole, as far as pages look at it. */
import type { Machine, Pod, Run } from './types.ts';

/** What a pod says of itself; one of another version may say less. */
export interface PodReport {
  readonly version?: string | undefined;
  readonly slots?: number | undefined;
  readonly busy?: number | undefined;
  readonly queued?: number | undefined;
  readonly held?: number | undefined;
  readonly capacity?: number | undefined;
  readonly unflushed?: number | undefined;
  readonly loop?: number | undefined;
  readonly memory?: number | undefined;
  /** Why the pod cannot write its journal. */
  readonly stalled?: string | undefined;
  /** By the leader: how late ended tasks are removed. */
  readonly retentionLateMs?: number | undefined;
}

export interface PodRow extends Pod {
  readonly isLeader: boolean;
  readonly isSilent: boolean;
  readonly silentMs: number;
  readonly silenceMs?: number | undefined;
  readonly deadBy?: string | undefined;
  readonly deadAt?: number | undefined;
  readonly bornAt: number;
  readonly beatAt: number;
  readonly boot: number;
  readonly lsn: number;
  readonly desired?: string | undefined;
  readonly routes: readonly string[];
  readonly report: PodReport | null;
  readonly claimCount: number;
}

export interface Leading {
  readonly leader: PodRow | null;
  readonly terms: readonly {
    readonly pod: string;
    readonly name: string;
    readonly since: number;
  }[];
}

export interface Rescue {
  readonly pod: string;
  readonly why: string;
  readonly requeued: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly waitingForHost: number;
  readonly tasks: readonly string[];
  readonly error?: string | undefined;
}

export interface Sweep extends Run {
  readonly rescues?: readonly Rescue[] | undefined;
}

export interface SweepPage {
  readonly sweeps: readonly Sweep[];
  readonly cursor?: string | undefined;
}

export interface RouteCensus {
  readonly route: string;
  readonly machine: string;
  readonly isLive: boolean;
  readonly pending: number;
  readonly waits: Readonly<Record<string, number>>;
  readonly suspect: number;
  readonly oldestMs?: number | undefined;
}

export interface Census {
  readonly at: number;
  readonly routes: readonly RouteCensus[];
  readonly claimed: readonly { readonly machine: string; readonly count: number }[];
  readonly deadLetters: readonly { readonly machine: string; readonly count: number }[];
  readonly orphans: number;
  readonly orphansOldestMs?: number | undefined;
}

export interface TimedRun extends Run {
  readonly phases: readonly {
    readonly phase: string;
    readonly ms: number;
    readonly tries: number;
    readonly failures: number;
  }[];
}

export interface TimedRuns {
  readonly runs: readonly TimedRun[];
  readonly lookedBackTo?: number | undefined;
}

export interface ErrorGroup {
  readonly fingerprint: string;
  readonly machine: string;
  readonly name: string;
  readonly message: string;
  readonly count: number;
  readonly lastAt: number;
}

/** One version of a machine with what the fleet has of it. */
export interface MachineRow extends Machine {
  readonly input?: unknown;
  readonly pods?: number | undefined;
  readonly pending?: number | undefined;
  readonly waiting?: number | undefined;
  readonly claimed?: number | undefined;
  readonly blocked?: number | undefined;
  readonly why?: string | undefined;
  readonly firstSeenAt?: number | undefined;
}

/** What a pod has of an API. */
export interface ThrottleShare {
  readonly pod: string;
  readonly name: string;
  readonly share: number;
  readonly inFlight: number;
  readonly waiting: number;
}

/** An API that the fleet calls. */
export interface Throttle {
  readonly api: string;
  readonly state: string;
  readonly cap?: number | undefined;
  /** Whether the limit is found out; else it is what is declared. */
  readonly isAdaptive?: boolean | undefined;
  readonly learned?: number | undefined;
  readonly latencyMs?: number | undefined;
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly decision?: string | undefined;
  readonly pausedMs: number;
  readonly ageMs: number;
  /** What was declared: no more, whatever is fixed. */
  readonly ceiling?: number | undefined;
  readonly perSecond?: number | undefined;
  readonly costPerMinute?: number | undefined;
  readonly pinned?: number | undefined;
  readonly pinnedBy?: string | undefined;
  readonly pinnedUntil?: number | undefined;
  readonly now?:
    | {
        readonly demand: number;
        readonly inFlight: number;
        readonly waiting: number;
        readonly sent: number;
        readonly ok: number;
        readonly throttled: number;
        readonly failed: number;
      }
    | undefined;
  readonly pods: readonly ThrottleShare[];
  /** Runs that gave their slots up until it has room for them; at least so many, if not exact. */
  readonly parked?: { readonly count: number; readonly isExact: boolean } | undefined;
}

export interface ThrottlePage {
  readonly throttles: readonly Throttle[];
  readonly cursor?: string | undefined;
}

/** A queue that has open tasks, a limit, or is paused. */
export interface Queue {
  readonly queue: string;
  readonly pending: number;
  readonly waiting: number;
  readonly claimed: number;
  readonly dueAt?: number | undefined;
  readonly limit?: number | undefined;
  readonly isPaused: boolean;
  readonly pausedBy?: string | undefined;
  readonly pausedAt?: number | undefined;
}

export interface PausedMachine {
  readonly machine: string;
  readonly pausedBy?: string | undefined;
  readonly pausedAt: number;
}

export interface Queues {
  readonly queues: readonly Queue[];
  readonly pausedMachines: readonly PausedMachine[];
}

/** What runs again and again. */
export interface Schedule {
  readonly name: string;
  readonly status: 'active' | 'paused' | 'removed';
  readonly machine: string;
  readonly cron: string;
  readonly zone: string;
  readonly input: unknown;
  readonly tickAs?: string | undefined;
  readonly missed: string;
  /** `skip`: a tick is left out while the run before has not ended. */
  readonly overlap: string;
  readonly jitterMs: number;
  readonly queue: string;
  readonly priority: number;
  readonly source: string;
  readonly revision: number;
  readonly ticks: number;
  /** Ticks that were left out, since the run before had not ended. */
  readonly skipped: number;
  /** The ticks to come; the first may be past. */
  readonly next: readonly number[];
  readonly lastAt?: number | undefined;
  readonly lastRun?: string | undefined;
  readonly lastRunAt?: number | undefined;
  readonly trouble?: string | undefined;
  readonly isUnmanned: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[];
  readonly cursor?: string | undefined;
}
