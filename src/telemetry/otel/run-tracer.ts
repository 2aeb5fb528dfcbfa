/**
 * Listens to what happens to runs, and tells it as spans. A phase's span is begun with the phase, so
 * that what its handler traces is below it, and ended by the record that the phase came to.
 */
import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Around } from '../../engine/index.ts';
import type { RunId } from '../../ground/index.ts';
import { isFinal } from '../../machine/index.ts';
import { type EventName, type FleetqEvents, listen, type OfPhase } from '../events.ts';
import { answerSpanIds } from '../span-ids.ts';
import { calledOff, endOf, mayBeUntold, type Told, toldBy } from './attempts.ts';
import { Course } from './course.ts';
import { Gate } from './gate.ts';
import { attemptIdOf, traceIdOf } from './ids.ts';
import { called, lost, uncalled } from './live.ts';
import { endingAt, type SpanWriter } from './span-writer.ts';
import { endingBy, type Verdict, verdictOf } from './words.ts';

type Recorded = FleetqEvents['run.recorded'];
type Standing = Pick<Recorded, 'run' | 'generation' | 'epoch' | 'machine' | 'version' | 'seq'>;

/** More of what a handler says is not told: a span is no log. */
const EVENT_COUNT_MAX = 32;
/** A run of this host that waits for longer is not in memory: it comes back with its records. */
const IN_PLACE_MS = 5_000;
const CANCELLED: Verdict = { outcome: 'cancelled', isError: false };

export class RunTracer {
  readonly #writer: SpanWriter;
  readonly #now: () => number;
  readonly #gate = new Gate();
  readonly #courses = new Map<RunId, Course>();
  readonly #byTrace = new Map<string, Course>();
  #pod: string | undefined;

  constructor(writer: SpanWriter, now: () => number) {
    this.#writer = writer;
    this.#now = now;
  }

  /** Makes the phase's span the active one while its handler is called. */
  readonly around: Around = (of, call) => {
    const span = this.#courses.get(of.run)?.attempt?.span;
    return span ? context.with(trace.setSpan(ROOT_CONTEXT, span), call) : call();
  };

  /** Undefined of a phase that is over, and of one that is not sampled. */
  spanIdOf({ run, phase, attempt }: OfPhase): string | undefined {
    const live = this.#courses.get(run)?.attempt;
    if (live?.of.phase !== phase || live.of.attempt !== attempt) return undefined;
    return live.span.isRecording() ? live.span.spanContext().spanId : undefined;
  }

  /** Whatever code inside a phase has traced, on its way out. */
  passOn(traceId: string, release: () => void): void {
    const course = this.#byTrace.get(traceId);
    if (course) this.#gate.pass(course.run, course.attempt?.seq ?? -1, release);
    else release();
  }

