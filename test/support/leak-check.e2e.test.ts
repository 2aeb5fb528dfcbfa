/** Planted leaks, one to a file, in a vitest of their own: each is named, and the run does not end well. */
import { expect, test } from 'vitest';
import { usePlanted } from './planted.ts';

const runPlanted = usePlanted();

const LEAKS: Readonly<Record<string, readonly [code: string, named: string]>> = {
  cwd: [`process.chdir('/');`, 'cwd'],
  environment: [`process.env.PLANTED = 'secret';`, 'env PLANTED'],
  listener: [`process.on('planted', () => {});`, 'listeners of planted (0, now 1)'],
  interval: [`setInterval(() => {}, 1_000);`, 'timers (0, now 1)'],
  timeout: [`setTimeout(() => {}, 100_000);`, 'timers (0, now 1)'],
  watcher: [`(await import('node:fs')).watch('.', () => {});`, 'FSEventWrap (0, now 1)'],
  stat: [`(await import('node:fs')).watchFile('.', () => {});`, 'StatWatcher (0, now 1)'],
  thread: [
    `const { Worker } = await import('node:worker_threads');
     new Worker('setInterval(() => {}, 1_000)', { eval: true }).unref();`,
    'worker threads (0, now 1)',
  ],
  server: [
    `const server = (await import('node:net')).createServer().listen(0);
     await new Promise((resolve) => server.once('listening', resolve));`,
    'TCPServerWrap (0, now 1)',
  ],
  random: [`Math.random = () => 0;`, 'Math.random'],
  uuid: [`crypto.randomUUID = () => '';`, 'crypto.randomUUID'],
  log: [`console.log = () => {};`, 'console.log'],
  microtask: [`globalThis.queueMicrotask = () => {};`, 'queueMicrotask'],
  clock: [`vi.useFakeTimers();`, 'Date'],
};

test('each leak is named with its file, and no clean file is', async () => {
  const clean = `
    const stop = setInterval(() => {}, 1_000);
    clearInterval(stop);
    await new Promise((resolve) => setTimeout(resolve, 1));
    setTimeout(() => {}, 100_000).unref();`;
  const leaks = Object.entries(LEAKS);
  const planted = Object.fromEntries(leaks.map(([name, [code]]) => [name, code]));
  const { code, stdout, tally } = await runPlanted({ clean, ...planted });

  for (const [name, [, named]] of leaks) {
    const line = new RegExp(`^${name}\\.planted\\.js: left behind: .*$`, 'm').exec(stdout);
    expect(line?.[0] ?? stdout).toContain(named);
  }
  expect(stdout).not.toMatch(/^clean\.planted\.js: /m);
  expect(stdout).not.toContain('secret');
  expect(code).toBe(1);
  expect(tally).toBe(`${leaks.length + 1} passed, ${leaks.length} failed, 0 skipped`);
});

test('a rejection that no code handles fails a run whose tests pass, and is named', async () => {
  const { code, stdout, tally } = await runPlanted({
    rejection: `void Promise.reject(new Error('planted'));`,
  });
  expect(stdout).toMatch(/^outside of tests: planted$/m);
  expect([code, tally]).toEqual([1, '1 passed, 1 failed, 0 skipped']);
});
