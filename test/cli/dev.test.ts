/** `fleetq dev` without a terminal: real supervisor, real worker, real SIGKILL. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, fleetq, isAlive, MACHINES, makeDirectory } from './support.ts';

test('dev starts sample runs, shows which resumes where when its worker is killed, and drains', async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev'], { cwd });
  const first = Number((await dev.said(/worker (\d+) up after/))[1]);
  // An image takes two seconds to be pulled, and is started before the first lookup: the worker
  // dies inside that.
  await dev.said(/sample\/lookup .* at/);
  process.kill(first, 'SIGKILL');
  await dev.said(new RegExp(`worker ${first} is gone \\(SIGKILL\\), starting again`));
  const [, run] = await dev.said(/(\w{26}) image\/install resumed at pull\.work, attempt 2/);
  const second = Number((await dev.said(/is gone[\s\S]*worker (\d+) up after/))[1]);
  expect(second).not.toBe(first);
  await dev.said(new RegExp(`${run} image/install completed at`));
  await dev.said(/handed off at/);
  dev.child.kill('SIGTERM');
  const ended = await dev.ended;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stderr).toMatch(/runs: \d+ started, .*completed/);
  expect([first, second].filter(isAlive)).toEqual([]);
  // In the order in which a person would tell it.
  const upAt = ended.stdout.indexOf(`worker ${second} up after`);
  expect(upAt).toBeLessThan(ended.stdout.indexOf(' resumed at '));
});

test("dev counts runs of one's own machines, whoever started them", async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev'], { cwd, env: { FLEETQ_MACHINES: MACHINES } });
  await dev.said(/worker \d+ up after/);
  await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}']);
  await dev.said(/test\/quick completed/);
  dev.child.kill('SIGTERM');
  expect((await dev.ended).stderr).toContain('runs: 1 started, 1 completed');
});

test('a worker whose supervisor is gone drains and ends by itself', async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev', '--json'], { cwd });
  const ready = JSON.parse((await dev.said(/^.*"kind":"ready".*$/m))[0]);
  expect(ready).toEqual({
    at: expect.stringMatching(/^\d{4}-/),
    kind: 'ready',
    pid: expect.any(Number),
    boot: 1,
    elapsedMs: expect.any(Number),
  });
  dev.child.kill('SIGKILL');
  await dev.ended;
  await expect.poll(() => isAlive(ready.pid), { timeout: 10_000 }).toBe(false);
});

test("machines of one's own that cannot be loaded are named, and dev ends", async () => {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, 'machines'));
  writeFileSync(join(cwd, 'machines', 'bad.mjs'), 'export const x = ;');
  const ended = await begin(['dev'], { cwd }).ended;
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/machines\/bad\.mjs cannot be loaded/);
});

test('a worker that dies again and again is started later and later', async () => {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, 'machines'));
  const text = 'setTimeout(() => { throw new Error("poison"); }, 200);';
  writeFileSync(join(cwd, 'machines', 'poison.mjs'), text);
  const dev = begin(['dev'], { cwd });
  await dev.said(/\(code 70\), starting again in 300 ms/);
  await dev.said(/\(code 70\), starting again in 600 ms/);
  await dev.said(/\(code 70\), starting again in 1\.2 s/);
  dev.child.kill('SIGTERM');
  const ended = await dev.ended;
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('poison');
});
