/** What errors and answers say of an API, whatever SDK they come from. */
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { classifyAnswer, classifyError } from '../../src/throttle/answers/classify.ts';
import { costHintOf, rateHintOf, retryAfterMs } from '../../src/throttle/answers/rate-headers.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
afterEach(() => {
  vi.unstubAllEnvs();
});
const error = (of: object) => Object.assign(new Error('no'), of);

test.each([
  [{ status: 429 }, 'throttled'],
  [{ statusCode: 429 }, 'throttled'],
  [{ $metadata: { httpStatusCode: 429 } }, 'throttled'],
  [{ name: 'ThrottlingException' }, 'throttled'],
  [{ name: 'EC2ThrottledException', $metadata: { httpStatusCode: 400 } }, 'throttled'],
  [
    { name: 'Odd', $retryable: { throttling: true }, $metadata: { httpStatusCode: 400 } },
    'throttled',
  ],
  [{ name: 'Odd', $retryable: {}, $metadata: { httpStatusCode: 400 } }, 'client'],
  [{ name: 'RequestTimeout', $metadata: { httpStatusCode: 400 } }, 'timeout'],
  [{ code: 'RESOURCE_EXHAUSTED' }, 'throttled'],
  [{ response: { status: 503, headers: { 'Retry-After': '3' } } }, 'throttled'],
  [{ status: 503 }, 'overload'],
  // As SDKs throw it in the midst of a stream.
  [{ error: { type: 'error', error: { type: 'overloaded_error' } } }, 'overload'],
  [{ error: { type: 'error', error: { type: 'rate_limit_error' } } }, 'throttled'],
  [{ code: 'rate_limit_exceeded', type: 'tokens' }, 'throttled'],
  [{ error: { code: 'rate_limit_exceeded' } }, 'throttled'],
  [{ status: 403, headers: { 'retry-after': '60' } }, 'throttled'],
  [
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1893456060' } },
    'throttled',
  ],
  [{ status: 403, headers: { 'x-ratelimit-remaining': '7' } }, 'client'],
  [{ status: 529 }, 'overload'],
  [{ status: 504 }, 'timeout'],
  [{ code: 'ETIMEDOUT' }, 'timeout'],
  [{ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }, 'timeout'],
  [{ status: 500 }, 'failure'],
  [{ code: 'ECONNRESET' }, 'failure'],
  [{ status: 400 }, 'client'],
  [{ status: 429, code: 'insufficient_quota' }, 'client'],
  [{ status: 429, error: { code: 'insufficient_quota' } }, 'client'],
  [{ status: 429, error: { error: { type: 'billing_not_active' } } }, 'client'],
  [{ code: 429, error: { code: 'billing_hard_limit_reached' } }, 'client'],
  [{ response: { status: 429, data: { error: { code: 'insufficient_quota' } } } }, 'client'],
  [{ status: 429, error: { message: 'Your credit balance is too low to …' } }, 'client'],
  [{ status: 429, message: 'Check your plan and billing details.' }, 'throttled'],
  [{ status: '429' }, 'throttled'],
  [{ code: 429 }, 'throttled'],
  [{ code: '503' }, 'overload'],
  [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 'throttled'],
  [{ name: 'AxiosError', code: 'ECONNABORTED' }, 'timeout'],
  [{ name: 'AxiosError', code: 'ETIMEDOUT' }, 'timeout'],
  [{ name: 'CanceledError', code: 'ERR_CANCELED' }, 'cancelled'],
  [{ errors: [{}, { code: 'ECONNREFUSED' }, { status: 429 }] }, 'failure'],
  [{ cause: { errors: [{ cause: { code: 'ETIMEDOUT' } }] } }, 'timeout'],
  [{ name: 'AbortError' }, 'cancelled'],
  [{}, 'ignored'],
] as const)('%j means %s', (of, kind) => {
  expect(classifyError(error(of), NOW).kind).toBe(kind);
});

test.each([
  [8, 'throttled'],
  [14, 'failure'],
  [13, 'failure'],
  [4, 'timeout'],
  [1, 'cancelled'],
  [3, 'client'],
  [5, 'client'],
  [7, 'client'],
  [16, 'client'],
  [99, 'ignored'],
] as const)('the code %s of grpc means %s, and of another SDK nothing', (code, kind) => {
  const metadata = { get: (name: string) => (name === 'retry-after' ? ['3'] : []) };
  expect(classifyError(error({ code, details: 'no', metadata }), NOW).kind).toBe(kind);
  expect(classifyError(error({ code }), NOW).kind).toBe('ignored');
  expect(classifyError(error({ code, details: { limit: 1 }, metadata }), NOW).kind).toBe('ignored');
});

