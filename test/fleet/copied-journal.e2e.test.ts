/** A data directory that was copied while its process lives, or put back after it has gone on. */
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFleet, defineMachine, type Fleet } from '../../src/index.ts';
import { adoptJournal } from '../../src/journal/index.ts';
import { listen } from '../../src/telemetry/events.ts';
import { takes } from '../support/any-schema.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const tempDir = useTempDirs();
const SILENT_MS = 2_000;

let [original, copy] = ['', ''];
const fleets: Fleet[] = [];
const begun: string[] = [];
const alarms: string[] = [];
let gates: (() => void)[] = [];
let stopListening: () => void;

beforeEach(() => {
  original = tempDir('original');
  copy = join(dirname(original), 'copy');
  begun.length = 0;
  alarms.length = 0;
  stopListening = listen('journal.alarm', ({ kind }) => void alarms.push(kind));
});
afterEach(async () => {
  stopListening();
  openGates();
  await Promise.all(fleets.splice(0).map((fleet) => fleet.drain({ budget: '1s' })));
});

const gated = defineMachine({
  name: 'gated',
  version: 1,
  input: takes<number>(),
  check: 'none',
  work: async ({ runId, input }) => {
    begun.push(runId);
    await new Promise<void>((resolve) => gates.push(resolve));
    return input * 2;
  },
});

function openGates(): void {
  for (const open of gates) open();
  gates = [];
}

async function openPod(dataDir: string): Promise<Fleet> {
  const fleet = await createFleet({
    machines: [gated],
    store: `sqlite:${join(dirname(original), 'fleet.db')}`,
    migrates: true,
    dataDir,
    podName: dataDir === copy ? 'copy' : 'original',
    heartbeat: '200ms',
    silence: SILENT_MS,
    archive: '100ms',
    socket: false,
  });
  fleets.push(fleet);
  return fleet;
}

async function close(fleet: Fleet): Promise<void> {
  fleets.splice(fleets.indexOf(fleet), 1);
  await fleet.drain({ budget: '1s' });
}

/** By another process: one that closes a file drops its own locks on it. */
function copyOriginal(to = copy): void {
  execFileSync('cp', ['-r', original, to]);
}

async function until(is: () => boolean): Promise<void> {
  for (const endMs = performance.now() + 90_000; !is(); await sleep(10)) {
    if (performance.now() > endMs) throw new Error('it did not come to that');
  }
}

test('a copy beside a living original takes nothing from it', async () => {
  const first = await openPod(original);
  const tasks = await Promise.all([1, 2, 3].map((input) => first.enqueue(gated, input)));
  await until(() => begun.length === 3);
  copyOriginal();
  const second = await openPod(copy);
  await sleep(3 * SILENT_MS);
  expect(alarms).toEqual(['copied']);
  const pods = await first.store.pods();
  expect(pods.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'copy up',
    'original up',
  ]);
  expect(new Set(pods.map(({ journal }) => journal)).size).toBe(2);
  openGates();
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([2, 4, 6]);
  expect(begun).toHaveLength(3);
  await close(second);
});

test('local runs of a copy wait until somebody says that the original is gone', async () => {
  const first = await openPod(original);
  const run = await first.startLocal(gated, 21);
  await until(() => begun.length === 1);
  copyOriginal();
  for (const opening of ['found out', 'known already']) {
    const second = await openPod(copy);
    await sleep(SILENT_MS);
    expect(begun, opening).toHaveLength(1);
    const { status, reason } = second.describe(run.id);
    expect(status).toBe('quarantined');
    expect(reason).toMatch(/copied along with journal .* `fleetq journal adopt`/);
    const own = await second.startLocal(gated, 4);
    await until(() => begun.length === 2);
    openGates();
    expect(await own.result()).toBe(8);
    begun.pop();
    await close(second);
  }
  await close(first);
  expect(adoptJournal(copy, 0)).toBe(true);
  expect(adoptJournal(copy, 0)).toBe(false);
  begun.length = 0;
  const third = await openPod(copy);
  await until(() => begun.length === 1);
  openGates();
  expect(await third.runById(run.id).result()).toBe(42);
});

test('a journal that was put back does not run again what has ended since', async () => {
  const first = await openPod(original);
  const run = await first.startLocal(gated, 21);
  await until(() => begun.length === 1);
  copyOriginal();
  openGates();
  expect(await run.result()).toBe(42);
  await close(first);
  rmSync(original, { recursive: true });
  renameSync(copy, original);
  await openPod(original);
  await sleep(SILENT_MS);
  expect(alarms).toEqual(['copied']);
  expect(begun).toHaveLength(1);
});

test('a journal that was put back in place is said to be behind the store', async () => {
  const first = await openPod(original);
  const run = await first.startLocal(gated, 21);
  await until(() => begun.length === 1);
  copyOriginal();
  openGates();
  await run.result();
  await sleep(SILENT_MS);
  await close(first);
  for (const file of ['journal.db', 'journal.db-wal', 'journal.mark']) {
    rmSync(join(original, `${file}.new`), { force: true });
    execFileSync('sh', ['-c', 'cat "$1" > "$2"', 'sh', join(copy, file), join(original, file)]);
  }
  await openPod(original);
  await until(() => alarms.includes('behindStore'));
  expect(alarms).not.toContain('copied');
});

test('a moved directory is no copy', async () => {
  const first = await openPod(original);
  const run = await first.startLocal(gated, 21);
  await until(() => begun.length === 1);
  first.stopNow();
  fleets.splice(0);
  renameSync(original, copy);
  const second = await openPod(copy);
  await until(() => begun.length === 2);
  openGates();
  expect(await second.runById(run.id).result()).toBe(42);
  expect(alarms).toEqual([]);
});
