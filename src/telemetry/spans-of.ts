/**
 * From a run's records to its trace: each record tells what was done, or waited for, since the one before
 * it. Times never go back here, though the clocks of two pods may: a record counts as no earlier than
 * the one before it.
 */
import { assert, assertNever, type ErrorInfo } from '../ground/index.ts';
import { type RunEvent, toldEnding } from '../machine/index.ts';
import { Standing } from './standing.ts';
import type {
  Attempt,
  AttemptOutcome,
  Mark,
  Owner,
  Trace,
  TracedRecord,
  TraceItem,
  Wait,
} from './trace.ts';

/** The records are all there are, from the first on; `now` is how far an unfinished run reaches. */
export function spansOf(records: readonly TracedRecord[], now: number): Trace {
  const [first, ...rest] = records;
  assert(first?.event.type === 'STARTED', 'a history begins with STARTED');
  const teller = new Teller(first, first.event);
  for (const record of rest) teller.take(record);
  const ending = toldEnding(records);
  const until = ending ? teller.now : Math.max(teller.now, now);
  if (!ending) teller.leaveOpen(until);
  return {
    machine: first.event.machine,
    version: teller.version,
    generation: first.event.generation,
    startedAt: first.at,
    until,
    // A sleep is told when it is over; whoever took the run meanwhile comes after its begin.
    items: [...teller.items].sort((a, b) => beginOf(a) - beginOf(b)),
    end: ending && {
      outcome: ending.outcome,
      state: ending.state,
      seq: records.at(-1)!.seq,
    },
  };
}

function beginOf(item: TraceItem): number {
  return item.kind === 'mark' ? item.at : item.beganAt;
}

type Opened = { -readonly [K in keyof Attempt]: Attempt[K] };
type Closing = Pick<Attempt, 'outcome'> & Partial<Attempt>;

class Teller {
  readonly items: TraceItem[] = [];
  /** The time of the last record. */
  now: number;
  /** Up to here everything is an attempt or a wait. */
  #toldUntil: number;
  #markedAt = 0;
  #seq: number;
  #owner: Owner;
  readonly #standing = new Standing();
  readonly #deadlineAt: number;
  /** It is told already; the record that counts it is yet to come. */
  #owed: Opened | undefined;

  constructor(first: TracedRecord, event: RunEvent & { type: 'STARTED' }) {
    const { at, seq, epoch } = first;
    this.now = at;
    this.#toldUntil = at;
    this.#seq = seq;
    this.#owner = { epoch, pod: event.pod, version: event.version };
    this.#deadlineAt = event.deadlineAt ?? Number.POSITIVE_INFINITY;
    this.#standing.enter(first);
  }

  get version(): number {
    return this.#owner.version;
  }

  take(record: TracedRecord): void {
    this.now = Math.max(this.now, record.at);
    this.#tell(record, record.event);
    if (!isMove(record.event)) this.#owed = undefined;
    this.#standing.enter(record);
    this.#owner = { ...this.#owner, epoch: record.epoch };
    this.#seq = record.seq;
  }

  /** What was done, or waited for, since the record before this one. */
  #tell(record: TracedRecord, event: RunEvent): void {
    switch (event.type) {
      case 'STARTED':
        return;
      case 'ASLEEP':
        return this.#restart(record);
      case 'TAKEN':
      case 'ADVANCED':
      case 'UPGRADED':
        return this.#move(record, event);
      case 'INTERRUPTED':
        if (event.isFree) return this.#close(record, { outcome: 'drained' });
        return this.#cutOff(record);
      case 'EXHAUSTED':
        if (this.#owed || this.#isByCrash(record, event.error)) return this.#cutOff(record);
        return this.#close(record, { outcome: 'exhausted' });
      case 'TIMED_OUT':
        return this.#endBy(record, 'timedOut', this.#deadlineAt);
      case 'CANCELLED':
        return this.#endBy(record, 'cancelled', Number.POSITIVE_INFINITY);
      case 'PROBED':
        return this.#close(record, { outcome: 'done', phase: 'probe' });
      case 'HANDED_OFF': {
        const phase = this.#standing.phase === 'check' ? 'check' : 'probe';
        return this.#close(record, { outcome: 'handedOff', phase });
      }
      case 'DONE':
        return this.#close(record, { outcome: 'done' });
      case 'FAILED':
        return this.#close(record, { outcome: 'retried' });
      case 'POSTPONED':
        return this.#close(record, { outcome: 'postponed' });
      case 'ABORTED':
        return this.#close(record, { outcome: 'aborted' });
      default:
        return assertNever(event);
    }
  }

  #move(record: TracedRecord, event: RunEvent & { type: 'TAKEN' | 'ADVANCED' | 'UPGRADED' }): void {
    const interruption = event.type === 'UPGRADED' ? undefined : event.interruption;
    if (this.#owed) this.#extend(record);
    else if (interruption && !this.#standing.isAsleep) {
      this.#close(record, lostBy(this.#owner, interruption === 'cut' ? 'crashed' : 'drained'));
      if (interruption === 'cut') this.#owed = this.items.at(-1) as Opened;
    } else this.#standStill(record, event);
    if (event.type !== 'TAKEN') this.#restart(record);
    const next = { ...this.#owner, epoch: record.epoch };
    if (event.type === 'TAKEN') return this.#mark('taken', record, { ...next, pod: event.pod });
    const what = event.type === 'ADVANCED' ? 'advanced' : 'upgraded';
    this.#mark(what, record, { ...next, version: event.version });
  }

  /** Nobody was at it: it waited for its time, or for a process. */
  #standStill(record: TracedRecord, event: RunEvent): void {
    const { now } = this;
    const isAnew = event.type === 'UPGRADED';
    const isDue = event.type === 'TAKEN' && event.isDue === true;
    const { isAsleep, waiting } = this.#standing;
    if (isAsleep) {
      if (isAnew) this.#close(record, { ...this.#owner, outcome: 'upgraded', isBeginKnown: true });
    } else if (!waiting) this.#pushWait('process', now, undefined, this.#seq);
    else if (isAnew || isDue || now >= waiting.dueAt) this.#endWait(now);
    else this.#standing.waiting = { ...waiting, takenAt: now };
  }

