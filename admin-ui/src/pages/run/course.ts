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

/** What is shown of a run's time. */
export interface Course {
  /** The last of its spans. */
  readonly spans: readonly Span[];
  /** Of all spans. */
  readonly count: number;
  readonly wholeMs: number;
  readonly workMs: number;
  /** What each phase has taken in all. */
  readonly times: ReadonlyMap<string, PhaseTime>;
  /** The phases it came to, in that order. */
  readonly phases: readonly string[];
}

export interface PhaseTime {
  readonly spentMs: number;
  readonly tries: number;
  readonly failures: number;
}

/** More would be a smear: the last of them tell how it stands. */
const SPANS_MAX = 400;

/** Takes each record once, however often it is asked: there may be fifty thousand, and more to come. */
export class Teller {
  readonly #createdAt: number;
  readonly #spans: Span[] = [];
  readonly #times = new Map<string, PhaseTime>();
  readonly #phases = new Set<string>();
  #count = 0;
  #workMs = 0;
  #takenCount = 0;
  #last: RunRecord | undefined;
  #since: number;
  #state = '';
  #attempt = 1;
  #pod: string | undefined;
  #wait: { readonly kind: 'wait' | 'sleep'; readonly until: number } | undefined;

  constructor(createdAt: number) {
    this.#createdAt = createdAt;
    this.#since = createdAt;
  }

  /** Whether these records only go on where it is: a history that was rewound is told anew. */
  fits({ createdAt }: Run, records: readonly RunRecord[]): boolean {
    return createdAt === this.#createdAt && records[this.#takenCount - 1] === this.#last;
  }

  tell(run: Run, records: readonly RunRecord[], nowMs: number): Course {
    for (; this.#takenCount < records.length; this.#takenCount++) {
      this.#last = records[this.#takenCount]!;
      this.#take(this.#last);
    }
    const open = run.finishedAt === undefined ? this.#goOn(run, nowMs) : undefined;
    const closed: Course = {
      spans: this.#spans.slice(-SPANS_MAX),
      count: this.#count,
      wholeMs: this.#since - this.#createdAt,
      workMs: this.#workMs,
      times: new Map(this.#times),
      phases: [...this.#phases],
    };
    return open ? withOpen(closed, open) : closed;
  }

  #take({ seq, at, state, event }: RunRecord): void {
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
  #goOn(run: Run, nowMs: number): Span | undefined {
    const open = { end: 'open', seq: undefined } as const;
    const wait = this.#wait;
    if (this.#state === '')
      return this.#span({ kind: 'queue', until: nowMs, state: 'queue', ...open });
    if (wait) return this.#span({ kind: wait.kind, until: Math.max(wait.until, nowMs), ...open });
    const isHeld = run.status === 'claimed' || run.status === 'active';
    if (isHeld) return this.#span({ kind: 'phase', until: nowMs, ...open });
    return this.#span({ kind: 'wait', until: Math.max(nowMs, run.dueAt ?? nowMs), ...open });
  }

  #enter(state: string, event: RunRecord['event']): void {
    const isAgain = event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event['isFree']);
    if (stepOf(state) !== stepOf(this.#state)) this.#attempt = 1;
    else if (isAgain) this.#attempt++;
    if (isPhase(state)) {
      this.#state = state;
      this.#phases.add(state);
    }
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

  #push(kind: SpanKind, until: number, end: SpanEnd, seq: number, state = this.#state): void {
    const span = this.#span({ kind, until, end, seq, state });
    if (!span) return;
    if (this.#spans.length === 2 * SPANS_MAX) this.#spans.splice(0, SPANS_MAX);
    this.#spans.push(span);
    this.#count++;
    if (kind !== 'phase') return;
    this.#workMs += span.until - span.from;
    this.#times.set(state, addTo(this.#times.get(state), span));
  }

  #span({ kind, until, end, seq, state = this.#state }: Closing): Span | undefined {
    if (until <= this.#since && kind !== 'phase') return undefined;
    const [from, attempt, pod] = [this.#since, this.#attempt, this.#pod];
    return { kind, from, until: Math.max(from, until), state, attempt, pod, end, seq };
  }
}

type Closing = Pick<Span, 'kind' | 'until' | 'end' | 'seq'> & { readonly state?: string };

function withOpen(course: Course, open: Span): Course {
  const lastsMs = open.until - open.from;
  const isWork = open.kind === 'phase';
  return {
    ...course,
    spans: [...course.spans, open].slice(-SPANS_MAX),
    count: course.count + 1,
    wholeMs: course.wholeMs + lastsMs,
    workMs: course.workMs + (isWork ? lastsMs : 0),
    times: isWork
      ? new Map(course.times).set(open.state, addTo(course.times.get(open.state), open))
      : course.times,
  };
}

function addTo(time: PhaseTime | undefined, { from, until, end }: Span): PhaseTime {
  const { spentMs = 0, tries = 0, failures = 0 } = time ?? {};
  return {
    spentMs: spentMs + until - from,
    tries: tries + 1,
    failures: failures + (end === 'failed' ? 1 : 0),
  };
}
