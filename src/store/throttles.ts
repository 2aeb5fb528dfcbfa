/** What the fleet has found out about APIs, and how pods share them. The store reads none of it. */

/** One API as pods see it in the answer to a heartbeat. */
export interface ThrottleGlimpse {
  readonly api: string;
  /** Rises with every change, whoever makes it. */
  readonly epoch: number;
  /** How long ago it was written. */
  readonly ageMs: number;
  /** What the leader has published; undefined where nobody has, or it was forgotten. */
  readonly state: string | undefined;
  /** So many permits, by the word of a person; undefined where that has run out, too. */
  readonly pinned: number | undefined;
}

/** The same for people. */
export interface ThrottleRow extends ThrottleGlimpse {
  readonly pinnedBy: string | undefined;
  readonly pinnedUntil: number | undefined;
}

/** Written only where the row has `epoch`, 0 where there is none. */
export interface ThrottleWord {
  readonly api: string;
  readonly epoch: number;
  readonly state: string;
}

/** What a person decides. */
export type ThrottleOrder =
  | {
      readonly what: 'pin';
      readonly api: string;
      readonly cap: number;
      readonly who: string;
      /** For so long; without it until somebody lets go of it. */
      readonly forMs?: number | undefined;
    }
  /** Lets go of a pin. */
  | { readonly what: 'unpin'; readonly api: string }
  /** Forgets what was found out. */
  | { readonly what: 'reset'; readonly api: string };

/** What a pod has told of all APIs, as it stands in its row: for whoever leads. */
export interface ReportGlimpse {
  readonly pod: string;
  readonly ageMs: number;
  readonly seq: number;
  readonly throttles: unknown;
}

/** APIs that heartbeats tell of, those first that were published last. */
export const THROTTLES_TOLD_MAX = 100;

/** Of a report, what it says of APIs; nothing where it cannot be read. */
export function throttlesIn(report: string): unknown {
  try {
    const { throttles } = JSON.parse(report) as { throttles?: unknown };
    return throttles;
  } catch {
    return undefined;
  }
}
