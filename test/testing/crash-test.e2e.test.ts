/** crashTest on machines that ship with FleetQ, and on machines with a fault that it has to find. */
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startSampleRegistry } from '../../machines/image/sample-registry.ts';
import { startSampleLlm } from '../../machines/llm-summarise/sample-llm.ts';
import type { CrashTestError } from '../../src/testing/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { broken, builtTesting, errorOf, linesOf } from './support.ts';

const { crashTest } = await builtTesting();
/** Every case is two processes, and other tests may want the machine at the same time. */
vi.setConfig({ testTimeout: 300_000 });
const newDir = useTempDirs();
/** Where every test of this file puts what it needs, so that it can be seen whether anything is left. */
const temporary = newDir('tmp');
mkdirSync(temporary);
process.env['TMPDIR'] = temporary;

afterAll(() => {
  expect(readdirSync(temporary).filter((name) => name.startsWith('fleetq-crash'))).toEqual([]);
});

const hello = new URL('../../dist/machines/hello.js', import.meta.url);
const image = new URL('../../dist/machines/image/install.js', import.meta.url);
const summarise = new URL('../../dist/machines/llm-summarise/summarise.js', import.meta.url);

test('hello survives a kill before and after every record', async () => {
  const report = await crashTest(hello, { input: { name: 'Ada' } });
  expect(report).toEqual({
    machine: 'hello@1',
    outcome: 'completed',
    output: 'Hello, Ada!',
    records: 4,
    cases: 8,
    kills: 8,
    lost: 0,
    repeated: 0,
    // Killed before their records: work, validate and persist, each once.
    again: 3,
    handedOff: 0,
    faults: [],
  });
});

test('image/install survives too, and its checks spare it what was done', async () => {
  const registry = await startSampleRegistry({ imageBytes: 4_000 });
  const { url, sha256 } = registry.images[0]!;
  try {
    const report = await crashTest(image, {
      exportName: 'imageInstall',
      once: ['persist'],
      input: ({ directory }) => ({ url, sha256, name: 'tools', root: join(directory, 'root') }),
      verify: ({ directory }) => {
        const current = join(directory, 'root', 'tools', 'current');
        expect(readlinkSync(current)).toBe(`versions/${sha256}/tree`);
      },
    });
    expect(report).toMatchObject({ records: 12, cases: 24, kills: 24, lost: 0, repeated: 0 });
    // Killed before the records of both persists and of the work that swaps the link.
    expect(report).toMatchObject({ handedOff: 3, again: 8 });
  } finally {
    await registry.close();
  }
});

test('llm/summarise survives, also where it is killed before it could say what it was answered', async () => {
  const llm = await startSampleLlm({ latencyMs: 1, capacity: 100 });
  try {
    const input = { url: llm.url, text: 'one two three four', words: 3 };
    const report = await crashTest(summarise, { input });
    expect(report).toMatchObject({ output: { summary: 'one two three' }, records: 5, kills: 10 });
    expect(report).toMatchObject({ lost: 0, repeated: 0, again: 4, faults: [] });
  } finally {
    await llm.close();
  }
});

test('sleeps and backoffs of hours take no time', async () => {
  const report = await crashTest(new URL('./machines/sleepy.mjs', import.meta.url), {
    input: ({ directory }) => ({ file: join(directory, 'attempts') }),
    verify: ({ directory }) => {
      const attempts = linesOf(join(directory, 'attempts'));
      expect(attempts).toContain('2');
      expect(attempts.length).toBeLessThanOrEqual(3);
    },
  });
  expect(report).toMatchObject({ output: 'awake', records: 5, cases: 10, kills: 10, repeated: 0 });
});

test('a persist that is not safe to repeat is found by the effects that its author counts', async () => {
  const file = newDir('lines');
  const error = await errorOf<CrashTestError>(
    crashTest(broken, {
      exportName: 'appends',
      input: { file },
      effects: () => linesOf(file).length,
    }),
  );
  expect(error).toMatchObject({
    code: 'FLEETQ_CRASH_TEST',
    hint: expect.stringContaining('check'),
  });
  expect(error.report).toMatchObject({ cases: 6, kills: 6, lost: 0, repeated: 0, again: 2 });
  expect(error.report.faults).toEqual([
    {
      case: 'killed before record 3 of 3 (main.persist DONE)',
      kind: 'effects',
      message: '2 in this case, and 1 without a crash',
    },
  ]);
  expect(error.message).toContain('appends@1 does not survive a crash: 1 of 6 cases broke');
  expect(error.message).toContain('effects: 2 in this case, and 1 without a crash');
});

