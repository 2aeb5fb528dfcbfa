/** What names and codes of errors mean, over the SDKs that have them. */
import type { OutcomeKind } from './outcome.ts';

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
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'TransactionInProgressException',
  // What models say in the midst of a stream, where there is no status any more.
  'rate_limit_error',
  'rate_limit_exceeded',
  'too_many_requests',
]);
const OVERLOADED = new Set(['overloaded_error']);
const TIMED_OUT = new Set([
  'ETIMEDOUT',
  // What axios says when its own time is up.
  'ECONNABORTED',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'DEADLINE_EXCEEDED',
  'TimeoutError',
  'APIConnectionTimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
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
/** By the numbers of grpc's codes; those that are not here say nothing. */
const GRPC: Readonly<Record<number, OutcomeKind>> = {
  1: 'cancelled',
  2: 'failure',
  3: 'client',
  4: 'timeout',
  5: 'client',
  6: 'client',
  7: 'client',
  8: 'throttled',
  9: 'client',
  10: 'client',
  11: 'client',
  12: 'client',
  13: 'failure',
  14: 'failure',
  15: 'failure',
  16: 'client',
};

const BILLING_CODE = /insufficient_quota|billing|payment_required/i;
/** Narrower: ordinary refusals, too, tell people to look at their "plan and billing details". */
const BILLING_MESSAGE =
  /insufficient_quota|billing_hard_limit_reached|payment_required|credit balance is too low/i;

/** That there was no room comes before all else. */
export function kindOfNames(names: readonly unknown[]): OutcomeKind | undefined {
  const has = (known: ReadonlySet<unknown>) => names.some((name) => known.has(name));
  if (has(THROTTLED)) return 'throttled';
  if (has(OVERLOADED)) return 'overload';
  if (has(TIMED_OUT)) return 'timeout';
  return has(BROKEN) ? 'failure' : undefined;
}

export function kindOfGrpc(code: unknown): OutcomeKind | undefined {
  return typeof code === 'number' ? GRPC[code] : undefined;
}

export function isBillingCode(code: unknown): boolean {
  return typeof code === 'string' && BILLING_CODE.test(code);
}

export function isBillingMessage(message: unknown): boolean {
  return typeof message === 'string' && BILLING_MESSAGE.test(message);
}
