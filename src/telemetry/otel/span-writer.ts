/**
 * Makes spans of what is to be told. With a provider of our own every span has the id that was computed
 * for it, below the run's anchor; a provider that is somebody else's gives ids as it likes, and the
 * run's spans are below the context that was stored with it, or one made of the run's id.
 */
import {
  type Attributes,
  type Context,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isoTime } from '../../ground/index.ts';
import type { Told } from './attempts.ts';
import { anchorIdOf, traceIdOf } from './ids.ts';
import { readTraceParent } from './traceparent.ts';
import { errorTypeOf, ofRun, ofWhose, POD_LOST, type Verdict, type Whose } from './words.ts';

/** Gives the next span the id that it is told to; any other span gets one by chance. */
export interface ForcedIds {
  force(traceId: string | undefined, spanId: string): void;
}

export interface WriterOptions {
  readonly tracer: Tracer;
  /** Undefined where the provider is somebody else's. */
  readonly ids: ForcedIds | undefined;
  /** Whether the text of errors is told. */
  readonly tellsMessages: boolean;
}

export class SpanWriter {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Whether spans have the ids that were computed for them. */
  get namesSpans(): boolean {
    return this.#options.ids !== undefined;
  }

  /** What the spans of a run are below. `trace` is what was stored with it. */
  parentOf(whose: Whose, stored: string | undefined): Context {
    const { ids } = this.#options;
    if (ids) return trace.setSpanContext(ROOT_CONTEXT, this.#anchor(whose, 0, []).spanContext());
    const context = readTraceParent(stored) ?? contextOf(whose.run, whose.generation);
    return trace.setSpanContext(ROOT_CONTEXT, context);
  }

  /** The span is started; `end` ends it, and it is exported then. */
  write(told: Told, parent: Context): () => void {
    const span = this.#open(told, parent);
    if (told.what.kind === 'attempt') this.conclude(span, told);
    return endingAt(span, told);
  }

  /** An attempt that begins: what comes of it is told later. */
  begin(
    of: Pick<Told, 'name' | 'spanId' | 'startAt' | 'whose'>,
    parent: Context,
    resumes: string | undefined,
  ): Span {
    this.#options.ids?.force(undefined, of.spanId);
    const links = resumes ? this.#linksTo(trace.getSpanContext(parent), resumes, 'resumes') : [];
    return this.#options.tracer.startSpan(
      of.name,
      { startTime: timeOf(of.startAt), attributes: ofWhose(of.whose), links },
      parent,
    );
  }

  /** A wait for leave to call an API, below the attempt that waited. */
  waited(attempt: Span, api: string, during: Pick<Told, 'startAt' | 'endAt'>): () => void {
    const options = { startTime: timeOf(during.startAt), attributes: { 'fleetq.api': api } };
    const parent = trace.setSpan(ROOT_CONTEXT, attempt);
    return endingAt(this.#options.tracer.startSpan('throttle.wait', options, parent), during);
  }

  /** Says what has come of an attempt. */
  conclude(span: Span, { what, seq, epoch, endAt }: Omit<Told, 'name' | 'spanId'>): void {
    if (what.kind !== 'attempt') return;
    const { step, phase, attempt, verdict, resumedBy } = what;
    span.setAttributes({
      'fleetq.step': step,
      'fleetq.phase': phase,
      'fleetq.attempt': attempt,
      'fleetq.outcome': verdict.outcome,
      'fleetq.journal.seq': seq,
      'fleetq.epoch': epoch,
    });
    if (verdict.isError) this.#blame(span, verdict);
    if (verdict.dueAt !== undefined) {
      const due = { 'fleetq.due': isoTime(verdict.dueAt) };
      span.addEvent('fleetq.retry.scheduled', due, timeOf(endAt));
    }
    if (resumedBy) span.addLinks(this.#linksTo(span.spanContext(), resumedBy, 'resumed by'));
  }

  #blame(span: Span, { outcome, error }: Verdict): void {
    const isLost = outcome === 'crashed' || outcome === 'abandoned';
    const type = isLost ? POD_LOST : error && errorTypeOf(error);
    if (type) span.setAttribute('error.type', type);
    const message = this.#options.tellsMessages ? error?.message : undefined;
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message ? { message } : {}) });
  }

  #open(told: Told, parent: Context): Span {
    const { what, whose, startAt } = told;
    if (what.kind === 'attempt') return this.begin(told, parent, what.resumes);
    if (what.kind === 'anchor') {
      const producer = readTraceParent(what.trace);
      const links = producer
        ? [{ context: producer, attributes: { 'fleetq.link': 'producer' } }]
        : [];
      return this.#anchor(whose, startAt, links, this.#options.ids ? undefined : parent);
    }
    this.#options.ids?.force(undefined, told.spanId);
    const attributes: Attributes = {
      ...ofWhose(whose),
      'fleetq.outcome': what.outcome,
      'fleetq.elapsed_ms': what.elapsedMs,
      'fleetq.journal.seq': told.seq,
      'fleetq.epoch': told.epoch,
    };
    const options = { startTime: timeOf(startAt), attributes };
    return this.#options.tracer.startSpan(told.name, options, parent);
  }

  /** Also made to ask whether the trace is sampled: one that is not ended is never exported. */
  #anchor(whose: Whose, startAt: number, links: Link[], parent = ROOT_CONTEXT): Span {
    const { run, generation, machine } = whose;
    this.#options.ids?.force(traceIdOf(run), anchorIdOf(run, generation));
    return this.#options.tracer.startSpan(
      `run ${machine}`,
      {
        kind: SpanKind.CONSUMER,
        startTime: timeOf(startAt),
        attributes: { ...ofRun(whose), 'messaging.system': 'fleetq' },
        links,
      },
      parent,
    );
  }

  /** To another span of the same run; where others give the ids nobody knows which. */
  #linksTo(of: SpanContext | undefined, spanId: string, why: string): Link[] {
    if (!of || !this.#options.ids) return [];
    const { traceId, traceFlags } = of;
    return [{ context: { traceId, spanId, traceFlags }, attributes: { 'fleetq.link': why } }];
  }
}

/** Ends the span at its time, whenever it is called. */
export function endingAt(span: Span, { startAt, endAt }: Pick<Told, 'startAt' | 'endAt'>) {
  const at = timeOf(Math.max(startAt, endAt));
  return () => span.end(at);
}

/** What stands for a run where somebody else's provider gives the ids, and for links to it. */
export function contextOf(run: Whose['run'], generation: number): SpanContext {
  const [traceId, spanId] = [traceIdOf(run), anchorIdOf(run, generation)];
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** As the SDK wants it: a plain number may be taken for one of another clock. */
export function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}
