/**
 * What a run did when, told from its records: each closes whatever went before it. Pure.
 *
 *   created ──queue──▶ STARTED ──phase──▶ FAILED ──wait──▶ due ──phase──▶ DONE ──▶ …
 *                                   its pod dies ──gap──▶ TAKEN by another
 */
import type { Run, RunRecord } from '../../services/types.ts';

export type SpanKind = 'queue' | 'phase' | 'wait' | 'sleep' | 'gap';
export type SpanEnd = 'done' | 'handedOff' | 'failed' | 'postponed' | 'cut' | 'ended' | 'open';

export interface Span {
  readonly kind: SpanKind;
  readonly from: number;
  readonly until: number;
  /** The phase it belongs to. */
  readonly state: string;
  readonly attempt: number;
  readonly pod: string | undefined;
  readonly end: SpanEnd;
  /** The record that closed it; undefined while it is open. */
  readonly seq: number | undefined;
}

const END_OF: Readonly<Record<string, SpanEnd>> = {
  DONE: 'done',
  HANDED_OFF: 'handedOff',
  PROBED: 'done',
  FAILED: 'failed',
  POSTPONED: 'postponed',
  EXHAUSTED: 'failed',
  TIMED_OUT: 'failed',
  ABORTED: 'failed',
  CANCELLED: 'ended',
};
/** What says who goes on, and not what was done. */
const QUIET: readonly string[] = ['ADVANCED', 'UPGRADED', 'INTERRUPTED'];

export const isPhase = (state: string): boolean => state.includes('.');
const stepOf = (state: string): string => state.slice(0, state.lastIndexOf('.'));

export function courseOf(run: Run, records: readonly RunRecord[], nowMs: number): Span[] {
  const teller = new Teller(run.createdAt);
  for (const record of records) teller.take(record);
  if (run.finishedAt === undefined) teller.goOn(run, nowMs);
  return teller.spans;
}

class Teller {
  readonly spans: Span[] = [];
  #since: number;
  #state = '';
  #attempt = 1;
  #pod: string | undefined;
  #wait: { readonly kind: 'wait' | 'sleep'; readonly until: number } | undefined;

  constructor(createdAt: number) {
    this.#since = createdAt;
  }

  take({ seq, at, state, event }: RunRecord): void {
    if (event.type === 'STARTED') this.#push('queue', at, 'done', seq, state);
    else if (event.type === 'TAKEN') this.#takeOver(at, event['interruption'] === 'cut', seq);
    else if (event.type === 'ASLEEP') this.#push('phase', at, 'done', seq);
    else if (!QUIET.includes(event.type)) {
      this.#closeWait(at, seq);
      this.#push('phase', at, END_OF[event.type] ?? 'done', seq);
    }
    if (event.type === 'STARTED' || event.type === 'TAKEN') this.#pod = event['pod'] as string;
    this.#enter(state, event);
    this.#since = Math.max(this.#since, at);
  }

  /** What has no record yet: it works, it waits, or nobody has it. */
  goOn(run: Run, nowMs: number): void {
    const due = run.dueAt;
    if (this.#state === '') return this.#push('queue', nowMs, 'open', undefined, 'queue');
    if (this.#wait)
      return this.#push(this.#wait.kind, Math.max(this.#wait.until, nowMs), 'open', undefined);
    const isHeld = run.status === 'claimed' || run.status === 'active';
    if (isHeld) return this.#push('phase', nowMs, 'open', undefined);
    this.#push('wait', Math.max(nowMs, due ?? nowMs), 'open', undefined);
  }

  #enter(state: string, event: RunRecord['event']): void {
    const isAgain = event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event['isFree']);
    if (stepOf(state) !== stepOf(this.#state)) this.#attempt = 1;
    else if (isAgain) this.#attempt++;
    if (isPhase(state)) this.#state = state;
    const dueAt = event['dueAt'];
    const isWait = event.type === 'FAILED' || event.type === 'POSTPONED' || event.type === 'ASLEEP';
    if (event.type === 'TAKEN' && event['isDue'] !== true && this.#wait) return;
    this.#wait =
      isWait && typeof dueAt === 'number'
        ? { kind: event.type === 'ASLEEP' ? 'sleep' : 'wait', until: dueAt }
        : undefined;
  }

  #closeWait(at: number, seq: number): void {
    if (!this.#wait) return;
    const until = Math.min(this.#wait.until, at);
    this.#push(this.#wait.kind, until, 'done', seq);
    this.#since = Math.max(this.#since, until);
    this.#wait = undefined;
  }

  /** Waiting is no gap: whoever had it gave it back until it was due. */
  #takeOver(at: number, isCut: boolean, seq: number): void {
    const kind = this.#wait && !isCut ? this.#wait.kind : 'gap';
    this.#push(kind, at, isCut ? 'cut' : 'done', seq);
  }

  #push(
    kind: SpanKind,
    until: number,
    end: SpanEnd,
    seq: number | undefined,
    state = this.#state,
  ): void {
    if (until <= this.#since && kind !== 'phase') return;
    const [from, attempt, pod] = [this.#since, this.#attempt, this.#pod];
    this.spans.push({ kind, from, until: Math.max(from, until), state, attempt, pod, end, seq });
  }
}

export interface PhaseTime {
  readonly spentMs: number;
  readonly tries: number;
  readonly failures: number;
}

/** What each phase has taken in all. */
export function timesOf(spans: readonly Span[]): ReadonlyMap<string, PhaseTime> {
  const times = new Map<string, PhaseTime>();
  for (const { kind, state, from, until, end } of spans) {
    if (kind !== 'phase') continue;
    const { spentMs = 0, tries = 0, failures = 0 } = times.get(state) ?? {};
    times.set(state, {
      spentMs: spentMs + until - from,
      tries: tries + 1,
      failures: failures + (end === 'failed' ? 1 : 0),
    });
  }
  return times;
}
