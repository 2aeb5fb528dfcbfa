/**
 * A run's spans from its records alone: what whoever takes a run over, or opens the journal of a
 * process that died, tells in its stead. Pure. What is told live is built of the same parts, so that
 * both come to the same ids, names and words; only the begin is known better by whoever was there.
 *
 *   0 STARTED                          run
 *   1 DONE          check → work       check, from 0 to 1
 *   2 TAKEN (cut)                      nothing: another owner
 *   3 INTERRUPTED                      work, begun at 1, crashed → the attempt that begins at 3
 *   4 PROBED                           probe, from 3 to 4
 */
import { mintedAt, type RunId } from '../../ground/index.ts';
import { isFinal } from '../../machine/index.ts';
import type { PastRecord } from '../events.ts';
import { anchorIdOf, attemptIdOf, endIdOf } from './ids.ts';
import {
  ABANDONED,
  CRASH,
  endingBy,
  phaseOf,
  stepOf,
  type Verdict,
  verdictOf,
  type Whose,
} from './words.ts';

export interface Told {
  readonly whose: Whose;
  readonly spanId: string;
  readonly name: string;
  readonly startAt: number;
  readonly endAt: number;
  /** The record that it ends with. */
  readonly seq: number;
  readonly epoch: number;
  readonly what:
    | {
        readonly kind: 'anchor';
        readonly trace: string | undefined;
        readonly startedAt: number;
        /** Whoever else should start the run comes to the very same span. */
        readonly isShared: boolean;
      }
    | { readonly kind: 'end'; readonly outcome: string; readonly elapsedMs: number }
    | {
        readonly kind: 'attempt';
        readonly step: string;
        readonly phase: string;
        readonly attempt: number;
        readonly verdict: Verdict;
        /** The attempt that goes on where this one crashed. */
        readonly resumedBy: string | undefined;
        /** The attempt that crashed before this one. */
        readonly resumes: string | undefined;
      };
}

export function toldBy(run: RunId, generation: number, records: readonly PastRecord[]): Told[] {
  const first = records[0]?.event;
  if (first?.type !== 'STARTED') return [];
  const { machine, version, pod } = first;
  return new Reading({ run, generation, machine, version, pod }, records).read();
}

/** The first span of a task that failed without a run. */
export function anchorOf(whose: Whose, at: number): Told {
  const { run, generation, machine } = whose;
  const of = { whose, spanId: anchorIdOf(run, generation), name: `run ${machine}` };
  return { ...of, seq: -1, epoch: 0, ...anchored(whose, at, undefined) };
}

/** A trace that began longer before its first attempt would show little of the rest. */
const QUEUED_MS_MAX = 3_600_000;

/**
 * The first span begins when the task was enqueued, by the time in its id: so whoever starts the run,
 * though it knows of nobody before it, tells the same of it. Where that time is not there, is long ago
 * or is of a generation before this one, the run begins when it was started.
 */
function anchored(
  { run, generation }: Whose,
  startedAt: number,
  trace: string | undefined,
): Pick<Told, 'startAt' | 'endAt' | 'what'> {
  const queuedMs = startedAt - (mintedAt(run) ?? Number.POSITIVE_INFINITY);
  const isShared = generation === 1 && queuedMs >= 0 && queuedMs <= QUEUED_MS_MAX;
  const at = isShared ? startedAt - queuedMs : startedAt;
  return { startAt: at, endAt: at, what: { kind: 'anchor', trace, startedAt, isShared } };
}

/** Whether the process that died may not have told it, where it told everything up to then. */
export function mayBeUntold({ what, endAt }: Told, since: number): boolean {
  return (what.kind === 'anchor' ? what.startedAt : endAt) >= since;
}

/** The last span of a run: how it ended. */
export function endOf(
  whose: Whose,
  startedAt: number,
  { seq, epoch, at }: Pick<PastRecord, 'seq' | 'epoch' | 'at'>,
  outcome: string,
): Told {
  const { run, generation, machine } = whose;
  const spanId = endIdOf(run, generation);
  const what = { kind: 'end', outcome, elapsedMs: at - startedAt } as const;
  return { whose, spanId, name: `end ${machine}`, startAt: at, endAt: at, seq, epoch, what };
}

/** The record that an attempt which was cut off stood on: whoever took it over wrote after that. */
export function cutAt(records: readonly PastRecord[]): PastRecord | undefined {
  return records.findLast(
    ({ event }) => !('interruption' in event && event.interruption === 'cut'),
  );
}

/** When an attempt began that stands on this record, as far as the record tells. */
export function begunAfter({ at, event }: Pick<PastRecord, 'at' | 'event'>, until: number): number {
  const isWait = event.type === 'FAILED' || event.type === 'POSTPONED';
  return isWait ? Math.max(at, Math.min(event.dueAt, until)) : at;
}

/** Whether the process that was at it is gone; else it was the last probe that found nothing done. */
function isCutOff(last: PastRecord, { epoch, event }: PastRecord, verdict: Verdict): boolean {
  if (verdict === ABANDONED) return true;
  if (verdict.outcome !== CRASH.outcome) return false;
  const isTaken = 'interruption' in last.event && last.event.interruption === 'cut';
  return event.type === 'INTERRUPTED' || isTaken || last.epoch !== epoch;
}

