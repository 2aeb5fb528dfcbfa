/**
 * The pods that call one API, as whoever leads has heard them. One entry stands for each from look to look:
 * whoever leads hundreds of pods makes nothing anew with each heartbeat that was there before.
 */
import { blank, type Second } from '../record/seconds.ts';
import { hashOf, tokenOf } from './counted.ts';
import type { Asking } from './shares.ts';
import { LEASE_BEATS, type PodReport } from './words.ts';

export class Member implements Asking {
  readonly key: string;
  readonly #hash: number;
  report: PodReport;
  out = 0;
  /** What it has by the last division. */
  share = 0;
  /** And of declared rates. */
  portion = 0;
  /** The report, the share and the portion of the look before, if it was counted there. */
  formerMark: number | undefined;
  formerShare = 0;
  formerPortion = 0;
  #countedAt = Number.NaN;

  constructor(key: string, report: PodReport) {
    this.key = key;
    this.#hash = hashOf(key);
    this.report = report;
  }

  get demand(): number {
    return this.report.demand;
  }

  get parts(): number | undefined {
    return this.report.parts;
  }

  get token(): number {
    return tokenOf(this.#hash, this.report.mark);
  }

  /** Whether nothing new came of it since the last look. */
  get isOld(): boolean {
    return this.formerMark === this.report.mark;
  }

  hear(report: PodReport, look: number): void {
    const wasCounted = this.#countedAt === look - 1;
    this.formerMark = wasCounted ? this.report.mark : undefined;
    this.formerShare = wasCounted ? this.share : 0;
    this.formerPortion = wasCounted ? this.portion : 0;
    this.report = report;
  }

  count(look: number): void {
    this.#countedAt = look;
  }
}

export class Crowd {
  readonly #members = new Map<string, Member>();
  #look = 0;
  /** Those that were heard lately. */
  live: readonly Member[] = [];
  /** All of whom it is not known that they are gone. */
  size = 0;

  get lateCount(): number {
    return this.size - this.live.length;
  }

  /** `deafMs`: for so long nobody could be heard, and nobody is taken for gone by that. */
  hear(told: ReadonlyMap<string, PodReport>, nowMs: number, deafMs: number): void {
    const look = ++this.#look;
    const all = [...this.#gone(told, nowMs)];
    for (const member of all) member.hear(member.report, look);
    for (const [key, report] of told) {
      const member = this.#members.get(key) ?? this.#join(key, report);
      member.hear(report, look);
      all.push(member);
    }
    this.size = all.length;
    this.live = all.filter(({ report }) => isHeard(report, nowMs - deafMs));
    for (const member of this.live) member.count(look);
  }

  /** Whoever is off the table may not know it yet, and goes by what it has until its lease is over. */
  *#gone(told: ReadonlyMap<string, PodReport>, nowMs: number): Iterable<Member> {
    for (const member of this.#members.values()) {
      if (told.has(member.key)) continue;
      if (isHeard(member.report, nowMs)) yield member;
      else this.#members.delete(member.key);
    }
  }

  #join(key: string, report: PodReport): Member {
    const member = new Member(key, report);
    this.#members.set(key, member);
    return member;
  }
}

function isHeard({ atMs, beatMs }: PodReport, nowMs: number): boolean {
  return nowMs - atMs < LEASE_BEATS * beatMs;
}

/** Of those that call, most have each found the API to be ill. */
export function areMostOpen(live: readonly Member[]): boolean {
  let [openCount, callers] = [0, 0];
  for (const { report } of live) {
    if (report.isOpen) openCount++;
    if (report.isOpen || report.demand > 0) callers++;
  }
  return openCount > 0.5 * callers;
}

/** Calls of which no more is known than that the API was well when they ended. */
export function othersOf(live: readonly Member[], nowMs: number): Second[] {
  let ok = 0;
  for (const { report, isOld } of live) if (!isOld) ok += report.others ?? 0;
  return ok > 0 ? [{ ...blank(Math.floor(nowMs / 1_000)), ok }] : [];
}