test('a class that gives its errors no name is known by its own', () => {
  class APIConnectionTimeoutError extends Error {}
  expect(classifyError(new APIConnectionTimeoutError('late'), NOW).kind).toBe('timeout');
  class SomethingElse extends Error {}
  expect(classifyError(new SomethingElse('no'), NOW).kind).toBe('ignored');
});

test('what grpc sends beside a refusal is read as headers are', () => {
  const metadata = { get: (name: string) => (name === 'retry-after' ? ['3'] : []) };
  const refused = error({ code: 8, details: 'Quota exceeded', metadata });
  expect(classifyError(refused, NOW)).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 });
});

test('an answer that an unpaid bill refused is no refusal for want of room', () => {
  const data = { error: { code: 'insufficient_quota' } };
  expect(classifyAnswer({ status: 429, headers: {}, data }, NOW).kind).toBe('client');
});

test('an answer is read by its status and its headers, any other value is a success', () => {
  const refused = new Response('', { status: 429, headers: { 'retry-after': '7' } });
  expect(classifyAnswer(refused, NOW)).toMatchObject({ kind: 'throttled', retryAfterMs: 7_000 });
  expect(classifyAnswer(new Response('ok'), NOW).kind).toBe('ok');
  expect(classifyAnswer({ status: 'paid' }, NOW).kind).toBe('ok');
  expect(classifyAnswer(undefined, NOW).kind).toBe('ok');
});

test.each([
  ['0', 0],
  ['1.5', 1_500],
  ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
  ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
  ['40000', 40_000_000],
  ['99999999', 86_400_000],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  ['NaN', undefined],
])('Retry-After %j is %s ms', (text, ms) => {
  expect(retryAfterMs({ 'Retry-After': text }, NOW)).toBe(ms);
});

test('Retry-After in milliseconds comes before the one in seconds', () => {
  expect(retryAfterMs({ 'retry-after-ms': '250', 'retry-after': '1' }, NOW)).toBe(250);
});

test.each(['-1', 'soon', ''])('Retry-After in milliseconds of %j hides no other', (text) => {
  expect(retryAfterMs({ 'retry-after-ms': text, 'retry-after': '30' }, NOW)).toBe(30_000);
});

test('times are meant by the clock of whoever answers, where it tells what that says', () => {
  const date = 'Tue, 01 Jan 2030 01:00:00 GMT';
  const at = 'Tue, 01 Jan 2030 01:00:10 GMT';
  expect(retryAfterMs({ date, 'retry-after': at }, NOW)).toBe(10_000);
  expect(retryAfterMs({ Date: 'noon', 'retry-after': at }, NOW)).toBe(3_610_000);
  expect(retryAfterMs({ date, 'retry-after': '7' }, NOW)).toBe(7_000);
  const epoch = `${Date.parse(at) / 1_000}`;
  const hint = { date, 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': epoch };
  expect(rateHintOf(hint, NOW)?.resetMs).toBe(10_000);
  const costHint = {
    date,
    'anthropic-ratelimit-tokens-remaining': '1',
    'anthropic-ratelimit-tokens-reset': '2030-01-01T01:00:10Z',
  };
  expect(costHintOf(costHint, NOW)?.resetMs).toBe(10_000);
});

test('dates are in UTC, wherever the process is', () => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(new Date(NOW).getTimezoneOffset()).toBe(300);
  for (const form of [
    'Tue, 01 Jan 2030 00:00:30 GMT',
    'Tuesday, 01-Jan-30 00:00:30 GMT',
    'Tue Jan  1 00:00:30 2030',
    'Tue, 01 Jan 2030 00:00:30',
    'Tue, 01 Jan 2030 01:00:30 +0100',
  ]) {
    expect(retryAfterMs({ 'retry-after': form }, NOW), form).toBe(30_000);
  }
  const reset = { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '2030-01-01T00:00:30' };
  expect(rateHintOf(reset, NOW)?.resetMs).toBe(30_000);
});

