/**
 * What pods tell each other through the store, as small as it can be. No clock of one host means anything on
 * another: times go as ages, and seconds as numbers that only their sender counts by. What comes from there
 * may have been written by another version, or by hand: what cannot be read is nothing.
 */
import type { Json } from '../../ground/index.ts';
import { RETRY_AFTER_MS_MAX } from '../answers/rate-headers.ts';
import { type Bad, type Learned, latencyOf, remembered } from '../estimate/learned.ts';
import type { LatencyCounts } from '../record/latencies.ts';
import type { Second } from '../record/seconds.ts';
import { decodeCounted, encodeCounted } from './counted.ts';
import { decodeDivision, decodeRecent, encodeDivision } from './division-wire.ts';
import { Numbers } from './numbers.ts';
import type { PodReport, Published } from './words.ts';

const SECONDS_MAX = 32;
const LATE_MAX = 32;
const BUCKETS_MAX = 300;
const BEAT_MS_MAX = 3_600_000;
/** A division that is older says nothing of who is there now; what was learned is still a beginning. */
const DIVISION_MS_MAX = 60_000;
const LEARNED_MS_WHOLE = 3_600_000;
const LEARNED_HALF_LIFE_MS = 6 * 3_600_000;

export function encodeReport(report: PodReport): Json {
  const until = Math.floor(report.atMs / 1_000);
  const { inFlight, waiting, demand, beatMs, perSecondHint, pausedMs, late } = report;
  return {
    k: report.mark,
    b: beatMs,
    u: until,
    s: report.seconds.map((second) => [
      until - second.at,
      second.sent,
      second.throttled,
      second.timedOut,
      second.failed,
      second.ok,
      Math.round(second.latencyMsSum),
    ]),
    ...(late?.length ? { e: late.map((second) => encodeLate(second, until)) } : {}),
    l: report.latencies.map(([bucket, count]) => [bucket, count]),
    t: Math.round(report.latencyMsSum),
    a: report.answers,
    ...(report.others ? { x: report.others } : {}),
    f: inFlight,
    w: waiting,
    d: demand,
    ...(report.parts === undefined ? {} : { r: report.parts }),
    ...(perSecondHint === undefined ? {} : { h: perSecondHint }),
    ...(report.isHintMost ? { y: 1 } : {}),
    ...(pausedMs ? { p: Math.round(pausedMs) } : {}),
    ...(report.isOpen ? { o: 1 } : {}),
    ...(report.ceiling === undefined ? {} : { m: report.ceiling }),
    ...(report.perSecondMax === undefined ? {} : { v: report.perSecondMax }),
    ...(report.costPerMinuteMax === undefined ? {} : { z: report.costPerMinuteMax }),
    ...(report.wantsWord ? { n: 1 } : {}),
    ...(report.isAdaptive ? { g: 1 } : {}),
  };
}

function encodeLate({ at, throttled, timedOut, failed, ok }: Second, until: number): number[] {
  return [until - at, throttled, timedOut, failed, ok];
}

/** The second up to which the sender of a report has counted, by its own clock. */
export function toldUntil(json: unknown): number | undefined {
  return new Numbers(json).maybe('u');
}

/**
 * Taken at `atMs`, when it was the second `until` here. Whoever leads reads one of each pod and API with each
 * heartbeat: nothing is made here that is not kept.
 */
export function decodeReport(
  json: unknown,
  atMs = 0,
  until = toldUntil(json),
): PodReport | undefined {
  const read = new Numbers(json);
  const rows = read.rows('s', 7, SECONDS_MAX);
  // Versions that do not know of it tell nothing.
  const late = read.has('e') ? read.rows('e', 5, LATE_MAX) : undefined;
  const report = {
    atMs,
    mark: read.of('k'),
    beatMs: read.of('b'),
    seconds: [] as Second[],
    late: undefined as Second[] | undefined,
    latencies: read.rows('l', 2, BUCKETS_MAX) as unknown as LatencyCounts,
    latencyMsSum: read.of('t'),
    answers: read.of('a'),
    others: read.maybe('x'),
    inFlight: read.of('f'),
    waiting: read.of('w'),
    demand: read.of('d'),
    parts: read.maybe('r'),
    perSecondHint: read.maybe('h'),
    isHintMost: read.maybe('y') === 1,
    pausedMs: pausedIn(read, 'p'),
    isOpen: read.maybe('o') === 1,
    ceiling: read.maybe('m'),
    // Of nothing nobody could ever call.
    perSecondMax: read.maybe('v') || undefined,
    costPerMinuteMax: read.maybe('z') || undefined,
    wantsWord: read.maybe('n') === 1,
    isAdaptive: read.maybe('g') === 1,
  };
  if (until === undefined || !read.isWhole || report.beatMs > BEAT_MS_MAX) return undefined;
  if (!areBuckets(report.latencies)) return undefined;
  for (const row of rows) report.seconds.push(secondOf(row, until));
  report.late = late?.map((row) => lateOf(row, until));
  return report;
}

