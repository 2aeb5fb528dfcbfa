/** The trace context of whoever wanted a run, as W3C writes it: text that may come from anybody. */
import { type SpanContext, TraceFlags } from '@opentelemetry/api';

const TRACE_PARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Undefined where it is no such text: a row may have been written by hand. */
export function readTraceParent(text: string | undefined): SpanContext | undefined {
  const found = text === undefined ? null : TRACE_PARENT.exec(text);
  if (!found) return undefined;
  const [, traceId = '', spanId = '', flags = '00'] = found;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId, spanId, traceFlags, isRemote: true };
}

export function writeTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
}
