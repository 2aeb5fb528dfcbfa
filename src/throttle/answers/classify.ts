/**
 * From what a call threw or answered to what that says of the API. Looks only at shapes, since every
 * SDK has classes of its own: a status, a code, a name, headers. Whatever is thrown, this never throws.
 */
import { isBillingCode, isBillingMessage, kindOfGrpc, kindOfNames } from './error-names.ts';
import type { CallOutcome, OutcomeKind } from './outcome.ts';
import { costHintOf, type HeadersLike, rateHintOf, retryAfterMs } from './rate-headers.ts';

/** Says what a call came to; nothing where it does not know, and the default decides. */
export type Classify = (call: {
  readonly error?: unknown;
  readonly value?: unknown;
}) => CallOutcome | OutcomeKind | undefined;

const CAUSE_DEPTH_MAX = 4;
const INNER_COUNT_MAX = 3;
/** What a phase is given up with when its time is over. To its run that is no want of room. */
const PHASE_TIMEOUT = 'FLEETQ_PHASE_TIMEOUT';
const BODY_NAMES = ['status', 'type', 'code'];
const CANCELLED: readonly unknown[] = ['AbortError', 'CanceledError'];

export function classifyError(error: unknown, nowMs: number): CallOutcome {
  const outcome = meaningOf(error, nowMs, CAUSE_DEPTH_MAX);
  return outcome ?? { kind: CANCELLED.includes(read(error, 'name')) ? 'cancelled' : 'ignored' };
}

/** A call that was given up because its time was over tells as much as one that ended by itself then. */
export function kindOfAbort(reason: unknown): OutcomeKind {
  const [code, name] = [read(reason, 'code'), read(reason, 'name')];
  const isTimeout = code === PHASE_TIMEOUT || kindOfNames([code, name]) === 'timeout';
  return isTimeout ? 'timeout' : 'cancelled';
}

/** An answer that is a `Response`, or looks like one; any other value is a success. */
export function classifyAnswer(value: unknown, nowMs: number): CallOutcome {
  const status = statusOf(value);
  const headers = headersOf(value);
  if (status === undefined || headers === undefined) return { kind: 'ok' };
  return unlessBilling(outcomeOfStatus(status, headers, nowMs), value);
}

/** Of the error itself, or else of the first that caused it, or is one of several in it. */
function meaningOf(error: unknown, nowMs: number, depth: number): CallOutcome | undefined {
  const outcome = outcomeOf(error, nowMs);
  if (outcome) return unlessBilling(outcome, error);
  if (depth === 0) return undefined;
  for (const inner of innerOf(error)) {
    const found = meaningOf(inner, nowMs, depth - 1);
    if (found) return found;
  }
  return undefined;
}

function innerOf(error: unknown): unknown[] {
  const several = read(error, 'errors');
  const first = Array.from({ length: INNER_COUNT_MAX }, (_, index) => read(several, `${index}`));
  return [read(error, 'cause'), ...first].filter((inner) => inner !== undefined);
}

function outcomeOf(error: unknown, nowMs: number): CallOutcome | undefined {
  const response = read(error, 'response');
  const headers = headersOf(error) ?? headersOf(response) ?? headersOf(read(error, '$response'));
  const body = read(error, 'error');
  const status = statusOf(error) ?? statusOf(response) ?? codeOf(error) ?? codeOf(body);
  const grpc = grpcOf(error);
  if (grpc) return withHeaders({ kind: grpc }, metadataOf(error), nowMs);
  const kind = isThrottling(error) ? 'throttled' : kindOfNames(namesOf(error, body));
  // Some say 400 to both.
  if (kind === 'throttled' || kind === 'timeout') return withHeaders({ kind }, headers, nowMs);
  if (status !== undefined) return outcomeOfStatus(status, headers, nowMs);
  return kind && { kind };
}

/** Where a class does not give its errors a name, its own is one. */
function namesOf(error: unknown, body: unknown): unknown[] {
  const name = read(read(error, 'constructor'), 'name');
  const said = ['code', 'name', 'type'].map((property) => read(error, property));
  // In the midst of a stream the body of the error is all that there is.
  const inner = read(body, 'error');
  return [
    ...said,
    name,
    ...[body, inner].flatMap((one) => BODY_NAMES.map((key) => read(one, key))),
  ];
}

/** What clients of AWS say of errors that only they know. */
function isThrottling(error: unknown): boolean {
  return read(read(error, '$retryable'), 'throttling') === true;
}

function outcomeOfStatus(
  status: number,
  headers: HeadersLike | undefined,
  nowMs: number,
): CallOutcome {
  const read = withHeaders({ kind: kindOfStatus(status) }, headers, nowMs);
  return isRefusal(status, read) ? { ...read, kind: 'throttled' } : read;
}

/** Some say 503 where they have no room, and some 403, when they say how long to wait. */
function isRefusal(status: number, { kind, retryAfterMs, hint }: CallOutcome): boolean {
  if (status === 403) return retryAfterMs !== undefined || hint?.remaining === 0;
  return kind === 'overload' && retryAfterMs !== undefined;
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
    const [hint, costHint] = [rateHintOf(headers, nowMs), costHintOf(headers, nowMs)];
    return { ...outcome, retryAfterMs: waitMs, hint, costHint };
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
  return found.map((status) => statusIn(status, 100)).find((status) => status !== undefined);
}

/** Some SDKs have the status in `code`, where others have numbers of their own. */
function codeOf(error: unknown): number | undefined {
  return statusIn(read(error, 'code'), 400);
}

function statusIn(said: unknown, least: number): number | undefined {
  const status = typeof said === 'string' && /^\d{3}$/.test(said) ? Number(said) : said;
  if (typeof status !== 'number' || !Number.isInteger(status)) return undefined;
  return status >= least && status <= 599 ? status : undefined;
}

/** Numbers from 0 to 16 mean much elsewhere: only what looks like grpc's is read as grpc's. */
function grpcOf(error: unknown): OutcomeKind | undefined {
  const isGrpc = typeof read(error, 'details') === 'string' && metadataOf(error) !== undefined;
  return isGrpc ? kindOfGrpc(read(error, 'code')) : undefined;
}

function metadataOf(error: unknown): HeadersLike | undefined {
  const metadata = read(error, 'metadata');
  return typeof metadata === 'object' && metadata !== null ? (metadata as HeadersLike) : undefined;
}

function headersOf(value: unknown): HeadersLike | undefined {
  const headers = read(value, 'headers') ?? read(value, 'responseHeaders');
  return typeof headers === 'object' && headers !== null ? (headers as HeadersLike) : undefined;
}

/** A bill that was not paid looks like a rate limit, and no waiting changes it. */
function unlessBilling(outcome: CallOutcome, said: unknown): CallOutcome {
  if (outcome.kind !== 'throttled') return outcome;
  const body = read(said, 'error');
  const data = read(said, 'data') ?? read(read(said, 'response'), 'data');
  const isBilling = [said, body, read(body, 'error'), data, read(data, 'error')].some(
    (part) =>
      isBillingCode(read(part, 'code')) ||
      isBillingCode(read(part, 'type')) ||
      isBillingMessage(read(part, 'message')),
  );
  return isBilling ? { kind: 'client' } : outcome;
}

/** What was thrown is others', and so are its getters. */
function read(from: unknown, property: string): unknown {
  if (Object(from) !== from) return undefined;
  try {
    return (from as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}
