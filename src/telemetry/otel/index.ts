/**
 * `fleetq/otel`: every run as a trace. The engine tells what happens and does not know who listens;
 * this is loaded only where traces are wanted.
 */
import '../../ground/refuse-old-node.ts';

import { context, SpanKind, SpanStatusCode, type TracerProvider, trace } from '@opentelemetry/api';
import { version } from '../../config/index.ts';
import { atMost, describeError, systemClock } from '../../ground/index.ts';
import { DETAIL_VARIABLE, type Tracing } from '../tracing.ts';
import { traceChores } from './chores.ts';
import { hasProvider, type OwnProvider, openProvider, SCOPE } from './provider.ts';
import { RunTracer } from './run-tracer.ts';
import { SpanWriter } from './span-writer.ts';
import { readTraceParent, writeTraceParent } from './traceparent.ts';
import { errorTypeOf } from './words.ts';

export type { Tracing } from '../tracing.ts';
export { traceIdOf } from './ids.ts';

export interface TracingOptions {
  /**
   * Where spans go. Where nothing is said, the provider that the program has registered; else one is
   * made from the standard variables. Only that one gives spans the ids that were computed for them.
   */
  readonly provider?: TracerProvider | undefined;
  /** Whether the text of errors is told, which may hold anything; FLEETQ_TELEMETRY_DETAIL decides. */
  readonly messages?: boolean | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** How long a process that ends waits for whoever takes spans. */
const FLUSH_MS_MAX = 2_000;

let running: Promise<Tracing> | undefined;
let users = 0;

/** One for the process, however many want it: what happens is told to all who listen. */
export async function startTracing(options: TracingOptions = {}): Promise<Tracing> {
  users += 1;
  running ??= start(options);
  try {
    return shared(await running);
  } catch (error) {
    users -= 1;
    running = undefined;
    throw error;
  }
}

function shared(tracing: Tracing): Tracing {
  let isStopped = false;
  return {
    ...tracing,
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      users -= 1;
      if (users > 0) return tracing.flush();
      running = undefined;
      await tracing.stop();
    },
  };
}

async function start({ provider, messages, env = process.env }: TracingOptions): Promise<Tracing> {
  let tracer: RunTracer | undefined;
  const isForeign = provider !== undefined || hasProvider();
  const own: OwnProvider | undefined = isForeign
    ? undefined
    : await openProvider(env, (traceId, release) =>
        tracer ? tracer.passOn(traceId, release) : release(),
      );
  const source = provider ?? own?.provider ?? trace;
  const spans = source.getTracer(SCOPE, version());
  const tellsMessages = messages ?? env[DETAIL_VARIABLE] === 'full';
  const writer = new SpanWriter({ tracer: spans, ids: own?.ids, tellsMessages });
  const now = () => systemClock.now();
  tracer = new RunTracer(writer, now);
  const stops = [tracer.start(), traceChores({ tracer: spans, writer, now })];
  const flush = async () => {
    const given = (own?.provider ?? (provider as Flushing | undefined))?.forceFlush?.();
    await atMost(
      systemClock,
      FLUSH_MS_MAX,
      given?.catch(() => undefined),
    );
  };
  return {
    around: tracer.around,
    flush,
    stop: async () => {
      await flush();
      for (const stop of stops) stop();
      if (!own) return;
      await atMost(
        systemClock,
        FLUSH_MS_MAX,
        own.provider.shutdown().catch(() => undefined),
      );
      trace.disable();
      context.disable();
    },
    traceParent: () => {
      const active = trace.getActiveSpan()?.spanContext();
      return active && trace.isSpanContextValid(active) ? writeTraceParent(active) : undefined;
    },
    enqueuing: async (machine, traceParent, act) => {
      const said = readTraceParent(traceParent);
      const parent = said ? trace.setSpanContext(context.active(), said) : context.active();
      const span = spans.startSpan(
        `enqueue ${machine}`,
        {
          kind: SpanKind.PRODUCER,
          attributes: {
            'messaging.system': 'fleetq',
            'messaging.destination.name': machine,
            'messaging.operation.type': 'send',
            'fleetq.machine': machine,
          },
        },
        parent,
      );
      try {
        const stored = writeTraceParent(span.spanContext());
        return await context.with(trace.setSpan(parent, span), () => act(stored));
      } catch (error) {
        span.setAttribute('error.type', errorTypeOf(describeError(error)));
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

interface Flushing {
  forceFlush?(): Promise<void>;
}
