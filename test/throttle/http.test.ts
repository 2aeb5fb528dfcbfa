/** Real calls over loopback to an API of known capacity, from real runs and from outside of any. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createFleet, defineMachine, defineThrottle, type Fleet } from '../../src/index.ts';
import { FakeApi, type FakeApiOptions } from '../support/fake-api.ts';
import { anyInput } from '../support/fleets.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startApi(options: FakeApiOptions): Promise<FakeApi> {
  const api = await FakeApi.start(options);
  ends.push(() => api.stop());
  return api;
}

const caller = (url: string) =>
  defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    // One attempt: a run whose refusals were counted would fail.
    retry: { attemptMax: 1 },
    work: async ({ throttle }) => (await throttle('api').fetch(url)).status,
  });

async function startFleet(url: string, options: Parameters<typeof defineThrottle>[1] = {}) {
  const machine = caller(url);
  const throttles = [defineThrottle('api', options)];
  const fleet = await createFleet({
    machines: [machine],
    throttles,
    dataDir: newDir(),
    socket: false,
  });
  ends.push(() => fleet.stopNow());
  return { fleet, machine };
}

async function runAll(fleet: Fleet, machine: ReturnType<typeof caller>, count: number) {
  const runs = await Promise.all(
    Array.from({ length: count }, () => fleet.startLocal(machine, {})),
  );
  return Promise.all(runs.map((run) => run.result()));
}

test.each([
  { kind: 'inflight', capacity: 4, latencyMs: 30 },
  { kind: 'quota', capacity: 60, latencyMs: 30 },
  { kind: 'queueing', capacity: 4, latencyMs: 30 },
  { kind: 'charging', capacity: 60, latencyMs: 30 },
  { kind: 'quota', capacity: 60, latencyMs: 30, hasHeaders: true },
] as const)(
  'every run gets its answer in its one attempt: $kind',
  { timeout: 180_000 },
  async (of) => {
    const api = await startApi(of);
    const { fleet, machine } = await startFleet(api.url, { adaptive: true });
    const answers = await runAll(fleet, machine, 100);
    expect(answers).toEqual(Array.from({ length: 100 }, () => 200));
    expect(api.answered).toBe(100);
    // Permits cool and the brake holds: nothing like the dozens of refusals for every answer.
    expect(api.refused).toBeLessThan(100);
    expect(fleet.throttle('api').snapshot()).toMatchObject({ inFlight: 0, waiting: 0 });
  },
);

test('the permit is held until the body has been read', async () => {
  const api = await startApi({ kind: 'inflight', capacity: 10, padding: 5_000_000 });
  const { fleet } = await startFleet(api.url);
  const throttle = fleet.throttle('api');
  const response = await throttle.fetch(api.url);
  expect(throttle.snapshot().inFlight).toBe(1);
  expect(response.url).toBe(api.url);
  expect(await response.json()).toMatchObject({ status: 200 });
  expect(throttle.snapshot().inFlight).toBe(0);
  const unread = await throttle.fetch(api.url);
  await unread.body?.cancel();
  expect(throttle.snapshot().inFlight).toBe(0);
});

test('a refusal is thrown with the answer, and other answers are for the caller to judge', async () => {
  const api = await startApi({ kind: 'inflight', capacity: 10, retryAfter: '3' });
  const { fleet } = await startFleet(api.url);
  api.answersAll = 404;
  expect((await fleet.throttle('api').fetch(api.url)).status).toBe(404);
  api.answersAll = 429;
  const refused = fleet.throttle('api').fetch(api.url);
  await expect(refused).rejects.toMatchObject({ code: 'FLEETQ_THROTTLE_REFUSED', status: 429 });
  const error: { readonly delayMs: number } = await refused.then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error.delayMs).toBeGreaterThanOrEqual(3_000);
  expect(error.delayMs).toBeLessThanOrEqual(3_600);
});

test('so it is with what use is given: a refusal costs no attempt and is not handed on', async () => {
  const api = await startApi({ kind: 'inflight', capacity: 10, retryAfter: '3' });
  const byValue = defineThrottle('byValue', {
    classify: ({ value }) =>
      (value as { busy?: true } | undefined)?.busy
        ? { kind: 'throttled', retryAfterMs: 2_000 }
        : undefined,
  });
  let calls = 0;
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    retry: { attemptMax: 1 },
    work: async ({ use }) => {
      const own = await use('byValue', () => (++calls === 1 ? { busy: true } : { calls }));
      const answer = await use('api', () => fetch(api.url));
      return [own, answer.status];
    },
  });
  const options = { dataDir: newDir(), socket: false } as const;
  const fleet = await createFleet({ machines: [machine], throttles: [byValue], ...options });
  ends.push(() => fleet.stopNow());
  const throttle = fleet.throttle('api');
  api.answersAll = 404;
  expect((await throttle.use(() => fetch(api.url))).status).toBe(404);
  api.answersAll = 429;
  const refused = throttle.use(() => fetch(api.url));
  await expect(refused).rejects.toMatchObject({ code: 'FLEETQ_THROTTLE_REFUSED', status: 429 });
  const { delayMs } = (await refused.catch((error: unknown) => error)) as { delayMs: number };
  // As long as it said, and up to 5 s more: all who were told the same would come back at once.
  expect(delayMs).toBeGreaterThanOrEqual(3_000);
  expect(delayMs).toBeLessThanOrEqual(8_000);
  api.answersAll = undefined;
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toEqual([{ calls: 2 }, 200]);
  const records = fleet.events(run.id).map(({ event }) => event.type);
  expect(records).toContain('POSTPONED');
  expect(records).not.toContain('FAILED');
  expect(throttle.snapshot()).toMatchObject({ inFlight: 0, ended: { throttled: 1 } });
});

test('fetch is as it is without a permit: any status, and a request with its own signal', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/odd') response.writeHead(999).end('odd');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { fleet } = await startFleet(url);
  const throttle = fleet.throttle('api');
  const odd = await throttle.fetch(`${url}/odd`);
  expect([odd.status, odd.ok, await odd.text()]).toEqual([999, false, 'odd']);

  for (const giveUp of ['request', 'init', 'options'] as const) {
    const stop = new AbortController();
    const { signal } = stop;
    const call =
      giveUp === 'request'
        ? throttle.fetch(new Request(url, { signal }))
        : throttle.fetch(
            url,
            giveUp === 'init' ? { signal } : {},
            giveUp === 'init' ? {} : { signal },
          );
    setTimeout(() => stop.abort(new Error('mine')), 20);
    await expect(call).rejects.toThrow('mine');
  }
  expect(throttle.snapshot()).toMatchObject({ inFlight: 0, ended: { cancelled: 3, ignored: 0 } });
});

test('a call that is given up gives its permit back', async () => {
  const api = await startApi({ kind: 'queueing', capacity: 1, latencyMs: 60_000 });
  const { fleet } = await startFleet(api.url, { limits: { inFlight: 1 } });
  const controller = new AbortController();
  const throttle = fleet.throttle('api');
  const call = throttle.fetch(api.url, { signal: controller.signal });
  const waits = throttle.fetch(api.url, {}, { signal: controller.signal });
  await expect.poll(() => api.asked, { timeout: 90_000 }).toBe(1);
  expect(throttle.snapshot()).toMatchObject({ inFlight: 1, waiting: 1 });
  controller.abort(new Error('enough'));
  await expect(call).rejects.toThrow();
  await expect(waits).rejects.toMatchObject({ code: 'FLEETQ_PERMIT_ABORTED' });
  expect(throttle.snapshot()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test('a refused call keeps no connection, and its body can still be read', async () => {
  let connections = 0;
  const server = createServer((_, response) => response.writeHead(429).end('x'.repeat(30_000)));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const { fleet } = await startFleet(url);
  const bodies: string[] = [];
  // Kept, as whoever logs errors keeps them: nothing is collected that would close what is open.
  const errors: { readonly response: Response }[] = [];
  for (let count = 0; count < 6; count++) {
    const error = await fleet
      .throttle('api')
      .fetch(url)
      .catch((thrown) => thrown);
    errors.push(error);
    if (count === 0) bodies.push(await error.response.text());
    await vi.waitFor(async () => expect(fleet.throttle('api').snapshot().cooling).toBe(0), 60_000);
  }
  expect(bodies[0]).toHaveLength(30_000);
  expect(errors).toHaveLength(6);
  expect(connections).toBeLessThanOrEqual(2);
});

test('a classify that reads the answer keeps no permit, and the answer is as it left it', async () => {
  const api = await startApi({ kind: 'inflight', capacity: 4, latencyMs: 1 });
  const read: Promise<string>[] = [];
  const { fleet } = await startFleet(api.url, {
    limits: { inFlight: 1 },
    classify: ({ value }) => {
      if (value instanceof Response) read.push(value.text());
      return undefined;
    },
  });
  for (let count = 0; count < 3; count++) {
    const { status, bodyUsed } = await fleet.throttle('api').fetch(api.url);
    expect([status, bodyUsed]).toEqual([200, true]);
  }
  expect(await Promise.all(read)).toHaveLength(3);
  expect(fleet.throttle('api').snapshot()).toMatchObject({ inFlight: 0, ended: { ok: 3 } });
});

test('a clone of an answer says what the answer says', async () => {
  const api = await startApi({ kind: 'inflight', capacity: 4, latencyMs: 1 });
  const { fleet } = await startFleet(api.url);
  const answer = await fleet.throttle('api').fetch(api.url);
  const words = ({ url, status, statusText, redirected, type }: Response) => [
    ...[url, status, statusText, redirected, type],
  ];
  const twice = answer.clone().clone();
  expect(words(twice)).toEqual(words(await fetch(api.url)));
  expect(await twice.text()).toBe(await answer.text());
});
