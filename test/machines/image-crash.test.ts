/**
 * image/install under SIGKILL: after every journal record, at the end of every phase before its
 * record, before and after changes to the disk, and at random. However often it dies, the run that
 * goes on ends with the right tree, and nothing temporary is left. A case in which the child did not
 * die by SIGKILL is void.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SampleRegistry, startSampleRegistry } from '../../machines/image/sample-registry.ts';
import { verifyVersion } from '../../machines/image/tree.ts';
import { type ImageInput, namesUnder } from './image-host.ts';

const CHILD = fileURLToPath(new URL('./install-child.mjs', import.meta.url));
const CHILD_MS_MAX = 30_000;
/** 1 kills at every change to the disk; the default takes a sample that fits into an everyday run. */
const STRIDE = Number(process.env['FLEETQ_TEST_CRASH_STRIDE'] ?? 17);
const AT_ONCE = 2;

interface KillAt {
  readonly at: 'record' | 'phaseEnd' | 'beforeChange' | 'afterChange';
  readonly nth: number;
}
interface Report {
  readonly outcomes: readonly string[];
  readonly errors: readonly unknown[];
  readonly again: readonly string[];
  readonly reached: Readonly<Record<KillAt['at'], number>>;
}
interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly report: Report | undefined;
  readonly text: string;
}
interface Site {
  readonly dataDir: string;
  readonly inputs: readonly ImageInput[];
}

let directory: string;
let registry: SampleRegistry;
let siteCount = 0;
let killCount = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fleetq-image-crash-'));
  registry = await startSampleRegistry({ imageBytes: 40_000 });
});
afterAll(async () => {
  await registry.close();
  rmSync(directory, { recursive: true, force: true });
});

function siteOf(images: SampleRegistry['images']): Site {
  const at = join(directory, `site-${++siteCount}`);
  const inputs = images.map((image) => ({ ...image, root: join(at, 'root') }));
  return { dataDir: join(at, 'data'), inputs };
}

/** Runs the child to its end; `killAfterMs` counts from when it is ready. */
function runChild(site: Site, killAt?: KillAt, killAfterMs?: number): Promise<Death> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify({ ...site, killAt })]);
    let text = '';
    let killTimer: NodeJS.Timeout | undefined;
    const hangTimer = setTimeout(() => child.kill('SIGTERM'), CHILD_MS_MAX);
    child.stderr.on('data', (piece) => {
      text += piece;
    });
    child.stdout.on('data', (piece) => {
      text += piece;
      if (killAfterMs === undefined || killTimer || !text.includes('ready\n')) return;
      killTimer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(hangTimer);
      clearTimeout(killTimer);
      const line = /^\{.*\}$/m.exec(text)?.[0];
      resolve({ code, signal, text, report: line ? JSON.parse(line) : undefined });
    });
  });
}

async function expectKilled(site: Site, killAt: KillAt): Promise<void> {
  const death = await runChild(site, killAt);
  expect(death.signal, `void: ${JSON.stringify(killAt)} was not reached: ${death.text}`).toBe(
    'SIGKILL',
  );
  killCount++;
}

async function expectCompletes(site: Site): Promise<Report> {
  const { code, report, text } = await runChild(site);
  expect(code, text).toBe(0);
  expect(report?.errors.filter(Boolean), text).toEqual([]);
  expect(report!.again, text).toEqual(site.inputs.map(() => 'handedOff'));
  for (const { root, name, sha256 } of site.inputs) {
    const home = join(root, name);
    expect(readlinkSync(join(home, 'current'))).toBe(`versions/${sha256}/tree`);
    const version = join(home, 'versions', sha256);
    expect(await verifyVersion(version, sha256, new AbortController().signal)).toBeDefined();
    expect(readFileSync(join(home, 'current/app/etc/app.json'), 'utf8')).toContain(name);
    expect(namesUnder(join(home, 'tmp'))).toEqual([]);
    expect(namesUnder(join(home, 'versions')).filter((path) => !path.includes('/'))).toEqual([
      sha256,
    ]);
    expect(namesUnder(join(home, 'archives'))).toEqual([sha256]);
  }
  return report!;
}

async function killAtEach(points: readonly KillAt[]): Promise<void> {
  const ahead = [...points];
  const worker = async () => {
    for (let killAt = ahead.shift(); killAt; killAt = ahead.shift()) {
      const site = siteOf(registry.images.slice(0, 1));
      await expectKilled(site, killAt);
      await expectCompletes(site);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function pointsOf(at: KillAt['at'], count: number, stride: number, from = 1): KillAt[] {
  const points: KillAt[] = [];
  for (let nth = from; nth <= count; nth += stride) points.push({ at, nth });
  return points;
}

let reached: Report['reached'];

test('undisturbed, the child installs the image, and hands off the second time', async () => {
  reached = (await expectCompletes(siteOf(registry.images.slice(0, 1)))).reached;
  expect(reached).toMatchObject({ record: 12, phaseEnd: 11 });
  expect(reached.beforeChange).toBeGreaterThan(80);
});

test('killed after any journal record, the run goes on and ends well', async () => {
  await killAtEach(pointsOf('record', reached.record, 1));
});

test('killed at the end of any phase, before its record, the run goes on and ends well', async () => {
  await killAtEach(pointsOf('phaseEnd', reached.phaseEnd, 1));
});

test('killed before or after a change to the disk, the run goes on and ends well', async () => {
  await killAtEach([
    ...pointsOf('beforeChange', reached.beforeChange, STRIDE),
    ...pointsOf('afterChange', reached.afterChange, STRIDE, 1 + Math.floor(STRIDE / 2)),
  ]);
});

test('killed again and again at random, in download and unpack, all runs end well', async () => {
  const slow = await startSampleRegistry({ imageBytes: 300_000, bytesPerSecondMax: 900_000 });
  try {
    const site = siteOf(slow.images);
    // Fewer than the attempts a step has, since each may fall into the same one.
    const delaysMs = Array.from({ length: 6 }, () => 5 + Math.random() * 300);
    let died = 0;
    for (const delayMs of delaysMs) {
      const { signal, code, text } = await runChild(site, undefined, delayMs);
      if (signal === 'SIGKILL') died++;
      else expect(code, `${delaysMs}: ${text}`).toBe(0);
    }
    expect(died, `void: killed only ${died} times at ${delaysMs}`).toBeGreaterThan(2);
    killCount += died;
    await expectCompletes(site);
    // What was downloaded before a kill was not downloaded again.
    expect(slow.requests.some(({ status }) => status === 206)).toBe(true);
  } finally {
    await slow.close();
  }
});

test('what a run that never came back left is removed by the next run of the image', async () => {
  const dead = siteOf(registry.images.slice(0, 1));
  await expectKilled(dead, { at: 'beforeChange', nth: Math.floor(reached.beforeChange / 2) });
  const [input] = dead.inputs;
  expect(namesUnder(join(input!.root, input!.name, 'tmp'))).not.toEqual([]);
  await expectCompletes({ ...dead, dataDir: `${dead.dataDir}-of-another` });
});

test('every kill that was counted was a real one', () => {
  expect(killCount).toBeGreaterThan(30);
});
