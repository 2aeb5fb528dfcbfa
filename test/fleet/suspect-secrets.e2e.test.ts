/** What a process for suspects has to know stays out of its environment, which others inherit. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { SuspectProcess } from '../../src/fleet/index.ts';
import { aesCodec, openDatabase } from '../../src/ground/index.ts';
import { createFleet, type Fleet } from '../../src/index.ts';
import { suspectProcess } from '../../src/suspect-process.ts';
import { removeTree } from '../support/remove-tree.ts';
import { environment } from './machines/environment.ts';

const directory = mkdtempSync(join(tmpdir(), 'fleetq-secrets-'));
const store = `sqlite:${join(directory, 'fleet.db')}`;
const codecKeys = { current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } };
let client: Fleet | undefined;
let started: SuspectProcess | undefined;

afterEach(async () => {
  started?.stop();
  await started?.ended;
  await client?.drain({ budget: '1s' });
  removeTree(directory);
});

test('neither the keys nor the address of the store are in an environment', async () => {
  client = await createFleet({
    machines: [environment],
    store,
    migrates: true,
    dataDir: join(directory, 'client'),
    isClient: true,
    codec: aesCodec(codecKeys),
  });
  const ledger = join(directory, 'ledger');
  const { id } = await client.enqueue(environment, { ledger });
  const database = openDatabase(join(directory, 'fleet.db'));
  database.prepare('update step_tracker set crashes = 2 where task_id = ?').run(id);
  database.close();
  started = suspectProcess({
    store,
    modules: [fileURLToPath(new URL('./machines/environment.ts', import.meta.url))],
    dataDir: join(directory, 'pod'),
    heartbeat: '200ms',
    silence: '2s',
    codecKeys,
  })();
  const until = performance.now() + 90_000;
  let [row] = await client.store.find([id]);
  while (row?.status !== 'completed' && performance.now() < until) {
    await sleep(100);
    [row] = await client.store.find([id]);
  }
  expect(row).toMatchObject({ status: 'completed' });
  const seen = readFileSync(ledger, 'utf8');
  expect(seen).toContain('PATH');
  expect(seen).not.toContain(codecKeys.keys.k1);
  expect(seen).not.toContain(store);
}, 180_000);
