/** I46: a registration that the store refuses leaves no thread behind, however often it is tried. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const ATTEMPTS = 4;

const hello = defineMachine({
  name: 'hello',
  version: 1,
  input: z.object({}),
  check: 'none',
  work: () => 'done',
});

test('a pod whose registration is refused again and again keeps one thread at most', async () => {
  const home = newDir();
  const file = join(home, 'fleet.db');
  const threads = new Set<Worker>();
  const onWorker = (worker: Worker) => {
    threads.add(worker);
    worker.once('exit', () => threads.delete(worker));
  };
  process.on('worker', onWorker);
  let refused = 0;
  const stop = listen('store.failed', ({ what }) => {
    if (what === 'register') refused++;
  });
  const fleet = await createFleet({
    machines: [hello],
    store: `sqlite:${file}`,
    migrates: true,
    dataDir: join(home, 'pod'),
    socket: false,
    heartbeat: '200ms',
    silence: '1s',
  });
  const sql = new Database(file);
  try {
    sql.exec(`create trigger no_room before insert on pod_health
              begin select raise(abort, 'no space is left'); end;
              update pod_health set status = 'dead', dead_at = last_heartbeat, dead_by = 'me'`);
    while (refused < ATTEMPTS) await sleep(50);
    await sleep(500);
    expect(threads.size).toBeLessThanOrEqual(2);
    sql.exec('drop trigger no_room');
    while (!fleet.status.pod?.isReady) await sleep(50);
    expect(threads.size).toBeLessThanOrEqual(2);
  } finally {
    process.off('worker', onWorker);
    stop();
    sql.close();
    await fleet.drain();
  }
}, 60_000);