/** No API is left alone for longer than what one may ask for. */
function pausedIn(read: Numbers, key: string): number | undefined {
  const ms = read.maybe(key);
  return ms === undefined ? undefined : Math.min(ms, RETRY_AFTER_MS_MAX);
}

function areBuckets(latencies: LatencyCounts): boolean {
  for (const row of latencies) if (row[0] >= 288 || row[0] % 1 !== 0) return false;
  return true;
}

/** By index: taken apart by an iterator, a row takes several times as long. */
function secondOf(row: readonly number[], until: number): Second {
  return {
    at: until - row[0]!,
    sent: row[1]!,
    throttled: row[2]!,
    timedOut: row[3]!,
    failed: row[4]!,
    ok: row[5]!,
    latencyMsSum: row[6]!,
  };
}

function lateOf(row: readonly number[], until: number): Second {
  const [throttled, timedOut, failed, ok] = [row[1]!, row[2]!, row[3]!, row[4]!];
  return { at: until - row[0]!, sent: 0, throttled, timedOut, failed, ok, latencyMsSum: 0 };
}

/** What people are shown of the whole fleet, beside what pods go by. */
export interface FleetSum {
  readonly demand: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly sent: number;
  readonly ok: number;
  readonly throttled: number;
  readonly failed: number;
}

export function encodePublished(published: Published, sum: FleetSum): string {
  const { madeMs, growsAtMs, ratesGrowAtMs = growsAtMs, division, learned } = published;
  const { bad, fellFrom, changedMs } = learned;
  const { breaker, decision, podCount, pausedMs } = published;
  return JSON.stringify({
    g: Math.round(growsAtMs - madeMs),
    ...(ratesGrowAtMs === growsAtMs ? {} : { rg: Math.round(ratesGrowAtMs - madeMs) }),
    c: encodeCounted(published.counted),
    ...encodeDivision(division),
    before: published.recent.map(encodeDivision),
    breaker,
    decision,
    pods: podCount,
    ...(pausedMs > 0 ? { paused: Math.round(pausedMs) } : {}),
    // Never up: its whole permits are what was divided.
    cap: Math.floor(learned.cap * 1_000 + 1e-6) / 1_000,
    ...(published.found === undefined ? {} : { found: rounded(published.found) }),
    // What is undefined is left out.
    ceiling: published.ceiling,
    perSecond: published.perSecondMax,
    perMinute: published.costPerMinuteMax,
    told: published.toldPerSecond,
    ...(published.isAdaptive ? { adaptive: 1 } : {}),
    ...(published.isIdle ? { idle: 1 } : {}),
    ...(learned.good === undefined ? {} : { good: rounded(learned.good) }),
    ...(learned.latencyMs === undefined ? {} : { latency: rounded(learned.latencyMs) }),
    ...(learned.baseMs === undefined ? {} : { base: rounded(learned.baseMs) }),
    ...(bad ? { bad: encodeBad(bad, madeMs) } : {}),
    ...(fellFrom ? { fell: encodeBad(fellFrom, madeMs) } : {}),
    ...(changedMs === undefined ? {} : { changed: Math.round(madeMs - changedMs) }),
    sum,
  });
}

function encodeBad({ cap, atMs }: Bad, madeMs: number): number[] {
  return [rounded(cap), Math.round(madeMs - atMs)];
}

