/**
 * What a tracer is to a fleet, and whether there is to be one. Nothing of OpenTelemetry is loaded
 * before somebody wants it: `fleetq/otel` is what does this.
 */
import type { Around } from '../engine/index.ts';
import { describeError, FleetqError } from '../ground/index.ts';

export interface Tracing {
  /** Makes the span of a phase the active one while its handler is called. */
  readonly around: Around;
  /**
   * Wraps an enqueue in a span of the caller's trace. `act` is given the context that is to be stored
   * with the tasks; `traceParent` is what the caller wants to be the parent, where it says so itself.
   */
  enqueuing<T>(
    machine: string,
    traceParent: string | undefined,
    act: (traceParent: string | undefined) => Promise<T>,
  ): Promise<T>;
  /** The active span, as W3C writes it: stored with a run that is started here. */
  traceParent(): string | undefined;
  /** Sends what there is; takes no longer than a moment, whether anybody answers or not. */
  flush(): Promise<void>;
  /** Flushes, and listens no more. */
  stop(): Promise<void>;
}

/** What is needed for traces is not installed. */
export class TracingMissingError extends FleetqError {
  readonly code = 'FLEETQ_TRACING_MISSING';
  readonly verdict = 'abort';
  constructor(cause: unknown) {
    super(`traces need a package that cannot be loaded: ${describeError(cause).message}`, {
      cause,
      hint: 'npm install @opentelemetry/api @opentelemetry/sdk-node, or set FLEETQ_OTEL=off',
    });
  }
}

export const OTEL_VARIABLE = 'FLEETQ_OTEL';
export const DETAIL_VARIABLE = 'FLEETQ_TELEMETRY_DETAIL';

type Environment = Readonly<Record<string, string | undefined>>;

const STANDARD = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
] as const;

/** FLEETQ_OTEL says so, or one of the standard variables names where traces go. */
export function wantsTracing(env: Environment): boolean {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false;
  const said = env[OTEL_VARIABLE]?.trim().toLowerCase();
  if (said) return said === 'on' || said === 'true' || said === '1';
  if (env['OTEL_TRACES_EXPORTER']?.trim() === 'none') return false;
  return STANDARD.some((name) => Boolean(env[name]?.trim()));
}

/** The tracer that the environment asks for; undefined where it asks for none. */
export async function tracingOf(env: Environment): Promise<Tracing | undefined> {
  if (!wantsTracing(env)) return undefined;
  const { startTracing } = await loadOtel();
  return startTracing({ env });
}

async function loadOtel(): Promise<typeof import('./otel/index.ts')> {
  try {
    return await import('./otel/index.ts');
  } catch (error) {
    const { code } = error as { code?: unknown };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw isMissing ? new TracingMissingError(error) : error;
  }
}
