/** A server that dies while it greets: its last words come in one piece with its first. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, StoreUnreachableError } from '../../src/store/index.ts';

const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

function lastWords(): Buffer {
  const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0');
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

test('a server that ends a connection with its greeting is unreachable, and ends no process', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([WELCOME, lastWords()])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const uncaught: unknown[] = [];
  const hear = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', hear);
  const store = await openStore(`postgres://postgres@127.0.0.1:${port}/any`, {
    clock: systemClock,
    random: systemRandom,
  });
  await expect(store.pods()).rejects.toBeInstanceOf(StoreUnreachableError);
  await store.close();
  process.off('uncaughtException', hear);
  for (const socket of sockets) socket.destroy();
  server.close();
  expect(uncaught).toEqual([]);
});
