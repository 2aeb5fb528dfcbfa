/** What the fleet has found out about APIs, and how pods share them. The store reads none of it. */
import type { Note } from './acts.ts';
import { refuseLongNote } from './audit.ts';
import { StoreRefusedError } from './errors.ts';

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
      /** For so long; without it until somebody lets go of it. */
      readonly forMs?: number | undefined;
    }
  /** Lets go of a pin. */
  | { readonly what: 'unpin'; readonly api: string }
  /** Forgets what was found out. */
  | { readonly what: 'reset'; readonly api: string };

export interface ThrottleChange {
  readonly requestId: string;
  readonly who: string;
  readonly via: string;
  readonly order: ThrottleOrder;
  /** For whoever reads the audit log. */
  readonly reason?: string | undefined;
  readonly isDryRun?: boolean | undefined;
}

/** `already`: it was so before. `isRepeated`: this request was here before, and changed nothing now. */
export interface ThrottleAnswer {
  readonly kind: 'done' | 'already';
  readonly isRepeated: boolean;
}

export const API_CHARS_MAX = 200;
export const PIN_MAX = 1_000_000;

/** Its row in the audit log, where it makes sense; throws where it does not. */
export function noteOfThrottle({ requestId, who, via, order, reason }: ThrottleChange): Note {
  const { what, ...rest } = order;
  const { api } = order;
  if (api === '' || api.length > API_CHARS_MAX || api.includes('\0')) {
    const wanted = `a text of 1 to ${API_CHARS_MAX} characters without NUL`;
    throw new StoreRefusedError(`the name of an API is ${wanted}`, {
      hint: 'list those that are called: fleetq throttles list',
    });
  }
  if (what === 'pin' && !(order.cap > 0 && order.cap <= PIN_MAX)) {
    throw new StoreRefusedError(
      `the limit of an API is a number above 0 and up to ${PIN_MAX}, got ${order.cap}`,
      { hint: 'to let go of one, unpin it' },
    );
  }
  const detail = { ...rest, ...(reason === undefined ? {} : { reason }), via };
  return refuseLongNote({ requestId, who, what: `throttle.${what}`, detail });
}

/** Of an API as it is: whether the order changes anything. */
export function changesThrottle(
  order: ThrottleOrder,
  row: { readonly isPinned: boolean; readonly isKnown: boolean } | undefined,
): boolean {
  if (order.what === 'pin') return true;
  return order.what === 'unpin' ? row?.isPinned === true : row?.isKnown === true;
}

/** What a pod has told of all APIs, as it stands in its row: for whoever leads. */
export interface ReportGlimpse {
  readonly pod: string;
  readonly ageMs: number;
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
