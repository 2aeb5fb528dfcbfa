/**
 * image/install under SIGKILL: after every journal record, at the end of every phase before its
 * record, before changes to the disk, and at random. However often it dies, the run that goes on ends
 * with the right tree, and nothing temporary is left. A case in which the child did not die by SIGKILL
 * with its runs at their points is void.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SampleRegistry, startSampleRegistry } from '../../machines/image/sample-registry.ts';
import { verifyVersion } from '../../machines/image/tree.ts';
import { removeTree } from '../support/remove-tree.ts';
import { type ImageInput, namesUnder } from './image-host.ts';

const CHILD = fileURLToPath(new URL('./install-child.mjs', import.meta.url));
const CHILD_MS_MAX = 180_000;
/** 1 kills before every change to the disk; the default takes a sample that fits an everyday run. */
const STRIDE = Number(process.env['FLEETQ_TEST_CRASH_STRIDE'] ?? 7);
/** The last changes swap the link and clear the bench: each of them counts. */
const TAIL = 8;

interface Point {
  readonly at: 'phaseStart' | 'phaseEnd' | 'change';
  readonly nth: number;
}
interface Site {
  readonly dataDir: string;
  readonly inputs: readonly ImageInput[];
  readonly stallAt?: Readonly<Record<string, Point>>;
}
interface Report {
  readonly stalled?: readonly string[];
  readonly ended?: readonly string[];
  readonly again?: readonly string[];
  readonly reached?: Readonly<Record<string, Readonly<Record<Point['at'], number>>>>;
}
interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly report: Report | undefined;
  readonly text: string;
}

let directory: string;
let registry: SampleRegistry;
let siteCount = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fleetq-image-crash-'));
  registry = await startSampleRegistry({ imageBytes: 40_000 });
});
afterAll(async () => {
  await registry.close();
  removeTree(directory);
});

/** A place of its own with so many images to install, all of them the sample 'tools'. */
function siteOf(imageCount: number, from = registry): Site {
  const at = join(directory, `site-${++siteCount}`);
  const { url, sha256 } = from.images[0]!;
  const inputs = Array.from({ length: imageCount }, (_, index) => ({
    url,
    sha256,
    name: `image-${String(index + 1).padStart(3, '0')}`,
    root: join(at, 'root'),
  }));
  return { dataDir: join(at, 'data'), inputs };
}

/** Runs the child to its end; `killAfterMs` counts from its first sign of progress. */
function runChild(site: Site, killAfterMs?: number): Promise<Death> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(site)]);
    let text = '';
    let killTimer: NodeJS.Timeout | undefined;
    const hangTimer = setTimeout(() => child.kill('SIGTERM'), CHILD_MS_MAX);
    child.stderr.on('data', (piece) => {
      text += piece;
    });
    child.stdout.on('data', (piece) => {
      text += piece;
      if (killAfterMs === undefined || killTimer || !text.includes('progress')) return;
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

/** Which images stood at their points when the child died; anything but SIGKILL is void. */
async function killAt(site: Site, stallAt: Readonly<Record<string, Point>>): Promise<string[]> {
  const { signal, report, text } = await runChild({ ...site, stallAt });
  expect(signal, `void: the child did not die by SIGKILL: ${text}`).toBe('SIGKILL');
  return [...(report?.stalled ?? [])].sort();
}

async function expectCompletes(site: Site): Promise<Report> {
  const { code, report, text } = await runChild(site);
  expect(code, text).toBe(0);
  expect(report?.ended).toEqual(site.inputs.map(() => 'well'));
  expect(report?.again).toEqual(site.inputs.map(() => 'handedOff'));
  for (const { root, name, sha256 } of site.inputs) {
    const home = join(root, name);
    expect(readlinkSync(join(home, 'current'))).toBe(`versions/${sha256}/tree`);
    const version = join(home, 'versions', sha256);
    expect(await verifyVersion(version, sha256, new AbortController().signal)).toBeDefined();
    expect(readFileSync(join(home, 'current/app/etc/app.json'), 'utf8')).toBe('{"seed":"tools"}\n');
    expect(namesUnder(home).filter((path) => !/^(versions\/.*|current)\//.test(path))).toEqual([
      'archives',
      `archives/${sha256}`,
      'current',
      'tmp',
      'versions',
      `versions/${sha256}`,
    ]);
  }
  return report!;
}

function pointsOf(at: Point['at'], count: number, stride = 1): Point[] {
  return Array.from({ length: Math.ceil(count / stride) }, (_, k) => ({ at, nth: 1 + k * stride }));
}

let reached: Readonly<Record<Point['at'], number>>;

test('undisturbed, the child installs the image, and hands off the second time', async () => {
  const report = await expectCompletes(siteOf(1));
  reached = report.reached!['image-001']!;
  expect(reached).toMatchObject({ phaseStart: 11, phaseEnd: 11 });
  expect(reached.change).toBeGreaterThan(80);
});

test('killed after any record, at the end of any phase or before any change, it ends well', async () => {
  const points = [
    ...pointsOf('phaseStart', reached.phaseStart),
    ...pointsOf('phaseEnd', reached.phaseEnd),
    ...pointsOf('change', reached.change - TAIL, STRIDE),
    ...pointsOf('change', TAIL).map(({ at, nth }) => ({ at, nth: nth + reached.change - TAIL })),
  ];
  const site = siteOf(points.length);
  const names = site.inputs.map(({ name }) => name);
  const stood = await killAt(site, Object.fromEntries(names.map((name, k) => [name, points[k]!])));
  expect(stood, 'void: not every run was at its point').toEqual(names);
  await expectCompletes(site);
});

test('killed four times in a row, each time somewhere else, it ends well', async () => {
  const site = siteOf(8);
  const tried: unknown[] = [];
  for (let round = 0; round < 4; round++) {
    const stallAt = Object.fromEntries(
      site.inputs.map(({ name }) => {
        const nth = 1 + Math.floor(Math.random() * reached.change * 0.6);
        return [name, { at: 'change', nth } as const];
      }),
    );
    tried.push(stallAt);
    const stood = await killAt(site, stallAt);
    if (round === 0) expect(stood).toHaveLength(8);
  }
  await expectCompletes(site).catch((error) => {
    throw new Error(`after ${JSON.stringify(tried)}`, { cause: error });
  });
});

test('killed from outside while it downloads, it goes on from the bytes it has', async () => {
  const slow = await startSampleRegistry({ imageBytes: 1_200_000, bytesPerSecondMax: 2_000_000 });
  try {
    const site = siteOf(2, slow);
    const delaysMs = [0, 1].map(() => Math.random() * 120);
    const deaths: Death[] = [];
    for (const delayMs of delaysMs) deaths.push(await runChild(site, delayMs));
    expect(deaths[0]?.signal, `void: ${deaths[0]?.text}`).toBe('SIGKILL');
    for (const { signal, code, text } of deaths.slice(1)) {
      expect(signal === 'SIGKILL' || code === 0, `${delaysMs}: ${text}`).toBe(true);
    }
    await expectCompletes(site);
    expect(slow.requests.some(({ status }) => status === 206)).toBe(true);
  } finally {
    await slow.close();
  }
});

test('what a run that never came back left is removed by the next run of the image', async () => {
  const dead = siteOf(1);
  const middle = { at: 'change', nth: Math.floor(reached.change / 2) } as const;
  expect(await killAt(dead, { 'image-001': middle })).toEqual(['image-001']);
  expect(namesUnder(join(dead.inputs[0]!.root, 'image-001/tmp'))).not.toEqual([]);
  await expectCompletes({ ...dead, dataDir: `${dead.dataDir}-of-another` });
});