/** What a verdict comes to where nobody died. */
export function calledOff(verdict: Verdict): Verdict {
  return verdict.outcome === 'crashed' ? { outcome: 'exhausted', isError: true } : verdict;
}

class Reading {
  readonly #records: readonly PastRecord[];
  readonly #checked = new Set<string>();
  readonly #told: Told[] = [];
  /** Whose the run was after each record. */
  readonly #owners: Whose[] = [];
  #whose: Whose;
  #attempt = 1;
  #mustProbe = false;
  #mayBeAhead = false;
  #crashed: string | undefined;

  constructor(whose: Whose, records: readonly PastRecord[]) {
    this.#whose = whose;
    this.#records = records;
  }

  read(): Told[] {
    for (const [index, record] of this.#records.entries()) {
      const before = this.#records[index - 1];
      if (before) this.#readNext(index, before, record);
      else this.#readFirst(record);
      this.#owners.push(this.#whose);
      if (phaseOf(record.state) === 'check') this.#checked.add(stepOf(record.state));
      if (isFinal(record.state)) {
        const outcome = endingBy(record.event);
        this.#told.push(endOf(this.#whose, this.#records[0]!.at, record, outcome));
      }
    }
    return this.#told;
  }

  #readFirst(record: PastRecord): void {
    const { run, generation, machine } = this.#whose;
    const trace = record.event.type === 'STARTED' ? record.event.trace : undefined;
    const spanId = anchorIdOf(run, generation);
    const { at, seq, epoch } = record;
    const of = { whose: this.#whose, spanId, name: `run ${machine}`, seq, epoch };
    this.#told.push({ ...of, ...anchored(this.#whose, at, trace) });
  }

  #readNext(index: number, before: PastRecord, record: PastRecord): void {
    const { event } = record;
    if (event.type === 'TAKEN') this.#whose = { ...this.#whose, pod: event.pod };
    if (event.type === 'ADVANCED' || event.type === 'UPGRADED') {
      this.#whose = { ...this.#whose, version: event.version };
    }
    const verdict = verdictOf(event) ?? this.#leftBy(before, event);
    if (verdict) this.#readAttempt(index, before, record, verdict);
    this.#move(before.state, record);
  }

  /** An attempt of which no record says what became of it: whoever had the run left it at that. */
  #leftBy({ event: before }: PastRecord, event: PastRecord['event']): Verdict | undefined {
    if ('interruption' in event && event.interruption === 'left') return ABANDONED;
    const isCut = 'interruption' in before && before.interruption === 'cut';
    return event.type === 'UPGRADED' && isCut ? CRASH : undefined;
  }

  #readAttempt(index: number, last: PastRecord, record: PastRecord, verdict: Verdict): void {
    const isCrash = isCutOff(last, record, verdict);
    const before = isCrash ? (cutAt(this.#records.slice(0, index)) ?? last) : last;
    const spanId = attemptIdOf(before.hash);
    const step = stepOf(last.state);
    const phase = this.#mustProbe ? 'probe' : phaseOf(last.state);
    const resumedBy = isCrash && !isFinal(record.state) ? attemptIdOf(record.hash) : undefined;
    // Who took it over came later than whoever was cut off.
    const endAt = isCrash ? (this.#records[before.seq + 1]?.at ?? record.at) : record.at;
    const startAt = begunAfter(before, endAt);
    const name = `${this.#whose.machine}.${step}.${phase}`;
    const [attempt, resumes] = [this.#attempt, this.#crashed];
    const said = isCrash ? verdict : calledOff(verdict);
    const parts = { step, phase, attempt, verdict: said, resumedBy, resumes };
    const what = { kind: 'attempt', ...parts } as const;
    // Whoever tells of a crash is not the one who was at it.
    const { epoch } = isCrash ? before : record;
    const whose = isCrash ? (this.#owners[before.seq] ?? this.#whose) : this.#whose;
    const { seq } = record;
    this.#told.push({ whose, spanId, name, startAt, endAt, seq, epoch, what });
    this.#crashed = resumedBy && spanId;
  }

  /** Which attempt it is, and whether `check` is asked first: as the engine has it. */
  #move(from: string, { event, state }: PastRecord): void {
    const interruption = 'interruption' in event ? event.interruption : undefined;
    if (interruption) this.#mayBeAhead ||= phaseOf(from) === 'validate';
    if (stepOf(state) !== stepOf(from) || event.type === 'UPGRADED') {
      [this.#attempt, this.#mustProbe, this.#mayBeAhead] = [1, false, false];
    } else if (event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event.isFree)) {
      this.#attempt += 1;
    }
    const asks = ['FAILED', 'POSTPONED', 'INTERRUPTED'].includes(event.type);
    const isAhead = this.#mayBeAhead && event.type === 'DONE' && phaseOf(from) === 'validate';
    if (asks || interruption === 'left' || isAhead) this.#mustProbe = this.#canProbe(state);
    else if (verdictOf(event)) this.#mustProbe = false;
  }

  #canProbe(state: string): boolean {
    return this.#checked.has(stepOf(state)) && ['work', 'persist'].includes(phaseOf(state));
  }
}
