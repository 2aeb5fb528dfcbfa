/** Every mode of the way to the store does what it says, and says that it did. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { MODE_KINDS, modeOf } from './network-modes.ts';
import { StoreProxy } from './proxy.ts';

/** Answers with what it is told, and remembers all of it. */
let echo: Server;
let heard: string;
let proxy: StoreProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  heard = '';
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard += String(chunk);
      socket.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = new StoreProxy({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
  await proxy.start();
});

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  proxy.stop();
  echo.close();
});

async function connect(): Promise<{ socket: Socket; said: () => string }> {
  const socket = new Socket().connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  let said = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    said += String(chunk);
  });
  await once(socket, 'connect');
  return { socket, said: () => said };
}

async function until(isSo: () => boolean, msMax = 5_000): Promise<number> {
  const begunMs = performance.now();
  while (!isSo() && performance.now() - begunMs < msMax) await sleep(2);
  expect(isSo()).toBe(true);
  return performance.now() - begunMs;
}

test('an open way lets everything through and counts nothing', async () => {
  const { socket, said } = await connect();
  socket.write('hello');
  await until(() => said() === 'hello');
  expect(proxy.touched).toBe(0);
});

test.each([
  ['latency', { kind: 'latency', delayMs: 60 }, 110],
  ['throttle', { kind: 'throttle', bytesPerSecond: 1_000 }, 180],
] as const)('%s makes every answer late', async (_, mode, leastMs) => {
  const { socket, said } = await connect();
  proxy.turn(mode);
  socket.write('x'.repeat(100));
  expect(await until(() => said().length === 100)).toBeGreaterThan(leastMs);
  expect(proxy.touched).toBeGreaterThan(0);
});

test('jitter changes when things come, and not their order', async () => {
  const { socket, said } = await connect();
  proxy.turn({ kind: 'jitter', delayMsMax: 60 });
  for (let number = 0; number < 10; number += 1) {
    socket.write(String(number));
    await sleep(3);
  }
  await until(() => said() === '0123456789');
  expect(proxy.touched).toBeGreaterThan(0);
});

test.each([
  ['silence', ''],
  ['unheard', ''],
  ['unanswered', 'hello'],
] as const)('%s holds back what is sent until the way is open again', async (kind, atOnce) => {
  const { socket, said } = await connect();
  proxy.turn({ kind });
  socket.write('hello');
  await until(() => proxy.touched > 0);
  await sleep(50);
  expect(heard).toBe(atOnce);
  expect(said()).toBe('');
  proxy.heal();
  await until(() => said() === 'hello');
});

test('a reset breaks connections, and refuses new ones', async () => {
  const { socket } = await connect();
  socket.write('hello');
  await until(() => heard === 'hello');
  proxy.turn({ kind: 'reset' });
  await until(() => socket.destroyed);
  const next = new Socket().connect(proxy.port, '127.0.0.1').on('error', () => undefined);
  await until(() => next.destroyed);
  expect(proxy.touched).toBe(2);
});

test('a cut lets so many bytes through, and no more', async () => {
  const { socket } = await connect();
  proxy.turn({ kind: 'cutAfter', bytes: 7 });
  socket.write('0123456789');
  await until(() => socket.destroyed);
  await until(() => heard === '0123456');
  expect(proxy.touched).toBe(1);
});

test('with a slow close the end of a connection is heard late', async () => {
  const { socket, said } = await connect();
  socket.write('hello');
  await until(() => said() === 'hello');
  proxy.turn({ kind: 'slowClose', delayMs: 150 });
  expect(await until(() => socket.destroyed)).toBeGreaterThan(100);
  expect(proxy.touched).toBeGreaterThan(0);
});

test('a flapping way is silent and open in turns', async () => {
  const { socket, said } = await connect();
  proxy.turn({ kind: 'flapping', openMs: 40, silentMs: 80 });
  socket.write('hello');
  expect(await until(() => said() === 'hello')).toBeGreaterThan(50);
  expect(proxy.touched).toBeGreaterThan(0);
});

test('every kind of mode can be drawn', () => {
  const random = seededRandom(1);
  expect(MODE_KINDS.map((kind) => modeOf(kind, random).kind)).toEqual(MODE_KINDS);
});

test('a proxy whose clients left while a connection was ending leaves nothing open', async () => {
  const { socket } = await connect();
  proxy.turn({ kind: 'cutAfter', bytes: 1 });
  socket.write('hello');
  await until(() => socket.destroyed);
  proxy.stop();
  echo.close();
  await once(echo, 'close');
});
