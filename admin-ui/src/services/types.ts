/** What the API answers, as far as pages look at it. */
export interface Masked {
  readonly isMasked: true;
  readonly bytes: number;
}

export interface Failure {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly stack?: string | undefined;
  readonly kind?: string | undefined;
  readonly causes?: readonly string[] | undefined;
  readonly isMasked?: true | undefined;
  readonly bytes?: number | undefined;
}

/** Goes after the run that is looked at. */
export interface Follower {
  readonly run: string;
  readonly machine: string;
  readonly status: string;
  readonly on: string;
}

export interface Run {
  readonly id: string;
  readonly machine: string;
  readonly version: number;
  readonly status: string;
  readonly outcome?: string | undefined;
  readonly generation?: number | undefined;
  readonly revision?: string | undefined;
  readonly state?: string | undefined;
  readonly attempt?: number | undefined;
  readonly seq?: number | undefined;
  readonly pod?: string | undefined;
  readonly queue?: string | undefined;
  readonly priority?: number | undefined;
  readonly key?: string | undefined;
  readonly serialKey?: string | undefined;
  readonly follows?: { readonly run: string; readonly on: string } | undefined;
  /** Of one run that is looked at: who goes after it. */
  readonly followers?: readonly Follower[] | undefined;
  /** There are others besides. */
  readonly hasMoreFollowers?: true | undefined;
  readonly retries?: number | undefined;
  readonly crashes?: number | undefined;
  readonly claims?: number | undefined;
  readonly waitsFor?: string | undefined;
  readonly isPaused?: boolean | undefined;
  readonly blocked?: string | undefined;
  readonly control?: string | undefined;
  readonly pinnedTo?: string | undefined;
  readonly createdAt: number;
  readonly startedAt?: number | undefined;
  readonly updatedAt: number;
  readonly dueAt?: number | undefined;
  readonly deadlineAt?: number | undefined;
  readonly finishedAt?: number | undefined;
  readonly discardedAt?: number | undefined;
  readonly reason?: string | undefined;
  readonly error?: Failure | string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly progress?: { readonly fraction: number; readonly note?: string } | undefined;
  readonly source: 'journal' | 'store' | 'archive';
  readonly freshAt: string;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly cursor?: string | undefined;
  readonly lookedBackTo?: number | undefined;
}

export interface RunCount {
  readonly count: number;
  readonly isExact: boolean;
}

export interface Histogram {
  readonly buckets: readonly {
    readonly fromMs: number;
    readonly untilMs: number;
    readonly byStatus: Readonly<Record<string, number>>;
  }[];
  readonly lookedBackTo?: number | undefined;
}

export interface RunRecord {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly state: string;
  readonly hash: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

export interface RecordPage {
  readonly events: readonly RunRecord[];
  readonly hasMore: boolean;
  readonly source: 'journal' | 'archive';
}

export interface RunContext {
  readonly seq: number;
  readonly at: number;
  readonly state: string;
  readonly attempt: number;
  readonly input?: unknown;
  readonly outputs?: unknown;
  readonly work?: unknown;
  readonly ending?: unknown;
  readonly source: 'journal' | 'archive';
}

export interface Finding {
  readonly code: string;
  readonly sentence: string;
  readonly evidence: readonly {
    readonly text: string;
    readonly seq?: number | undefined;
    readonly at?: number | undefined;
  }[];
  readonly hint: { readonly text: string; readonly command: string };
}

export interface Explained {
  readonly id: string;
  readonly at: number;
  readonly findings: readonly Finding[];
}

export interface Machine {
  readonly name: string;
  readonly version: number;
  readonly transitions?: readonly { readonly step: string; readonly phase: string }[] | undefined;
  readonly attemptMax?: Readonly<Record<string, number>> | undefined;
  readonly isHere: boolean;
}

export interface Pod {
  readonly pod: string;
  readonly name: string;
  readonly status: string;
  readonly isLeader?: boolean | undefined;
}

export interface Glimpse {
  readonly status: string;
  readonly revision: string;
  readonly isPaused: boolean;
  readonly runAt: number;
}

export interface Changed {
  readonly kind: 'done' | 'requested' | 'already';
  readonly isDryRun: boolean;
  readonly isRepeated: boolean;
  readonly requestId: string;
  readonly before?: Glimpse | undefined;
  readonly after?: Glimpse | undefined;
  readonly made?: string | undefined;
}

export type Role = 'read' | 'operate' | 'admin';

export interface Who {
  readonly name: string;
  readonly role: Role;
  readonly mayReveal: boolean;
  readonly by: 'socket' | 'loopback' | 'token' | 'session';
  readonly csrf?: string | undefined;
}

export interface ProcessStatus {
  readonly version?: string | undefined;
  readonly serves?: { readonly store: boolean; readonly journal: boolean } | undefined;
}
