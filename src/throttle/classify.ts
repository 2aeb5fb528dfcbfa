/**
 * From what a call threw or answered to what that says of the API. Looks only at shapes, since every
 * SDK has classes of its own: a status, a code, a name, headers. Whatever is thrown, this never throws.
 */
import type { CallOutcome, OutcomeKind } from './outcome.ts';
import { type HeadersLike, rateHintOf, retryAfterMs } from './rate-headers.ts';

/** Says what a call came to; nothing where it does not know, and the default decides. */
export type Classify = (call: {
  readonly error?: unknown;
  readonly value?: unknown;
}) => CallOutcome | OutcomeKind | undefined;

const THROTTLED = new Set([
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'RESOURCE_EXHAUSTED',
]);
const TIMED_OUT = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'DEADLINE_EXCEEDED',
  'TimeoutError',
  'APIConnectionTimeoutError',
]);
const BROKEN = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UNAVAILABLE',
]);
/** A bill that was not paid looks like a rate limit, and no waiting changes it. */
const BILLING = /insufficient_quota|billing|payment_required/i;

const CAUSE_COUNT_MAX = 4;

export function classifyError(error: unknown, nowMs: number): CallOutcome {
  let found = error;
  for (let depth = 0; depth <= CAUSE_COUNT_MAX; depth++) {
    const outcome = outcomeOf(found, nowMs);
    if (outcome) return outcome;
    found = read(found, 'cause');
    if (found === undefined) break;
  }
  return { kind: read(error, 'name') === 'AbortError' ? 'cancelled' : 'ignored' };
}

/** An answer that is a `Response`, or looks like one; any other value is a success. */
export function classifyAnswer(value: unknown, nowMs: number): CallOutcome {
  const status = statusOf(value);
  const headers = headersOf(value);
  if (status === undefined || headers === undefined) return { kind: 'ok' };
  return outcomeOfStatus(status, headers, nowMs);
}

function outcomeOf(error: unknown, nowMs: number): CallOutcome | undefined {
  const headers = headersOf(error) ?? headersOf(read(error, 'response'));
  const status = statusOf(error) ?? statusOf(read(error, 'response'));
  const names = [read(error, 'code'), read(error, 'name'), read(error, 'type')];
  if (status === 429 && isBilling(error)) return { kind: 'client' };
  if (names.some((name) => THROTTLED.has(name as string))) {
    return withHeaders({ kind: 'throttled' }, headers, nowMs);
  }
  if (status !== undefined) return outcomeOfStatus(status, headers, nowMs);
  if (names.some((name) => TIMED_OUT.has(name as string))) return { kind: 'timeout' };
  if (names.some((name) => BROKEN.has(name as string))) return { kind: 'failure' };
  return undefined;
}

function outcomeOfStatus(
  status: number,
  headers: HeadersLike | undefined,
  nowMs: number,
): CallOutcome {
  const read = withHeaders({ kind: kindOfStatus(status) }, headers, nowMs);
  const isRefusal = read.kind === 'overload' && read.retryAfterMs !== undefined;
  return isRefusal ? { ...read, kind: 'throttled' } : read;
}

function kindOfStatus(status: number): OutcomeKind {
  if (status < 400) return 'ok';
  if (status === 429) return 'throttled';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 503 || status === 529) return 'overload';
  return status >= 500 ? 'failure' : 'client';
}

function withHeaders(
  outcome: CallOutcome,
  headers: HeadersLike | undefined,
  nowMs: number,
): CallOutcome {
  if (!headers) return outcome;
  try {
    const waitMs = outcome.kind === 'ok' ? undefined : retryAfterMs(headers, nowMs);
    return { ...outcome, retryAfterMs: waitMs, hint: rateHintOf(headers, nowMs) };
  } catch {
    return outcome;
  }
}

function statusOf(value: unknown): number | undefined {
  const metadata = read(value, '$metadata');
  const found = [
    read(value, 'status'),
    read(value, 'statusCode'),
    read(metadata, 'httpStatusCode'),
  ];
  return found.find(
    (status): status is number =>
      Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599,
  );
}

function headersOf(value: unknown): HeadersLike | undefined {
  const headers = read(value, 'headers') ?? read(value, 'responseHeaders');
  return typeof headers === 'object' && headers !== null ? (headers as HeadersLike) : undefined;
}

function isBilling(error: unknown): boolean {
  const said = [read(error, 'code'), read(error, 'type'), read(error, 'message')];
  return said.some((text) => typeof text === 'string' && BILLING.test(text));
}

/** What was thrown is others', and so are its getters. */
function read(from: unknown, property: string): unknown {
  if (typeof from !== 'object' || from === null) return undefined;
  try {
    return (from as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}
