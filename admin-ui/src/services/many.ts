/** What the API answers about many runs at once: failures in groups, operations, what people did. */
export interface ErrorGroup {
  readonly fingerprint: string;
  readonly machine: string;
  readonly outcome: string;
  readonly name: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The newest of them. */
  readonly example: string;
}

export interface ErrorGroups {
  readonly groups: readonly ErrorGroup[];
  readonly lookedBackTo?: number | undefined;
}

export const BULK_STATUSES = [
  ...(['running', 'pausing', 'paused'] as const),
  ...(['cancelling', 'cancelled', 'completed'] as const),
];
export type BulkStatus = (typeof BULK_STATUSES)[number];

export interface Bulk {
  readonly id: string;
  readonly what: string;
  readonly deed: {
    readonly reason?: string | undefined;
    readonly isFresh?: boolean | undefined;
    readonly due?: { readonly at?: number; readonly afterMs?: number } | undefined;
  };
  readonly filter: string;
  readonly status: BulkStatus;
  /** It is to go on, and its run has ended without it. */
  readonly isStalled: boolean;
  readonly rate: number;
  readonly limit?: number | undefined;
  readonly who: string;
  readonly via: string;
  readonly found: number;
  readonly done: number;
  readonly requested: number;
  readonly already: number;
  readonly refused: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly samples: readonly {
    readonly task: string;
    readonly why: string;
    readonly detail: string;
  }[];
  readonly expected?: number | undefined;
  readonly fraction?: number | undefined;
  readonly leftMs?: number | undefined;
  readonly shift: {
    readonly run: string;
    readonly count: number;
    readonly status?: string | undefined;
    readonly pod?: string | undefined;
  };
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt?: number | undefined;
}

export interface BulkPage {
  readonly bulks: readonly Bulk[];
  readonly cursor?: string | undefined;
}

/** What an operation would do. */
export interface BulkTried {
  readonly count: number;
  readonly isExact: boolean;
  readonly sample: readonly {
    readonly task: string;
    readonly machine: string;
    readonly status: string;
    readonly answer: string;
    readonly becomes?: string | undefined;
    readonly why?: string | undefined;
  }[];
}

export interface BulkOrdered {
  readonly kind: 'done' | 'requested' | 'already';
  readonly bulk: Bulk;
}

export interface AuditRow {
  readonly requestId: string;
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly task?: string | undefined;
  readonly detail?: unknown;
}

export interface AuditPage {
  readonly rows: readonly AuditRow[];
  readonly cursor?: string | undefined;
}
