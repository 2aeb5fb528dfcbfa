/** A task that kills its process kills three of them and no more, and its neighbours live on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createFleet, type Fleet } from '../../src/index.ts';
import { removeTree } from '../support/remove-tree.ts';
import { innocent, poison } from './machines/poison.ts';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const children = new Set<ChildProcess>();
let client: Fleet | undefined;
const directory = mkdtempSync(join(tmpdir(), 'fleetq-suspects-'));
let isOver = false;

afterEach(async () => {
  isOver = true;
  for (const child of children) child.kill('SIGKILL');
  await client?.drain({ budget: '1s' });
  removeTree(directory);
});

/** Starts a pod, and starts it again whenever it dies, as whoever runs pods does. */
function keepPod(name: string, store: string): void {
  const options = {
    store,
    dataDir: join(directory, name),
    podName: name,
    modules: [here('./machines/poison.ts')],
    heartbeat: '200ms',
    silence: '1s',
    archive: '200ms',
  };
  const argv = [here('./pod-child.ts'), JSON.stringify(options)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
  children.add(child);
  once(child, 'exit').then(() => {
    children.delete(child);
    if (!isOver) keepPod(name, store);
  });
}

test('a poison task kills at most three processes, the last of them its own', async () => {
  const store = `sqlite:${join(directory, 'fleet.db')}`;
  const dataDir = join(directory, 'client');
  const machines = [poison, innocent];
  client = await createFleet({ machines, store, migrates: true, dataDir, isClient: true });
  keepPod('alder', store);
  keepPod('birch', store);
  const ledger = join(directory, 'ledger');
  const bad = await client.enqueue(poison, { ledger });
  const good = await Promise.all(
    Array.from({ length: 40 }, (_, n) => client!.enqueue(innocent, { n })),
  );

  const until = performance.now() + 90_000;
  let row = (await client.store.find([bad.id]))[0];
  while (row?.status !== 'failed' && performance.now() < until) {
    await sleep(200);
    row = (await client.store.find([bad.id]))[0];
  }
  expect(row).toMatchObject({ status: 'failed', outcome: 'crashLoop', crashes: 3 });
  const deaths = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [];
  expect(deaths).toHaveLength(3);
  expect(new Set(deaths).size).toBe(3);

  const results = await Promise.all(good.map((task) => task.result({ timeout: '60s' })));
  expect(results).toEqual(good.map((_, n) => n));
  expect(await client.store.violations()).toEqual([]);
}, 180_000);
