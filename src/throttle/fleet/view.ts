/** How the APIs that a fleet calls are doing, for people: the fleet's limit, and each pod's part of it. */
import { showDuration } from '../../ground/index.ts';
import { pinnedUnder } from '../ceilings.ts';
import { waitForOne, waitTheirTurn } from '../waiting-words.ts';
import { SHARED_APIS_MAX } from './chief.ts';
import { shareOf } from './shares.ts';
import { decodePublished, decodeReport, type FleetSum, type PublishedRow } from './wire.ts';
import type { Published } from './words.ts';

export interface ThrottleView {
  readonly api: string;
  /** Calls that the fleet may have out at once. */
  readonly cap: number | undefined;
  /** Whether that is found out; else it is what is declared. Not known before it was first called. */
  readonly isAdaptive: boolean | undefined;
  /** What was found to go well, where anything is found out. */
  readonly learned: number | undefined;
  readonly latencyMs: number | undefined;
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** What the leader did to the limit last, where it finds one out. */
  readonly decision: string | undefined;
  readonly pausedMs: number;
  readonly ageMs: number;
  /** What was declared: no more than this, whatever a person fixes. */
  readonly ceiling: number | undefined;
  /** Declared, too: calls a second, and what they may cost a minute. */
  readonly perSecond: number | undefined;
  readonly costPerMinute: number | undefined;
  readonly pinned: number | undefined;
  readonly pinnedBy: string | undefined;
  readonly pinnedUntil: number | undefined;
  /** Of the fleet: now, and over the last ten seconds. */
  readonly now: FleetSum | undefined;
  readonly pods: readonly PodShare[];
  /** Runs that gave their slots up until it has room for them. */
  readonly parked: Parked;
  /** How it is, as a sentence. */
  readonly state: string;
}

/** At least so many, where it is not exact. */
export interface Parked {
  readonly count: number;
  readonly isExact: boolean;
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
  readonly silentMs?: number | undefined;
  readonly silenceMs?: number | undefined;
}

/** It is said again every 30 s, by whoever leads then: what is older tells of nobody who is there. */
const SAID_MS_MAX = 45_000;
/** Of a pod that says nothing of its own. */
const SILENCE_MS = 15_000;
const NONE_PARKED: Parked = { count: 0, isExact: true };

export function throttleViewOf(
  row: Row,
  all: readonly Pod[],
  parked: Parked = NONE_PARKED,
): ThrottleView {
  const published = decodePublished(row, row.ageMs);
  const { api, ageMs, pinned, pinnedBy, pinnedUntil } = row;
  const pods = all.filter(isThere);
  const shares = published ? pods.flatMap((pod) => shareIn(pod, api, published) ?? []) : [];
  const isTold = shares.length > 0 && ageMs <= SAID_MS_MAX;
  const parts = {
    api,
    cap: published && (pinnedUnder(pinned, published.ceiling) ?? published.learned.cap),
    isAdaptive: published?.isAdaptive,
    ceiling: published?.ceiling,
    perSecond: published?.perSecondMax,
    costPerMinute: published?.costPerMinuteMax,
    learned: published?.learned.good,
    latencyMs: published?.learned.latencyMs,
    breaker: published?.breaker ?? 'closed',
    decision: published?.isAdaptive ? published.decision : undefined,
    pausedMs: Math.max(0, (published?.pausedMs ?? 0) - ageMs),
    ageMs,
    pinned,
    pinnedBy,
    pinnedUntil,
    now: isTold ? published?.sum : undefined,
    pods: shares,
    parked,
  } as const;
  return { ...parts, state: `${stateOf(parts, pods.some(isFull))}${parkedText(parked)}` };
}

/** One that died last of all is up for ever, by its row. */
function isThere({ status, silentMs = 0, silenceMs = SILENCE_MS }: Pod): boolean {
  return (status === 'up' || status === 'draining') && silentMs < silenceMs;
}

/** It calls more APIs than pods tell each other of, maybe. */
function isFull({ report }: Pod): boolean {
  return Object.keys(Object(Object(report).throttles)).length >= SHARED_APIS_MAX;
}

function parkedText({ count, isExact }: Parked): string {
  if (count === 0) return '';
  const many = `${isExact ? '' : 'at least '}${count.toLocaleString('en')}`;
  return `, and ${many} ${count === 1 ? 'run is' : 'runs are'} parked for it`;
}

function shareIn(
  { pod, name, report }: Pod,
  api: string,
  { division, learned }: Published,
): PodShare | undefined {
  const told = Object(Object(report).throttles)[api] as unknown;
  const sent = decodeReport(told);
  if (!sent) return undefined;
  const { demand, inFlight, waiting } = sent;
  // Less than one permit is had by one pod, and used as seldom as that.
  const share = shareOf(division, { key: pod, demand }) * Math.min(1, learned.cap);
  return { pod, name, share, inFlight, waiting };
}

/** What matters most comes first: one sentence. */
function stateOf(of: Omit<ThrottleView, 'state'>, areManyCalled: boolean): string {
  const { cap, now, pods, pinnedBy } = of;
  if (cap === undefined) return 'nothing is known of it yet';
  const isCut = of.ceiling !== undefined && (of.pinned ?? 0) > of.ceiling;
  const fixed = isCut ? `${of.pinned}, but ${of.ceiling} are declared at most` : 'it';
  const pin = pinnedBy === undefined ? '' : `, as ${pinnedBy} has fixed ${fixed}`;
  const many = pods.length === 1 ? '1 pod' : `${pods.length} pods`;
  const most = Math.max(1, Math.floor(cap));
  const isAll = (now?.inFlight ?? 0) >= most;
  // What was out was out in pods that are gone.
  if (pods.length === 0) {
    return areManyCalled
      ? `pods tell of ${SHARED_APIS_MAX} APIs, and not of this one, whether they call it or not${pin}`
      : `no pod is there that calls it${pin}`;
  }
  if (!now) return `nothing was said of it for ${showDuration(of.ageMs)}`;
  const out = `${now.inFlight} of ${most} permits are out in ${many}${pin}`;
  if (of.breaker === 'open') return 'left alone: most calls failed; one pod will find out';
  if (of.breaker === 'half-open') return 'one pod finds out whether it is well again';
  if (of.pausedMs > 0) return `paused for ${showDuration(of.pausedMs)}, as the API asked`;
  if (now.throttled > 0) {
    return `${out}; the API refused ${now.throttled} of ${now.sent} calls in 10 s`;
  }
  // Permits are left: a rate that was declared, or their pod's share, is what they wait for.
  if (now.waiting > 0)
    return `${out}, ${isAll ? waitForOne(now.waiting) : waitTheirTurn(now.waiting)}`;
  return now.inFlight > 0 ? out : 'nothing is being called';
}