test('a persist that is called a second time is found without counting, where it was to be called once', async () => {
  const input = ({ directory }: { directory: string }) => ({ file: join(directory, 'lines') });
  const ask = { exportName: 'appends', input };
  expect(await crashTest(broken, ask)).toMatchObject({ again: 2, faults: [] });
  const error = await errorOf<CrashTestError>(crashTest(broken, { ...ask, once: ['persist'] }));
  expect(error.hint).toContain('check');
  expect(error.report.faults).toEqual([
    {
      case: 'killed before record 3 of 3 (main.persist DONE)',
      kind: 'again',
      message: 'main.persist was called a second time',
    },
  ]);
});

test('the same effect passes once it is known by its key', async () => {
  const report = await crashTest(broken, {
    exportName: 'appendsOnce',
    input: ({ directory }) => ({ file: join(directory, 'lines') }),
    effects: ({ directory }) => new Set(linesOf(join(directory, 'lines'))).size,
    // Each counts in a place of its own.
    atOnce: 2,
  });
  expect(report).toMatchObject({ cases: 4, kills: 4, again: 1, faults: [] });
});

test('an output that tells of a crash is found, where it does and nowhere else', async () => {
  const error = await errorOf<CrashTestError>(
    crashTest(broken, { exportName: 'counts', input: {} }),
  );
  // The run's id is in it too, and differs always: that is no fault.
  expect(error.report.faults).toMatchObject([
    { case: 'killed before record 2 of 2 (main.work DONE)', kind: 'output' },
  ]);
  const report = await crashTest<never>(broken, {
    exportName: 'counts',
    input: {},
    comparable: ({ runId }: { runId: string }) => runId,
  });
  expect(report.faults).toEqual([]);
});

test('a machine without an attempt to spare ends otherwise after a crash', async () => {
  const error = await errorOf<CrashTestError>(
    crashTest(broken, { exportName: 'impatient', input: {}, isKept: true }),
  );
  expect(new Set(error.report.faults.map(({ kind }) => kind))).toEqual(new Set(['outcome']));
  expect(error.message).toMatch(/exhausted \(.+\), and without a crash completed/);
  expect(error.hint).toContain('attempt');
  const [, keptAt] = /kept in (.+)$/.exec(error.message) ?? [];
  expect(existsSync(join(keptAt!, 'before-2', 'data', 'journal.db'))).toBe(true);
  rmSync(keptAt!, { recursive: true });
});

test('a case whose process did not die at its record is void, and the test fails', async () => {
  const file = newDir('file');
  const error = await errorOf<CrashTestError>(
    crashTest(broken, { exportName: 'shared', input: { file } }),
  );
  expect(existsSync(file)).toBe(true);
  // Without a crash: start, check, work. In every case after it: start, handed off.
  const voids = error.report.faults.filter(({ kind }) => kind === 'void');
  expect(voids.map((fault) => fault.case)).toEqual([
    'killed before record 3 of 3 (main.work DONE)',
    'killed after record 3 of 3 (main.work DONE)',
  ]);
  expect(voids[0]?.message).toContain('only to 2: the process ended by itself (0)');
  expect(error.report).toMatchObject({ cases: 6, kills: 4 });
});

test('a process that somebody else has killed is void too', async () => {
  const error = await errorOf<CrashTestError>(
    crashTest(broken, {
      exportName: 'poison',
      input: ({ name }) => ({ isDeadly: name.startsWith('killed before record 2') }),
    }),
  );
  expect(error.report.faults).toMatchObject([
    { kind: 'void', message: expect.stringContaining('somebody else killed the process') },
  ]);
  expect(error.report).toMatchObject({ cases: 4, kills: 3 });
});