  start(): () => void {
    const stops = [
      answerSpanIds((phase) => this.spanIdOf(phase)),
      this.#on('pod.registered', ({ pod }) => {
        this.#pod = pod;
      }),
      this.#on('run.recorded', (e) => this.#recorded(e)),
      this.#on('run.resumed', (e) => this.#resumed(e)),
      this.#on('run.left', (e) => this.#left(e)),
      this.#on('run.lost', (e) => this.#lost(e)),
      this.#on('phase.started', (e) => this.#begin(e)),
      this.#on('phase.ended', ({ run, elapsedMs }) => {
        const attempt = this.#courses.get(run)?.attempt;
        if (attempt) attempt.elapsedMs = elapsedMs;
      }),
      this.#on('run.progressed', ({ run, fraction }) =>
        this.#say(run, 'fleetq.progress', { 'fleetq.fraction': fraction }),
      ),
      this.#on('throttle.waited', (e) => this.#waited(e)),
      this.#on('run.archived', ({ run, generation, seq }) => {
        if (this.#courses.get(run)?.generation === generation) this.#gate.open(run, seq);
      }),
      this.#on('task.settled', (e) => {
        this.#tellMissingEnd(e);
        this.#forget(e, true);
      }),
      this.#on('claim.lost', (e) => this.#forget(e, false)),
      this.#on('pod.died', ({ pod }) => {
        for (const course of [...this.#courses.values()]) {
          if (course.isHeld && course.pod === pod) this.#drop(course);
        }
      }),
      this.#on('run.waiting', ({ run, dueAt }) => {
        const course = this.#courses.get(run);
        if (course?.isHeld === false && dueAt - this.#now() > IN_PLACE_MS) this.#drop(course);
      }),
      this.#on('run.quarantined', ({ run }) => this.#drop(this.#courses.get(run), true)),
      this.#on('run.blocked', ({ run }) => this.#drop(this.#courses.get(run), true)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** What is traced must never harm what is done. */
  #on<N extends EventName>(name: N, act: (event: FleetqEvents[N]) => void): () => void {
    return listen(name, (event) => {
      try {
        act(event);
      } catch {
        this.failures += 1;
      }
    });
  }

  /** How often telling has failed, which is a defect of ours. */
  failures = 0;

  #courseOf(e: Standing): Course {
    let course = this.#courses.get(e.run);
    if (!course || course.generation !== (e.generation ?? 1) || course.isOfOther(e.epoch)) {
      // What an earlier claim of this process came to counts no more than what others have left.
      this.#drop(course);
      course = new Course(e);
      this.#courses.set(e.run, course);
      if (course.isHeld) {
        this.#byTrace.set(traceIdOf(e.run), course);
        // What it came with is in the store; what this process adds is not.
        this.#gate.open(e.run, e.seq - 1);
      }
    }
    course.epoch = e.epoch;
    course.version = e.version;
    return course;
  }

  #recorded(e: Recorded): void {
    const course = this.#courseOf(e);
    const { seq, at, epoch, event, state, hash } = e;
    if ('pod' in event) course.pod = event.pod;
    if (event.type === 'STARTED') course.trace = event.trace;
    course.remember([{ seq, at, epoch, event, state, hash }]);
    const verdict = event.type === 'CANCELLED' && course.attempt ? CANCELLED : verdictOf(event);
    if (event.type === 'STARTED') this.#tellOf(course, 'anchor', seq);
    else if (verdict && course.attempt) this.#conclude(course, e, calledOff(verdict));
    else if (verdict?.outcome === 'crashed') this.#tellCrash(course, seq);
    else if (verdict) this.#tell(course, uncalled(course, e, verdict, this.#pod));
    if (!isFinal(state)) return;
    this.#tellEnd(course, e);
    if (!course.isHeld) this.#drop(course);
  }

  #begin(e: FleetqEvents['phase.started']): void {
    const course = this.#courseOf(e);
    const spanId = attemptIdOf(e.hash);
    const name = `${e.machine}.${e.step}.${e.phase}`;
    const of = { name, spanId, startAt: e.at, whose: course.whose(this.#pod) };
    const span = this.#writer.begin(of, course.parent(this.#writer), course.crashed);
    course.crashed = undefined;
    course.past = course.past.slice(-1);
    const { at: startAt, seq, hash } = e;
    course.attempt = { of: e, span, seq, hash, startAt, elapsedMs: undefined, eventCount: 0 };
  }

  /** The record that the phase came to is durable. */
  #conclude(course: Course, e: Recorded, verdict: Verdict): void {
    const { attempt } = course;
    if (!attempt) return;
    course.attempt = undefined;
    const told = called(course, attempt, e, verdict, this.#pod);
    this.#writer.conclude(attempt.span, told);
    this.#pass(course, e.seq, endingAt(attempt.span, told));
  }

  /** Told by whoever goes on, in the words of its records. */
  #tellCrash(course: Course, seq: number): void {
    const told = this.#tellOf(course, 'attempt', seq);
    if (told?.what.kind === 'attempt' && told.what.resumedBy) course.crashed = told.spanId;
  }

  /** What its records say that ends with this one. */
  #tellOf(course: Course, kind: Told['what']['kind'], seq: number): Told | undefined {
    const told = toldBy(course.run, course.generation, course.past).findLast(
      (one) => one.what.kind === kind && one.seq === seq,
    );
    if (!told) return undefined;
    const { seenAt } = course;
    const isSeen = kind === 'attempt' && seenAt !== undefined;
    // Clocks differ: it did not end before it began, nor after it was taken over.
    const endAt = isSeen ? Math.min(told.endAt, Math.max(told.startAt, seenAt)) : told.endAt;
    this.#tell(course, { ...told, endAt });
    return told;
  }

  #tellEnd(course: Course, e: Recorded): void {
    course.hasEnded = true;
    this.#tell(course, endOf(course.whose(this.#pod), e.startedAt, e, endingBy(e.event)));
  }

  /** Its claim was settled without a record, since nothing of it could be run. */
  #tellMissingEnd({ run, epoch, to }: FleetqEvents['task.settled']): void {
    const course = this.#courses.get(run);
    if (to !== 'failed' || course?.epoch !== epoch || course.hasEnded) return;
    const last = { seq: course.past.at(-1)?.seq ?? -1, epoch, at: this.#now() };
    this.#tell(course, endOf(course.whose(this.#pod), last.at, last, 'aborted'));
  }

  #resumed(e: FleetqEvents['run.resumed']): void {
    const { records, seenAt } = e;
    const last = records.at(-1);
    if (!last) return;
    const known = this.#courses.get(e.run);
    const course = known ?? this.#courseOf({ ...e, seq: last.seq, epoch: last.epoch });
    course.seenAt = seenAt;
    course.remember(records);
    const first = records[0]?.event;
    if (first?.type === 'STARTED') course.trace = first.trace;
    // Whoever had it may have been at something of which no record will ever tell.
    const taken = course.past.at(-1)!;
    if (taken.seq > last.seq) this.#tellCrash(course, taken.seq);
  }

  /** Says again what its last owner may not have said. Nothing of it can be lost any more. */
  #left({ run, generation = 1, records, since }: FleetqEvents['run.left']): void {
    // Where others give the ids, what is said again would be something else.
    if (!this.#writer.namesSpans) return;
    const told = toldBy(run, generation, records).filter((one) => mayBeUntold(one, since));
    const first = records[0]?.event;
    if (!told[0] || first?.type !== 'STARTED') return;
    const parent: Context = this.#writer.parentOf(told[0].whose, first.trace);
    for (const one of told) this.#writer.write(one, parent)();
  }

  #lost(e: FleetqEvents['run.lost']): void {
    const course = this.#courses.get(e.run);
    if (!course) return;
    const parent = course.parent(this.#writer);
    this.#writer.write(lost(course, e.epoch, this.#now()), parent)();
    // Should this process die like the last one, there is a run to be seen all the same.
    const [anchor] = toldBy(course.run, course.generation, course.past);
    if (anchor && !this.#isForAll(anchor)) this.#writer.write(anchor, parent)();
  }

  #tell(course: Course, told: Told): void {
    const end = this.#writer.write(told, course.parent(this.#writer));
    if (this.#isForAll(told)) end();
    else this.#pass(course, told.seq, end);
  }

  /** Should this process die before the store has heard of the run, the next one tells the same. */
  #isForAll({ what }: Told): boolean {
    return what.kind === 'anchor' && what.isShared && this.#writer.namesSpans;
  }

  #pass(course: Course, seq: number, end: () => void): void {
    if (course.isHeld) this.#gate.pass(course.run, seq, end);
    else end();
  }

  /** A call that did not have to wait has no span: whatever it calls may have one. */
  #waited({ run, api, elapsedMs }: FleetqEvents['throttle.waited']): void {
    const course = this.#courses.get(run);
    const attempt = course?.attempt;
    if (!course || !attempt || attempt.eventCount >= EVENT_COUNT_MAX) return;
    attempt.eventCount += 1;
    const endAt = this.#now();
    const startAt = Math.max(attempt.startAt, endAt - elapsedMs);
    this.#pass(course, attempt.seq, this.#writer.waited(attempt.span, api, { startAt, endAt }));
  }

  #say(run: RunId, name: string, attributes: Record<string, string | number>): void {
    const attempt = this.#courses.get(run)?.attempt;
    if (!attempt || attempt.eventCount >= EVENT_COUNT_MAX) return;
    attempt.eventCount += 1;
    attempt.span.addEvent(name, attributes);
  }

  #forget(e: { readonly run: RunId; readonly epoch: number }, isSafe: boolean): void {
    const course = this.#courses.get(e.run);
    if (course?.isHeld && course.epoch === e.epoch) this.#drop(course, isSafe);
  }

  #drop(course: Course | undefined, isSafe = false): void {
    if (!course) return;
    this.#gate.close(course.run, isSafe);
    if (this.#courses.get(course.run) !== course) return;
    this.#courses.delete(course.run);
    if (course.isHeld) this.#byTrace.delete(traceIdOf(course.run));
  }
}
