/** The API in somebody else's Fastify app: under the same rules, and the app's own routes as they were. */
import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { hashOfSecret, newSecret } from '../../src/admin/index.ts';
import { fleetAdmin } from '../../src/admin/plugin.ts';
import { systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine } from '../../src/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const machines = [
  defineMachine({
    name: 'test/double',
    version: 1,
    input: z.object({ n: z.number() }),
    check: 'none',
    work: ({ input }) => input.n * 2,
  }),
];

test('an app answers its own routes and the API, each by its own rules', async () => {
  await using fleet = await createFleet({ machines, dataDir: newDir(), socket: false });
  const secret = newSecret(systemRandom);
  const app = Fastify();
  app.post('/own', async (request) => ({ got: request.body }));
  await app.register(fleetAdmin(fleet, { tokens: [`ada:admin:${hashOfSecret(secret)}`] }));
  const own = await app.inject({ method: 'POST', url: '/own', payload: { a: 1 } });
  expect(own.json()).toEqual({ got: { a: 1 } });
  expect(own.headers['content-security-policy']).toBeUndefined();
  const runs = {
    method: 'POST',
    url: '/api/v1/runs',
    payload: { machine: 'test/double', input: { n: 2 } },
  } as const;
  expect((await app.inject(runs)).statusCode).toBe(401);
  const headers = { authorization: `Bearer ${secret}` };
  const started = await app.inject({ ...runs, headers });
  expect([started.statusCode, started.json().machine]).toEqual([201, 'test/double']);
  expect((await app.inject({ url: '/api/v1/nothing', headers })).json().code).toBe(
    'FLEETQ_NO_SUCH_PATH',
  );
  await app.close();
});

test('without tokens only this host is let in, whatever address the app has', async () => {
  await using fleet = await createFleet({ machines, dataDir: newDir(), socket: false });
  const app = Fastify();
  await app.register(fleetAdmin(fleet));
  const ask = (remoteAddress: string, host: string) =>
    app.inject({ url: '/api/v1/runs', remoteAddress, headers: { host } });
  expect((await ask('127.0.0.1', 'localhost')).statusCode).toBe(200);
  expect((await ask('10.0.0.9', 'localhost')).statusCode).toBe(401);
  expect((await ask('127.0.0.1', 'evil.example')).statusCode).toBe(403);
  await app.close();
});

test('an app closes at once though somebody looks on, and though a connection says nothing', async () => {
  await using fleet = await createFleet({ machines, dataDir: newDir(), socket: false });
  const app = Fastify();
  await app.register(fleetAdmin(fleet));
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const stream = await fetch(new URL('/api/v1/stream?topics=runs', url));
  const read = stream.body!.getReader();
  expect(new TextDecoder().decode((await read.read()).value)).toContain('retry');
  const silent = connect(Number(url.port), url.hostname);
  await once(silent, 'connect');
  silent.on('error', () => undefined);
  const ended = once(silent, 'close');
  // The server has seen it once it has answered one that came later.
  await (await fetch(new URL('/api/v1/status', url))).json();
  const begunAt = performance.now();
  await app.close();
  expect(performance.now() - begunAt).toBeLessThan(20_000);
  for (let isDone = false; !isDone; ) isDone = (await read.read()).done;
  await ended;
});