/** As it stands in the row. */
export interface PublishedRow {
  readonly api: string;
  readonly epoch: number;
  /** How long ago it was written, by the store's clock. */
  readonly ageMs: number;
  readonly state: string | undefined;
  /** What a person has fixed it to. */
  readonly pinned?: number | undefined;
}

/** What was published, in the times of whoever reads it at `nowMs`; and what people are shown of it. */
export function decodePublished(
  row: PublishedRow,
  nowMs: number,
): (Published & { readonly sum: FleetSum | undefined }) | undefined {
  const json = parsed(row.state);
  const read = new Numbers(json);
  const madeMs = nowMs - row.ageMs;
  const words = json as Record<string, unknown> | undefined;
  const badAt = (key: string): Bad | undefined => {
    const [told] = Array.isArray(words?.[key]) ? read.rows(key, 2, 1, true) : [];
    return told && { cap: told[0]!, atMs: madeMs - told[1]! };
  };
  const changed = read.maybe('changed');
  const isAdaptive = read.maybe('adaptive') === 1;
  const found: Learned = {
    cap: read.of('cap'),
    good: read.maybe('good'),
    latencyMs: read.maybe('latency'),
    // Versions that do not know of it tell nothing, and no call takes no time.
    baseMs: read.maybe('base') || undefined,
    bad: badAt('bad'),
    fellFrom: badAt('fell'),
    changedMs: changed === undefined ? undefined : madeMs - changed,
  };
  // Where nothing is found out, what once was bounds nothing: neither pods nor people go by it.
  const learned = isAdaptive ? found : latencyOf(found);
  const division = decodeDivision(read);
  const published = {
    epoch: row.epoch,
    madeMs,
    counted: decodeCounted(words?.['c']),
    growsAtMs: madeMs + read.of('g'),
    ratesGrowAtMs: madeMs + (read.maybe('rg') ?? read.of('g')),
    division,
    recent: decodeRecent(words?.['before']),
    breaker: breakerOf(words?.['breaker']),
    learned,
    decision: (words?.['decision'] ?? 'hold') as Published['decision'],
    podCount: read.of('pods'),
    pausedMs: pausedIn(read, 'paused') ?? 0,
    ceiling: read.maybe('ceiling'),
    perSecondMax: read.maybe('perSecond') || undefined,
    costPerMinuteMax: read.maybe('perMinute') || undefined,
    toldPerSecond: read.maybe('told') || undefined,
    isAdaptive,
    isIdle: read.maybe('idle') === 1,
    found: read.maybe('found'),
    sum: sumOf(words?.['sum']),
  };
  // Nobody is given more than there is: a row that says so was not written by a leader.
  const isWithin = division.level + division.spare <= Math.max(1, learned.cap) + 0.001;
  return read.isWhole && isWithin ? published : undefined;
}

/** What another leader goes on from: all of it where it is fresh, else what was learned, less surely. */
export function formerOf(row: PublishedRow, nowMs: number, start: number): Published | undefined {
  const published = decodePublished(row, nowMs);
  if (!published) return undefined;
  if (row.ageMs < DIVISION_MS_MAX) {
    const { isAdaptive, learned, found = learned.cap } = published;
    return { ...published, learned: { ...learned, cap: isAdaptive ? found : start } };
  }
  const known = remembered(published.learned);
  if (!known) return undefined;
  const staleMs = Math.max(0, row.ageMs - LEARNED_MS_WHOLE);
  const trust = 2 ** (-staleMs / LEARNED_HALF_LIFE_MS);
  const cap = known.cap * trust + Math.min(start, known.cap) * (1 - trust);
  const division = { level: 0, spare: 0, isPlenty: false, arc: undefined };
  // How the API was by then says nothing of how it is.
  return { ...published, breaker: 'closed', division, recent: [], learned: { ...known, cap } };
}

function sumOf(json: unknown): FleetSum | undefined {
  const read = new Numbers(json);
  const keys = ['demand', 'inFlight', 'waiting', 'sent', 'ok', 'throttled', 'failed'] as const;
  const sum = Object.fromEntries(keys.map((key) => [key, read.of(key)])) as unknown as FleetSum;
  return read.isWhole ? sum : undefined;
}

function breakerOf(word: unknown): Published['breaker'] {
  return word === 'open' || word === 'half-open' ? word : 'closed';
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
