/** `fleetq dev` without a terminal: a real fleet of three processes, and real SIGKILLs. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { fleetq } from './in-process.ts';
import { BIN, begin, endAfterTest, isAlive, MACHINES, makeDirectory } from './support.ts';

test('dev runs three pods; one is killed, its runs go on elsewhere; nothing is lost or doubled', async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev'], { cwd });
  await dev.said(/(pod-\d up after[\s\S]*){3}/);
  // An image takes seconds to be pulled: whoever has begun one dies inside that.
  const [, victim, pid] = await dev.said(/(pod-\d) up after .* \(process (\d+)\)/);
  await dev.said(/(on pod-\d at [\s\S]*){12}/);
  process.kill(Number(pid), 'SIGKILL');
  await dev.said(new RegExp(`${victim} is gone \\(SIGKILL\\), starting again`));
  await dev.said(new RegExp(`is gone[\\s\\S]*${victim} up after`));
  await dev.said(/is gone[\s\S]*(on pod-\d at [\s\S]*){5}/);
  dev.child.kill('SIGTERM');
  const ended = await dev.ended;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stderr).toMatch(
    /enqueued \d+, completed \d+, .*; lost 0, doubled 0 of \d+ acknowledged/,
  );
  const pids = [...ended.stdout.matchAll(/\(process (\d+)\)/g)].map((match) => Number(match[1]));
  expect([pids.length, pids.filter(isAlive)]).toEqual([4, []]);
  const kept = readFileSync(join(cwd, '.fleetq', 'dev-ledger'), 'utf8')
    .trim()
    .split('\n');
  expect(kept.length).toBeGreaterThan(3);
});

/** A terminal for a child, by a tool that hosts with util-linux have. */
const hasScript = spawnSync('script', ['--version']).status === 0;

test.runIf(hasScript)(
  'on a terminal, k kills a pod and shows who takes its runs over where',
  async () => {
    const cwd = makeDirectory();
    const command = `stty rows 40 cols 110; exec "${process.execPath}" "${BIN}" dev`;
    // It paints, whatever was said to those who print about the tests.
    const env = { ...process.env, NO_COLOR: '' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env, timeout: 240_000 });
    endAfterTest(child);
    let screen = '';
    const begun = new Set<string>();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen = (screen + stripVTControlCharacters(text)).slice(-200_000);
      for (const [, pid] of screen.matchAll(/up after [^\n]*\(process (\d+)\)/g)) begun.add(pid!);
    });
    const shows = (pattern: RegExp) =>
      expect.poll(() => screen, { timeout: 90_000 }).toMatch(pattern);
    await shows(/(pod-\d up after[\s\S]*){3}/);
    // What a person needs first stands first.
    expect(screen).toMatch(/^admin UI: \S+\s+fleetq dev {2}admin UI http:\/\/127\.0\.0\.1:\d+ /);
    // Two of eight samples take seconds: soon every pod has one in hand.
    await shows(/enqueued 2\d/);
    // Where a kill finds the runs is chance: one in a pull is what most of them find.
    const PULLED = /image\/install taken over by pod-\d from pod-\d at pull\.work, after/;
    for (let kills = 1; !PULLED.test(screen); kills++) {
      expect(kills).toBeLessThan(6);
      child.stdin.write('k');
      await shows(/pod-\d killed with SIGKILL \(process \d+\), [1-9]\d* runs? in hand/);
      await shows(/killed [\d.]+ m?s ago, \d+ runs? waits?/);
      await shows(/nothing of pod-\d is left after .*: it comes back/);
      await expect.poll(() => begun.size, { timeout: 90_000 }).toBe(3 + kills);
    }
    child.stdin.write('t');
    await shows(/the sample API answers 429 to all/);
    child.stdin.write('s');
    await shows(/llm\/summarise [^\n]*waiting/);
    child.stdin.write('t');
    await shows(/the sample API takes calls again/);
    const gone = once(child, 'close');
    child.stdin.write('q');
    await gone;
    // A run that has ended is not one that goes on, at no look at any pod.
    expect(screen).not.toMatch(/(completed|handedOff) +active/);
    expect(screen).toMatch(/taken over [1-9]\d*\s+lost 0, doubled 0 of \d+ acknowledged/);
  },
  240_000,
);

test("dev runs tasks of one's own machines, enqueued from a shell, and none of its samples", async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev'], { cwd, env: { FLEETQ_MACHINES: MACHINES } });
  await dev.said(/pod-\d up after/);
  const store = ['--store', 'sqlite:.fleetq/fleet.db'];
  const done = await fleetq(cwd, [
    ...['enqueue', 'test/quick', '--input', '{"n":1}', '--wait', ...store],
  ]);
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 2 }]);
  await dev.said(/test\/quick completed on pod-\d/);
  dev.child.kill('SIGTERM');
  const { stderr } = await dev.ended;
  expect(stderr).toContain('lost 0, doubled 0 of 1 acknowledged');
});

test('pods whose starter is gone drain and end by themselves', async () => {
  const cwd = makeDirectory();
  const dev = begin(['dev', '--json'], { cwd });
  await dev.said(/("kind":"ready"[\s\S]*){3}/);
  const [line] = await dev.said(/^.*"kind":"ready".*$/m);
  const ready = JSON.parse(line);
  expect(ready).toMatchObject({ by: expect.stringMatching(/^pod-\d$/), boot: 1 });
  dev.child.kill('SIGKILL');
  const { stdout } = await dev.ended;
  const pids = [...stdout.matchAll(/"kind":"ready","pid":(\d+)/g)].map((match) => Number(match[1]));
  expect(pids.length).toBe(3);
  await expect.poll(() => pids.filter(isAlive), { timeout: 90_000 }).toEqual([]);
});

test("machines of one's own that cannot be loaded are named, and dev ends", async () => {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, 'machines'));
  writeFileSync(join(cwd, 'machines', 'bad.mjs'), 'export const x = ;');
  const ended = await begin(['dev'], { cwd }).ended;
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/machines\/bad\.mjs cannot be loaded/);
});
