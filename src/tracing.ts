/** A fleet's tracer: the one it was given, the one that the environment asks for, or none. */
import type { Around } from './engine/index.ts';
import { type Tracing, tracingOf } from './telemetry/tracing.ts';

export interface FleetTracing extends Omit<Tracing, 'stop'> {
  /** Sends what there is, and lets go of it where it was the environment that asked for it. */
  end(): Promise<void>;
}

interface Wish {
  readonly tracing?: Tracing | false | undefined;
}

export async function tracingFor({ tracing }: Wish): Promise<FleetTracing | undefined> {
  if (tracing === false) return undefined;
  if (tracing) return { ...tracing, end: () => tracing.flush() };
  const own = await tracingOf(process.env);
  return own && { ...own, end: () => own.stop() };
}

/** What the program wraps around a phase is inside its span. */
export function aroundOf(
  around: Around | undefined,
  tracing: Pick<Tracing, 'around'> | undefined,
): Around | undefined {
  if (!around || !tracing) return around ?? tracing?.around;
  return (of, call) => tracing.around(of, () => around(of, call));
}

/** Enqueues with the context of a span of its own, or with the one that the caller has given. */
export function enqueueTraced<T>(
  tracing: Pick<Tracing, 'enqueuing'> | undefined,
  machine: string,
  traceParent: string | undefined,
  act: (traceParent: string | undefined) => Promise<T>,
): Promise<T> {
  return tracing ? tracing.enqueuing(machine, traceParent, act) : act(traceParent);
}