  /** Its process has died in it, which only the next one could write down. */
  #cutOff(record: TracedRecord): void {
    if (this.#owed) this.#extend(record);
    else {
      this.#close(record, { ...lostBy(this.#owner, 'crashed'), isBeginKnown: true });
      this.#restart(record);
    }
  }

  /** The attempt was told when the run was taken over; this is when it was counted. */
  #extend({ seq }: TracedRecord): void {
    this.#owed!.endedAt = this.now;
    this.#owed!.endedSeq = seq;
    this.#toldUntil = this.now;
  }

  /** After a last probe that found nothing the error is the same, but nobody has died since. */
  #isByCrash({ epoch }: TracedRecord, { code }: ErrorInfo): boolean {
    const isProbed = this.#standing.isSpent && epoch === this.#owner.epoch;
    return code === 'FLEETQ_INTERRUPTED' && !isProbed;
  }

  /** It ended from outside: in a phase, or while it waited for one that never came. */
  #endBy(record: TracedRecord, outcome: AttemptOutcome, limit: number): void {
    if (this.#owed) return this.#extend(record);
    const waiting = this.#standing.waiting;
    const isBefore = waiting && (this.now <= waiting.dueAt || waiting.dueAt >= limit);
    if (!isBefore || waiting.why === 'sleep') return this.#close(record, { outcome });
    this.#endWait(this.now);
    this.#restart(record);
  }

  #close(record: TracedRecord, closing: Closing): void {
    const { event, epoch, seq } = record;
    const { isAsleep, waiting } = this.#standing;
    // Done before it was due by this clock: then it was due by that of whoever gave it to its owner.
    const isEarly = waiting && this.now < waiting.dueAt;
    if (waiting && !isAsleep) {
      this.#endWait(isEarly ? (waiting.takenAt ?? this.now) : waiting.dueAt);
    }
    const isByAnother = epoch !== this.#owner.epoch;
    if (closing.epoch === undefined) this.#restart(record);
    this.items.push({
      ...this.#begun(),
      endedAt: this.now,
      endedSeq: seq,
      isBeginKnown: !isByAnother || isAsleep,
      error: 'error' in event ? shortened(event.error) : undefined,
      ...closing,
    });
    this.#standing.waiting = undefined;
    this.#toldUntil = this.now;
  }

  #begun(): Attempt {
    const { step, called: phase, attempt, isAsleep, waiting } = this.#standing;
    return {
      kind: 'attempt',
      step,
      phase,
      attempt,
      ...this.#owner,
      beganAt: this.#toldUntil,
      endedAt: undefined,
      beganSeq: this.#seq,
      endedSeq: undefined,
      isBeginKnown: true,
      isEndKnown: true,
      outcome: 'open',
      dueAt: isAsleep ? waiting?.dueAt : undefined,
      error: undefined,
    };
  }

  #endWait(until: number): void {
    const { why, dueAt, seq } = this.#standing.waiting!;
    assert(why !== 'sleep', 'a sleep is a phase');
    this.#standing.waiting = undefined;
    this.#pushWait(why, Math.max(until, this.#toldUntil), dueAt, seq);
  }

  #pushWait(why: Wait['why'], endedAt: number, dueAt: number | undefined, beganSeq: number): void {
    const [beganAt, { step }] = [this.#toldUntil, this.#standing];
    if (endedAt === beganAt) return;
    this.items.push({ kind: 'wait', step, why, beganAt, endedAt, beganSeq, dueAt });
    this.#toldUntil = endedAt;
  }

  /** Another life of the process that has it, where nothing else says so. */
  #restart(record: TracedRecord): void {
    const { epoch } = record;
    if (epoch !== this.#owner.epoch) {
      this.#mark('restarted', record, { ...this.#owner, epoch, pod: undefined });
    }
  }

  #mark(what: Mark['what'], of: TracedRecord, to: Owner): void {
    // When it came back is not on record: at the earliest, where its first attempt may have begun.
    const at = Math.max(this.#markedAt, what === 'restarted' ? this.#toldUntil : this.now);
    this.#markedAt = at;
    const [from, { step }] = [this.#owner, this.#standing];
    this.items.push({ kind: 'mark', step, what, at, seq: of.seq, ...to, from });
    this.#owner = to;
  }

  leaveOpen(until: number): void {
    const waiting = this.#standing.waiting;
    if (waiting && waiting.why !== 'sleep') {
      if (until < waiting.dueAt) {
        const { why, dueAt, seq: beganSeq } = waiting;
        const [beganAt, step] = [this.#toldUntil, this.#standing.step];
        this.items.push({ kind: 'wait', step, why, beganAt, endedAt: undefined, beganSeq, dueAt });
        return;
      }
      this.#endWait(waiting.dueAt);
    }
    this.items.push(this.#begun());
  }
}

function lostBy(owner: Owner, outcome: 'crashed' | 'drained'): Closing {
  return { ...owner, outcome, isBeginKnown: true, isEndKnown: false };
}

function isMove({ type }: RunEvent): boolean {
  return type === 'TAKEN' || type === 'ADVANCED';
}

function shortened(error: ErrorInfo | undefined): Attempt['error'] {
  return error && { name: error.name, code: error.code };
}
