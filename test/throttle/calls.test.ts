/** What a call came to is told of the API that it was a call of, and of nobody else; and once. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine } from '../../src/index.ts';
import { postponementOf } from '../../src/throttle/answers/postponement.ts';
import { ThrottleOptionsError, ThrottleRefusedError } from '../../src/throttle/errors.ts';
import { Throttles } from '../../src/throttle/index.ts';
import type { ThrottleOptions } from '../../src/throttle/policy.ts';
import { defineThrottle } from '../../src/throttle/throttles.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { anyInput } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function stageOf(options: ThrottleOptions = {}) {
  const clock = new FakeClock();
  const throttles = new Throttles({
    clock,
    random: seededRandom(1),
    throttles: [defineThrottle('api', options)],
  });
  return { clock, throttles, handle: throttles.of('api', { isRetry: false, refusals: 0 }) };
}

test.each(['use', 'fetch'] as const)(
  'a call that heeds its signal when the time of its phase is over has timed out, by %s; that costs an attempt',
  async (verb) => {
    const url = await serve(() => undefined);
    const machine = defineMachine({
      name: 'caller',
      version: 1,
      input: anyInput,
      check: 'none',
      timeout: { work: 100 },
      retry: { attemptMax: 2, backoff: () => 1 },
      work: ({ use, throttle, signal }) =>
        verb === 'use'
          ? use('api', async () => (await fetch(url, { signal })).status)
          : throttle('api')
              .fetch(url)
              .then(({ status }) => status),
    });
    const fleet = await createFleet({ machines: [machine], dataDir: newDir(), socket: false });
    ends.push(() => fleet.stopNow());
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toThrow();
    const { ended, inFlight } = fleet.throttle('api').snapshot();
    expect({ timeout: ended.timeout, cancelled: ended.cancelled, inFlight }).toEqual({
      timeout: 2,
      cancelled: 0,
      inFlight: 0,
    });
  },
);

test("a timeout of the call's own costs no attempt", async () => {
  let asked = 0;
  const url = await serve((_, response) => {
    if (++asked > 1) response.end();
  });
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    retry: { attemptMax: 1 },
    work: async ({ throttle }) => {
      const signal = asked === 0 ? AbortSignal.timeout(50) : null;
      return (await throttle('api').fetch(url, { signal })).status;
    },
  });
  const fleet = await createFleet({ machines: [machine], dataDir: newDir(), socket: false });
  ends.push(() => fleet.stopNow());
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toBe(200);
  expect(fleet.throttle('api').snapshot().ended).toMatchObject({ timeout: 1, ok: 1 });
});

test('a call that others gave up says nothing', async () => {
  const { handle } = stageOf();
  const late = new AbortController();
  const call = handle.use(
    () =>
      new Promise((_, reject) => {
        late.signal.addEventListener('abort', () => reject(late.signal.reason));
      }),
    { signal: late.signal },
  );
  await Promise.resolve();
  late.abort(new Error('nobody wants it'));
  await expect(call).rejects.toThrow('nobody wants it');
  expect(handle.snapshot().ended).toMatchObject({ cancelled: 1, timeout: 0 });
});

test('use calls nothing for a phase that is over', async () => {
  const { clock, throttles } = stageOf({ limits: { inFlight: 1 } });
  let isOver = false;
  const phase = { isRetry: false, refusals: 0, isOver: () => isOver };
  const first = throttles.of('api', phase).tryAcquire()!;
  let calls = 0;
  const waiting = throttles.of('api', phase).use(() => ++calls);
  isOver = true;
  first.release('ok');
  await expect(waiting).rejects.toThrow('gave up waiting');
  await clock.advance(10);
  expect(calls).toBe(0);
  expect(throttles.of('api', phase).snapshot().inFlight).toBe(0);
});

const REFUSED = { status: 429, headers: { 'retry-after': '3600' } };
test.each([
  ['answered', () => REFUSED],
  ['thrown', () => Promise.reject(Object.assign(new Error('no room'), REFUSED))],
])('what an inner API had no room for is not told of the outer one: %s', async (_, call) => {
  const { throttles, handle: outer } = stageOf();
  const inner = throttles.of('model', { isRetry: false, refusals: 0 });
  const nested = outer.use(() => inner.use(call as () => unknown));
  expect(postponementOf(await nested.catch((error: unknown) => error))?.api).toBe('model');
  expect(outer.snapshot()).toMatchObject({ pausedMs: 0, ended: { throttled: 0, ignored: 1 } });
  expect(inner.snapshot().ended.throttled).toBe(1);
});

test('nor twice of one API', async () => {
  const { handle } = stageOf();
  const nested = handle.use(() => handle.use(() => ({ status: 429, headers: {} })));
  await expect(nested).rejects.toThrow(ThrottleRefusedError);
  expect(handle.snapshot().ended).toMatchObject({ throttled: 1, ignored: 1 });
});

test('of several that had no room, the one that is soonest back says when to try again', async () => {
  const { throttles, handle: one } = stageOf();
  const other = throttles.of('model', { isRetry: false, refusals: 0 });
  const refused = (seconds: number) => () => ({
    status: 429,
    headers: { 'retry-after': `${seconds}` },
  });
  const wrong = Promise.reject(new Error('wrong'));
  const any = Promise.any([wrong, one.use(refused(600)), other.use(refused(60))]);
  const thrown = await any.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(AggregateError);
  expect(postponementOf(thrown)).toMatchObject({ api: 'model', isRefusal: true });
  expect(postponementOf(new Error('none of them', { cause: thrown }))?.api).toBe('model');
});

test('errors may be inside of themselves', () => {
  const errors: unknown[] = [];
  const thrown = new AggregateError([]);
  errors.push(...Array.from({ length: 1_000 }, () => thrown));
  expect(postponementOf(Object.assign(thrown, { errors, cause: thrown }))).toBeUndefined();
  const hostile = Object.defineProperty(new Error('x', { cause: REFUSED }), 'errors', {
    get: () => expect.unreachable(),
  });
  expect(postponementOf(hostile)).toBeUndefined();
});

test('an answer that breaks off is none', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('begun', () => response.destroy());
  });
  const { handle } = stageOf();
  const response = await handle.fetch(url);
  await expect(response.text()).rejects.toThrow();
  expect(handle.snapshot()).toMatchObject({ inFlight: 0, ended: { ok: 0, failure: 1 } });
});

test('an answer whose body nobody reads counts as what its status says', async () => {
  const url = await serve((request, response) => {
    response.writeHead(Number(request.url!.slice(1)));
    // The body goes on for longer than its phase does.
    response.write('begun');
  });
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: z.object({ status: z.number() }),
    check: 'none',
    retry: { attemptMax: 1 },
    work: async ({ input, throttle }) => {
      const { ok, status } = await throttle('api').fetch(`${url}${input.status}`);
      if (!ok) throw new Error(`it answered ${status}`);
      return status;
    },
  });
  const fleet = await createFleet({ machines: [machine], dataDir: newDir(), socket: false });
  ends.push(() => fleet.stopNow());
  for (const status of [200, 404, ...Array.from({ length: 8 }, () => 500)]) {
    const run = await fleet.startLocal(machine, { status });
    await run.result().catch(() => undefined);
  }
  expect(fleet.throttle('api').snapshot()).toMatchObject({
    inFlight: 0,
    breaker: 'open',
    state: expect.stringMatching(/left alone/),
    last60s: { failed: 8 },
    ended: { ok: 1, client: 1, failure: 8, ignored: 0 },
  });
});

test('an answer may have any words beside its status', async () => {
  const url = await serve((request, response) => {
    const status = request.url === '/full' ? '429' : '200';
    response.socket!.end(`HTTP/1.1 ${status} 成功\r\ncontent-length: 2\r\n\r\nok`);
  });
  const { handle } = stageOf();
  const plain = await fetch(url);
  const response = await handle.fetch(url);
  expect(response.statusText).toBe(plain.statusText);
  expect(await response.text()).toBe('ok');
  await expect(handle.fetch(`${url}full`)).rejects.toThrow(ThrottleRefusedError);
});

test('what is thrown may be no object: it costs no attempt all the same', async () => {
  const { handle } = stageOf({
    classify: ({ error }) => (error === 'full' ? 'throttled' : undefined),
  });
  const thrown = await handle.use(() => Promise.reject('full')).catch((error: unknown) => error);
  expect(postponementOf(thrown)).toMatchObject({ api: 'api', isRefusal: true });
  expect((thrown as ThrottleRefusedError).answer).toBe('full');
  await expect(handle.use(() => Promise.reject('wrong'))).rejects.toBe('wrong');
});

test('a signal has to be one', async () => {
  const { handle } = stageOf();
  const wanted = 'signal must be an AbortSignal, got "soon"';
  await expect(handle.use(() => 1, { signal: 'soon' as never })).rejects.toThrow(wanted);
  const url = 'http://127.0.0.1:1/';
  const [right, wrong] = [{ signal: new AbortController().signal }, { signal: 'soon' as never }];
  await expect(handle.fetch(url, wrong)).rejects.toThrow(wanted);
  await expect(handle.fetch(url, right, wrong)).rejects.toThrow(wanted);
  await expect(handle.fetch(url, wrong, right)).rejects.toThrow(wanted);
  await expect(handle.fetch(url, right, 'high' as never)).rejects.toThrow(ThrottleOptionsError);
});

test('an API that only ever answers that nothing was found has its limit found out', async () => {
  const clock = new FakeClock();
  const all = new Throttles({ clock, random: seededRandom(1) });
  const api = all.of('lookups', { isRetry: false, refusals: 0 });
  let isOver = false;
  const keepCalling = async () => {
    while (!isOver) {
      await api.use(() => {
        const answer = new Response(null, { status: 404 });
        return new Promise((resolve) => clock.after(200, () => resolve(answer)));
      });
    }
  };
  for (let count = 0; count < 60; count++) void keepCalling();
  for (let tick = 0; tick < 1_200; tick++) await clock.advance(50);
  expect(api.snapshot()).toMatchObject({ inFlight: 60 });
  isOver = true;
  await clock.advance(1_000);
});
