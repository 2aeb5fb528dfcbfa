/** How the APIs that a fleet calls are doing, for people: the fleet's limit, and each pod's part of it. */
import { showDuration } from '../../ground/index.ts';
import { shareOf } from './shares.ts';
import {
  decodePublished,
  decodeReport,
  type FleetSum,
  type PublishedRow,
  pinnedUnder,
} from './wire.ts';
import type { Published } from './words.ts';

export interface ThrottleView {
  readonly api: string;
  /** Calls that the fleet may have out at once. */
  readonly cap: number | undefined;
  /** What was found to go well. */
  readonly learned: number | undefined;
  readonly latencyMs: number | undefined;
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** What whoever leads did last. */
  readonly decision: string | undefined;
  readonly pausedMs: number;
  readonly ageMs: number;
  /** What was declared: no more than this, whatever a person fixes. */
  readonly ceiling: number | undefined;
  readonly pinned: number | undefined;
  readonly pinnedBy: string | undefined;
  readonly pinnedUntil: number | undefined;
  /** Of the fleet: now, and over the last ten seconds. */
  readonly now: FleetSum | undefined;
  readonly pods: readonly PodShare[];
  /** How it is, as a sentence. */
  readonly state: string;
}

export interface PodShare {
  readonly pod: string;
  readonly name: string;
  readonly share: number;
  readonly inFlight: number;
  readonly waiting: number;
}

interface Row extends PublishedRow {
  readonly pinnedBy: string | undefined;
  readonly pinnedUntil: number | undefined;
}

interface Pod {
  readonly pod: string;
  readonly name: string;
  readonly status: string;
  readonly report: unknown;
}

export function throttleViewOf(row: Row, pods: readonly Pod[]): ThrottleView {
  const published = decodePublished(row, row.ageMs);
  const { api, ageMs, pinned, pinnedBy, pinnedUntil } = row;
  const shares = published ? pods.flatMap((pod) => shareIn(pod, api, published) ?? []) : [];
  const parts = {
    api,
    cap: published && (pinnedUnder(pinned, published.ceiling) ?? published.learned.cap),
    ceiling: published?.ceiling,
    learned: published?.learned.good,
    latencyMs: published?.learned.latencyMs,
    breaker: published?.breaker ?? 'closed',
    decision: published?.decision,
    pausedMs: Math.max(0, (published?.pausedMs ?? 0) - ageMs),
    ageMs,
    pinned,
    pinnedBy,
    pinnedUntil,
    now: published?.sum,
    pods: shares,
  } as const;
  return { ...parts, state: stateOf(parts) };
}

function shareIn(
  { pod, name, status, report }: Pod,
  api: string,
  { division, learned }: Published,
): PodShare | undefined {
  if (status !== 'up' && status !== 'draining') return undefined;
  const told = Object(Object(report).throttles)[api] as unknown;
  const sent = decodeReport(told);
  if (!sent) return undefined;
  const { demand, inFlight, waiting } = sent;
  // Less than one permit is had by one pod, and used as seldom as that.
  const share = shareOf(division, { key: pod, demand }) * Math.min(1, learned.cap);
  return { pod, name, share, inFlight, waiting };
}

/** What matters most comes first: one sentence. */
function stateOf(of: Omit<ThrottleView, 'state'>): string {
  const { cap, now, pods, pinnedBy } = of;
  if (cap === undefined || !now) return 'nothing is known of it yet';
  const isCut = of.ceiling !== undefined && (of.pinned ?? 0) > of.ceiling;
  const fixed = isCut ? `${of.pinned}, but ${of.ceiling} are declared at most` : 'it';
  const pin = pinnedBy === undefined ? '' : `, as ${pinnedBy} has fixed ${fixed}`;
  const many = pods.length === 1 ? '1 pod' : `${pods.length} pods`;
  const most = Math.max(1, Math.floor(cap));
  // What was out was out in pods that are gone.
  const isLeft = pods.length === 0;
  const where = isLeft
    ? 'no pod is there that calls it'
    : `${now.inFlight} of ${most} permits are out in ${many}`;
  const out = `${where}${pin}`;
  if (of.breaker === 'open') return 'left alone: most calls failed; one pod will find out';
  if (of.breaker === 'half-open') return 'one pod finds out whether it is well again';
  if (of.pausedMs > 0) return `paused for ${showDuration(of.pausedMs)}, as the API asked`;
  if (now.throttled > 0) {
    return `${out}; the API refused ${now.throttled} of ${now.sent} calls in 10 s`;
  }
  if (isLeft) return out;
  if (now.waiting > 0) return `${out}, ${now.waiting} wait for one`;
  return now.inFlight > 0 ? out : 'nothing is being called';
}