test.each([
  [{ 'x-ratelimit-remaining': '10', 'x-ratelimit-reset': '20' }, 10, 20_000],
  [{ 'X-RateLimit-Remaining': '10', 'X-RateLimit-Reset': `${NOW / 1_000 + 30}` }, 10, 30_000],
  [{ 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '6m0s' }, 5, 360_000],
  [{ 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '20ms' }, 5, 20],
  [
    {
      'anthropic-ratelimit-requests-remaining': '3',
      'anthropic-ratelimit-requests-reset': '2030-01-01T00:01:00Z',
    },
    3,
    60_000,
  ],
  [{ 'ratelimit-remaining': '10', 'ratelimit-reset': '20' }, 10, 20_000],
  [{ RateLimit: '"default";r=50;t=30' }, 50, 30_000],
  [{ RateLimit: 'limit=100, remaining=5, reset=30' }, 5, 30_000],
  [{ RateLimit: '"hour";r=900;t=3600, "second";r=2;t=1, "odd"' }, 900, 3_600_000],
  [{ RateLimit: '"all";r=5', 'RateLimit-Policy': '"all";q=10;w=60' }, 5, 60_000],
  [
    {
      RateLimit: '"bytes";r=0;t=9, "calls";r=5;t=9',
      'RateLimit-Policy': '"bytes";q=9;qu="content-bytes";w=60, "calls";q=9;w=60',
    },
    5,
    9_000,
  ],
] as const)('%j leaves room for some calls', (headers, remaining, resetMs) => {
  expect(rateHintOf(headers, NOW)).toEqual({ remaining, resetMs });
});

test.each([
  { 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '0' },
  { 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '-3' },
  { 'x-ratelimit-remaining': '', 'x-ratelimit-reset': '1' },
  { 'x-ratelimit-remaining': '5' },
  { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' },
  { ratelimit: '"default";r=-1;t=30' },
  { ratelimit: '"default";r=5;t=0' },
  { ratelimit: '"default";r=5' },
  { ratelimit: '"default"' },
])('%j says nothing', (headers) => {
  expect(rateHintOf(headers, NOW)).toBeUndefined();
});

test.each([
  [{ 'X-RateLimit-Remaining-Tokens': '149984', 'X-RateLimit-Reset-Tokens': '6ms' }, 149_984, 6],
  [
    {
      'anthropic-ratelimit-tokens-remaining': '2000',
      'anthropic-ratelimit-tokens-reset': '2030-01-01T00:01:00Z',
    },
    2_000,
    60_000,
  ],
] as const)('%j leaves room for some tokens', (headers, remaining, resetMs) => {
  expect(costHintOf(headers, NOW)).toEqual({ remaining, resetMs });
  expect(costHintOf({ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '1' }, NOW)).toBe(
    undefined,
  );
  const { costHint, hint } = classifyAnswer({ status: 200, headers }, NOW);
  expect([costHint, hint]).toEqual([{ remaining, resetMs }, undefined]);
});

test('whatever is thrown or answered, it is classified', () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('not for you');
      },
    },
  );
  expect(classifyError(hostile, NOW).kind).toBe('ignored');
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const round: Record<string, unknown> = {};
  Object.assign(round, { cause: round, errors: [round, hostile, revoked], error: round });
  for (const odd of [round, revoked, { errors: hostile }, { error: revoked, errors: revoked }]) {
    expect(classifyError(odd, NOW).kind).toBe('ignored');
  }
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      expect(typeof classifyError(thrown, NOW).kind).toBe('string');
      expect(typeof classifyAnswer(thrown, NOW).kind).toBe('string');
    }),
  );
});

test('headers are never read as something that cannot be', () => {
  const text = fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String));
  fc.assert(
    fc.property(text, text, (one, other) => {
      const ms = retryAfterMs({ 'retry-after': one }, NOW);
      expect(ms === undefined || (ms >= 0 && ms <= 86_400_000)).toBe(true);
      const hint = rateHintOf({ 'x-ratelimit-remaining': one, 'x-ratelimit-reset': other }, NOW);
      expect(hint === undefined || (hint.remaining >= 0 && hint.resetMs > 0)).toBe(true);
      const field = { ratelimit: `"a";r=${one};t=${other}`, 'ratelimit-policy': one };
      const said = rateHintOf(field, NOW);
      expect(said === undefined || (said.remaining >= 0 && said.resetMs > 0)).toBe(true);
    }),
  );
});

test('what clients of AWS are told to wait is read where they keep it', () => {
  const $response = { statusCode: 429, headers: { 'retry-after': '7' } };
  const outcome = classifyError(error({ name: 'ThrottlingException', $response }), NOW);
  expect(outcome).toMatchObject({ kind: 'throttled', retryAfterMs: 7_000 });
});
