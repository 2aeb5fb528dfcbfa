/** The CLI with no process running: it reads the file, and writes to it, by itself. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, pod } = usePlaces();

const UNKNOWN = '01JZZZZZZZZZZZZZZZZZZZZZZZ';

test('--version answers, and --help shows the commands that are finished, and no others', async () => {
  const cwd = makeDirectory();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await fleetq(cwd, ['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  const { stdout } = await fleetq(cwd, ['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+) (\[|<| )/gm)].map((match) => match[1]);
  expect(commands).toEqual([
    ...['dev', 'start', 'runs', 'run', 'events', 'explain', 'export', 'cancel'],
    ...['worker', 'enqueue', 'wait', 'reschedule', 'pause', 'resume', 'retry', 'fork', 'audit'],
    ...['pods', 'leader', 'sweep'],
    ...['machines', 'plan', 'drain', 'errors'],
    ...[
      'dead-letters',
      'bulk',
      'queues',
      'schedules',
      'throttles',
      'migrate',
      'probe',
      'sink',
      'admin',
      'token',
      'openapi',
      'journal',
      'codec',
    ],
    ...['doctor', 'completion'],
  ]);
});

test('the help of dev names every key that its screen takes', async () => {
  const { stdout } = await fleetq(makeDirectory(), ['dev', '--help']);
  const words = stdout.slice(stdout.indexOf('On a terminal:')).split(/\s+/);
  for (const key of ['d', 'k', 's', 't', 'q']) expect(words).toContain(key);
});

describe('nobody has worked here yet', () => {
  test('lists and shows nothing, says where it looked, and makes no directory', async () => {
    const cwd = makeDirectory();
    const ended = await fleetq(cwd, ['runs', '--json']);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toBe('');
    expect(JSON.parse(ended.stderr).error).toMatchObject({
      code: 'FLEETQ_NO_JOURNAL',
      message: expect.stringContaining(join(cwd, '.fleetq')),
    });
  });
});

describe('a file that nobody holds', () => {
  let cwd: string;
  let quickId: string;
  let failedId: string;
  let leftId: string;

  beforeAll(async () => {
    cwd = makeDirectory();
    const quick = await fleetq(cwd, [
      'start',
      'test/quick',
      '--input',
      '{"n":21}',
      '--wait',
      '--json',
    ]);
    expect(quick.code).toBe(0);
    quickId = JSON.parse(quick.stdout).id;
    expect(JSON.parse(quick.stdout)).toMatchObject({
      status: 'completed',
      output: { doubled: 42 },
      executedBy: 'this-command',
    });
    writeFileSync(join(cwd, 'secret.json'), '{"secret":"hush"}');
    const failed = await fleetq(cwd, [
      'start',
      'test/failing',
      '--input',
      '@secret.json',
      '--wait',
    ]);
    expect(failed.code).toBe(4);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toContain('no luck');
    failedId = /run (\w{26}) started/.exec(failed.stderr)![1]!;
    const left = await fleetq(cwd, ['start', 'test/quick', '--input', '-', '--key', 'k'], {
      input: '{"n":1}',
    });
    expect(left.code).toBe(0);
    expect(left.stderr).toContain('the next one');
    leftId = left.stdout.trim();
  });

  test('runs lists them newest first, without inputs and outputs', async () => {
    const ended = await fleetq(cwd, ['runs', '--json']);
    expect(ended.code).toBe(0);
    const { runs } = JSON.parse(ended.stdout);
    expect(runs.map((run: { id: string }) => run.id)).toEqual([leftId, failedId, quickId]);
    expect(runs[1]).toMatchObject({ status: 'failed', outcome: 'exhausted', attempt: 2 });
    expect(ended.stdout).not.toContain('hush');
  });

  test('runs through a pipe is tab-separated data on stdout, and remarks are on stderr', async () => {
    const ended = await fleetq(cwd, ['runs', '--status', 'failed']);
    expect(ended.stdout.split('\t').slice(0, 4)).toEqual([
      failedId,
      'test/failing@1',
      'main.work',
      'failed',
    ]);
    expect(ended.stderr).toContain('read from the file');
  });

  test.each([
    ['active', 1],
    ['cancelled', 0],
  ])('runs --status %s finds %i', async (status, count) => {
    const ended = await fleetq(cwd, ['runs', '--json', '--status', status]);
    expect(JSON.parse(ended.stdout).runs).toHaveLength(count);
    expect(ended.code).toBe(count > 0 ? 0 : 3);
  });

  test('run shows one, and events its records in order', async () => {
    const run = await fleetq(cwd, ['run', failedId, '--json']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      id: failedId,
      input: { secret: 'hush' },
      error: { message: 'no luck', causes: ['the moon'] },
    });
    const events = await fleetq(cwd, ['events', failedId, '--json']);
    const types = events.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event.type);
    expect(types).toEqual(['STARTED', 'FAILED', 'EXHAUSTED']);
    const rest = await fleetq(cwd, ['events', failedId, '--after', '1']);
    expect(rest.stdout.split('\t')[2]).toBe('EXHAUSTED');
    const shown = await fleetq(cwd, ['run', quickId]);
    expect(shown.stdout).toContain('completed');
    expect(shown.stdout).toContain('{"doubled":42}');
    const failed = await fleetq(cwd, ['run', failedId]);
    expect(failed.stdout).toMatch(/^error {2,}\w+: /m);
  });

  test('a key that was used before gives the same run, and with another input a conflict', async () => {
    const same = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}', '--key', 'k']);
    expect(same.stdout.trim()).toBe(leftId);
    const other = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":2}', '--key', 'k']);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('has another input');
  });

  test.each<[string, string[], number, RegExp]>([
    ['no command', [], 2, /Usage: fleetq/],
    ['an unknown command', ['rnus'], 2, /Did you mean (one of )?runs?/],
    ['an id nobody knows', ['run', UNKNOWN], 3, /there is no run 01JZ/],
    ['cancel of an unknown run', ['cancel', UNKNOWN], 3, /there is no run/],
    ['a machine nobody knows', ['start', 'test/quik'], 3, /did you mean test\/quick/],
    [
      'a place where nothing can be made',
      ['start', 'test/quick', '--input', '{"n":1}', '--data-dir', '/proc/x/y'],
      1,
      /the data directory \/proc\/x\/y cannot hold a journal/,
    ],
    ['input that is not JSON', ['start', 'test/quick', '--input', '{n'], 2, /--input is not JSON/],
    ['input that does not fit', ['start', 'test/quick', '--input', '{}'], 2, /does not fit/],
  ])('%s is refused in words', async (_, args, code, words) => {
    const ended = await fleetq(cwd, args);
    expect(ended.stderr).toMatch(words);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  });

  test('journal lists its own commands and no other', async () => {
    const help = await fleetq(cwd, ['journal', '--help']);
    expect(help.stdout).toMatch(/verify[\s\S]*inspect[\s\S]*export/);
    expect(help.stdout).not.toMatch(/^ {2}help/m);
  });

  test('journal verify, inspect and export look at the file', async () => {
    const verified = await fleetq(cwd, ['journal', 'verify', '--json']);
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toEqual({ runs: 3, records: 6, sealed: 0, problems: [] });
    const inspected = await fleetq(cwd, ['journal', 'inspect', '--json']);
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      runs: { unfinished: 1, finished: 2 },
      deadLetters: 1,
    });
    const exported = await fleetq(cwd, ['journal', 'export', '--run', failedId]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ id: failedId, records: { length: 3 } });
    const unknown = await fleetq(cwd, ['journal', 'export', '--run', UNKNOWN]);
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
  });

  test('cancel without a process is durable, and the first one wins', async () => {
    const id = (await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":5}'])).stdout.trim();
    const first = await fleetq(cwd, ['cancel', id, '--reason', 'changed my mind', '--json']);
    expect(JSON.parse(first.stdout)).toEqual({ run: id, isCancelled: true, outcome: 'cancelled' });
    expect(first.code).toBe(0);
    const second = await fleetq(cwd, ['cancel', id, '--json']);
    expect(JSON.parse(second.stdout)).toMatchObject({ isCancelled: false });
    expect(second.code).toBe(1);
    const { reason } = JSON.parse((await fleetq(cwd, ['run', id, '--json'])).stdout);
    expect(reason).toBe('changed my mind');
  });

  test('a run that was left in the file is executed by the next process', async () => {
    await pod(cwd);
    const ended = await fleetq(cwd, ['events', leftId, '--follow', '--json']);
    expect(JSON.parse(ended.stdout.trim().split('\n').at(-1)!).state).toBe('completed');
  });
});

test('what a run that completed had failed with before is its last error', async () => {
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: fileURLToPath(new URL('trace-machines', import.meta.url)) };
  const start = ['start', 'test/patient', '--input', '{"secret":"s"}', '--wait', '--json'];
  const done = await fleetq(cwd, start, { env });
  const shown = await fleetq(cwd, ['run', JSON.parse(done.stdout).id]);
  expect(shown.stdout).toMatch(/^status +completed$/m);
  expect(shown.stdout).toMatch(/^last error \w+: /m);
});

describe('a data directory that cannot be used', () => {
  test('a link is refused with what to do', async () => {
    const cwd = makeDirectory();
    mkdirSync(join(cwd, 'real'));
    symlinkSync(join(cwd, 'real'), join(cwd, '.fleetq'));
    const ended = await fleetq(cwd, ['start', 'test/quick', '--input', '{"n":1}']);
    expect(ended.stderr).toMatch(/is a symbolic link[\s\S]*hint:/);
    expect(ended.code).toBe(1);
    rmSync(join(cwd, '.fleetq'));
  });

  test('a file that is no journal is refused, and left as it is', async () => {
    const cwd = makeDirectory();
    mkdirSync(join(cwd, '.fleetq'), { mode: 0o700 });
    writeFileSync(join(cwd, '.fleetq', 'journal.db'), 'this is not a database, it is a letter');
    const ended = await fleetq(cwd, ['runs']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/is damaged: the file ends after 38 bytes/);
  });
});
