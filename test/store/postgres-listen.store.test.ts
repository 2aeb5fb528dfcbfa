/** Hints on an address of their own, around a pooler that would swallow them. */
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, test as anyTest, expect, vi } from 'vitest';
import { StoreOptionsError } from '../../src/store/errors.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Hint } from '../../src/store/store.ts';
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { freePort } from '../support/postgres.ts';
import { newTask } from './factories.ts';
import { options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const pgBouncer = findPgBouncer();
const test = anyTest.skipIf(pgBouncer === undefined);

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** `act` gets the address through the pooler, with a role that brings its own limits. */
async function withPooler(act: (pooled: string) => Promise<void>): Promise<void> {
  await scene.client.query(`drop role if exists fleetq_pooled`);
  await scene.client.query(`create role fleetq_pooled superuser login`);
  await scene.client.query(`alter role fleetq_pooled set statement_timeout = '5s'`);
  const pooler = await startPgBouncer(pgBouncer!, scene.server);
  try {
    const through = pooler.through(scene.url).replace(/\/\/[^@]*@/, '//fleetq_pooled@');
    await act(`${through}?pooled=true`);
  } finally {
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await pooler.stop();
  }
}

test('a pooler is gone around for hints, where a direct address is given', () =>
  withPooler(async (pooled) => {
    const [producer, pod] = await Promise.all([
      openPostgresStore(pooled, options),
      openPostgresStore(pooled, { ...options, listenUrl: scene.url }),
    ]);
    opened.push(producer, pod);
    const heard: Hint[] = [];
    const stop = await pod.listen((hint) => heard.push(hint));
    expect(stop).toBeDefined();
    await producer.enqueue([newTask()]);
    await vi.waitFor(() => expect(heard).toContain('ready'), 90_000);
    await stop!();
  }));

test('a direct address at which nobody answers yet is tried again, and the store works meanwhile', () =>
  withPooler(async (pooled) => {
    const later = await startForwarder(scene.url);
    const store = await openPostgresStore(pooled, { ...options, listenUrl: later.url });
    opened.push(store);
    const heard: Hint[] = [];
    const stop = await store.listen((hint) => heard.push(hint));
    expect(stop).toBeDefined();
    await store.enqueue([newTask()]);
    await later.open();
    await vi.waitFor(() => expect(heard).toContain('ready'), 90_000);
    await stop!();
    await later.close();
  }));

test('a direct address that makes no sense is refused, without telling its secrets', async () => {
  const bad = openPostgresStore(scene.url, { ...options, listenUrl: 'mysql://root:sesame@x' });
  await expect(bad).rejects.toThrow(StoreOptionsError);
  await expect(bad).rejects.not.toThrow('sesame');
});

/** A second address of the same server, at which nobody answers until it is opened. */
async function startForwarder(url: string) {
  const target = new URL(url);
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  const own = new URL(url);
  own.port = String(port);
  return {
    url: own.href,
    open: () => new Promise<void>((resolve) => server.listen(port, target.hostname, resolve)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
