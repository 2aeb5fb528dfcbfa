/** A socket file: made for its owner alone, in the place of one that a dead process has left. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { SocketError } from './errors.ts';

/** What the kernel has room for, less the byte that ends it. */
export const SOCKET_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

export async function listenOnFile(server: Server, path: string): Promise<void> {
  refuseLong(path);
  removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new SocketError(`cannot listen on ${path}: ${cause.message}`, { cause })),
    );
    server.listen(path, resolve);
  });
  server.unref();
  chmodSync(path, 0o600);
}

function refuseLong(path: string): void {
  if (Buffer.byteLength(path) <= SOCKET_BYTES_MAX) return;
  throw new SocketError(
    `the path of the socket is ${Buffer.byteLength(path)} bytes long, ` +
      `and the system allows ${SOCKET_BYTES_MAX}: ${path}`,
    { hint: 'choose a data directory with a shorter path, with --data-dir or FLEETQ_DATA_DIR' },
  );
}

/** Whoever holds the directory knows that a socket found there belongs to nobody any more. */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) {
    throw new SocketError(`${path} is there and is not a socket`, { hint: 'move it away' });
  }
  unlinkSync(path);
}
