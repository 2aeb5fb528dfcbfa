/**
 * Where spans go. Where the program has registered a provider of its own, that one; else one that is
 * made here from the standard variables, with ids that are ours to give. It sends often, since what is
 * still here when the process is killed has to be said again by others.
 */
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type SpanContext, trace } from '@opentelemetry/api';
import type { node, tracing } from '@opentelemetry/sdk-node';
import { version } from '../../config/index.ts';
import { systemRandom } from '../../ground/index.ts';
import { tell } from '../events.ts';
import { TracingMissingError } from '../tracing.ts';
import type { ForcedIds } from './span-writer.ts';

export const SCOPE = 'fleetq';

const BATCH_DELAY_MS = 500;
const BATCH_COUNT_MAX = 2_048;
const QUEUE_COUNT_MAX = 32_768;
const EXPORT_MS_MAX = 10_000;

type Environment = Readonly<Record<string, string | undefined>>;
type Sdk = typeof import('@opentelemetry/sdk-node');

/** Whatever code inside a phase has traced waits until others can name that phase. */
export type PassOn = (traceId: string, release: () => void) => void;

export class OwnIds implements ForcedIds {
  #traceId: string | undefined;
  #spanId: string | undefined;

  force(traceId: string | undefined, spanId: string): void {
    this.#traceId = traceId;
    this.#spanId = spanId;
  }

  generateSpanId(): string {
    const id = this.#spanId ?? systemRandom.hex(8);
    this.#spanId = undefined;
    return id;
  }

  generateTraceId(): string {
    const id = this.#traceId ?? systemRandom.hex(16);
    this.#traceId = undefined;
    return id;
  }
}

/** Whether the program has a provider of its own: a span of one that it has not is worth nothing. */
export function hasProvider(): boolean {
  const span = trace.getTracer(SCOPE).startSpan('probe');
  const { traceId }: SpanContext = span.spanContext();
  return /[^0]/.test(traceId);
}

export interface OwnProvider {
  readonly provider: node.NodeTracerProvider;
  readonly ids: OwnIds;
}

/** With a catch on the import itself, by which a bundler knows that the package may be missing. */
async function loadSdk(): Promise<Sdk> {
  const loaded = await import('@opentelemetry/sdk-node').catch((cause: unknown) => {
    throw new TracingMissingError(cause);
  });
  return loaded.default ?? loaded;
}

export async function openProvider(env: Environment, passOn: PassOn): Promise<OwnProvider> {
  const sdk = await loadSdk();
  const ids = new OwnIds();
  const { resourceFromAttributes, defaultResource, detectResources, envDetector } = sdk.resources;
  // Not what detects processes: their arguments may have passwords in them.
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'fleetq',
        'service.version': version(),
        'service.instance.id': systemRandom.hex(16),
        'host.name': hostname(),
        'process.pid': process.pid,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = exportersOf(sdk, env).map((exporter) =>
    gated(new sdk.tracing.BatchSpanProcessor(told(exporter), batchOf(env)), passOn),
  );
  const provider = new sdk.node.NodeTracerProvider({ resource, idGenerator: ids, spanProcessors });
  provider.register();
  return { provider, ids };
}

function batchOf(env: Environment) {
  const number = (name: string, otherwise: number) => Number(env[name]) || otherwise;
  return {
    scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY', BATCH_DELAY_MS),
    maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE', QUEUE_COUNT_MAX),
    maxExportBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', BATCH_COUNT_MAX),
    exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT', EXPORT_MS_MAX),
  };
}

const PROTOCOLS: Readonly<Record<string, string>> = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto',
  'http/json': '@opentelemetry/exporter-trace-otlp-http',
  grpc: '@opentelemetry/exporter-trace-otlp-grpc',
};

/** They come with the SDK, which knows where they are. */
function exportersOf(sdk: Sdk, env: Environment): tracing.SpanExporter[] {
  const wanted = (env['OTEL_TRACES_EXPORTER']?.trim() || 'otlp').split(',');
  const ours = createRequire(import.meta.url);
  const from = createRequire(ours.resolve('@opentelemetry/sdk-node'));
  return wanted.flatMap((name) => {
    if (name.trim() === 'console') return [new sdk.tracing.ConsoleSpanExporter()];
    if (name.trim() !== 'otlp') return [];
    const protocol =
      env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || '';
    const module = PROTOCOLS[protocol.trim()] ?? PROTOCOLS['http/protobuf']!;
    const { OTLPTraceExporter } = from(module) as {
      readonly OTLPTraceExporter: new () => tracing.SpanExporter;
    };
    return [new OTLPTraceExporter()];
  });
}

/** Tells that nobody takes the spans: once, until somebody does again. */
function told(exporter: tracing.SpanExporter): tracing.SpanExporter {
  let hasFailed = false;
  return {
    export: (spans, onDone) =>
      exporter.export(spans, (result) => {
        const error = { name: 'ExportError', message: result.error?.message ?? 'no answer' };
        if (result.code !== 0 && !hasFailed) tell('traces.failed', () => ({ error }));
        hasFailed = result.code !== 0;
        onDone(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function gated(next: tracing.SpanProcessor, passOn: PassOn): tracing.SpanProcessor {
  return {
    onStart: (span, parent) => next.onStart(span, parent),
    onEnd: (span) => {
      if (span.instrumentationScope.name === SCOPE) next.onEnd(span);
      else passOn(span.spanContext().traceId, () => next.onEnd(span));
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}
