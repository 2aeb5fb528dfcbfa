/** The command line as people have it, in real processes: a run is started, killed, resumed and shown. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, fileAppears, fleetq, MACHINES, makeDirectory } from './support.ts';

const UNKNOWN = '01JZZZZZZZZZZZZZZZZZZZZZZZ';

test('a run outlives kill -9 of its process, and scripts can trust exit codes and JSON', async () => {
  const cwd = makeDirectory();
  const ask = (...args: string[]) => fleetq(cwd, args);
  const work = async () => {
    const env = { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'silent' };
    const worker = begin(['worker', '--json'], { cwd, env });
    const [line] = await worker.said(/\{.*"kind":"ready".*\}/);
    expect(JSON.parse(line)).toMatchObject({ pid: worker.child.pid, boot: expect.any(Number) });
    return worker;
  };
  const first = await work();
  const gate = join(cwd, 'gate');
  const input = JSON.stringify({ gate });
  const started = await ask('start', 'test/gated', '--input', input, '--json');
  const { id, executedBy } = JSON.parse(started.stdout);
  expect([started.code, executedBy]).toEqual([0, 'running-process']);
  await fileAppears(`${gate}.in`);
  first.child.kill('SIGKILL');
  expect((await first.ended).signal).toBe('SIGKILL');

  const [version, wrong, unknown, listed] = await Promise.all([
    ask('--version'),
    ask('rnus'),
    ask('run', UNKNOWN, '--json'),
    ask('runs', '--json'),
  ]);
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(version).toMatchObject({ code: 0, stdout: `${current}\n` });
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
  expect(JSON.parse(unknown.stderr).error).toMatchObject({ code: 'FLEETQ_RUN_NOT_FOUND' });
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.stdout).runs).toMatchObject([{ id, status: 'active' }]);

  writeFileSync(gate, '');
  const second = await work();
  const [followed, failed] = await Promise.all([
    ask('events', id, '--follow'),
    ask('start', 'test/failing', '--input', '{"secret":"s"}', '--wait'),
  ]);
  const types = followed.stdout.trim().split('\n');
  expect(types.map((line) => line.split('\t')[2])).toEqual([
    ...['STARTED', 'INTERRUPTED', 'DONE', 'DONE'],
  ]);
  expect(failed).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('no luck') });
  const shown = await ask('run', id, '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ output: { worked: 2, persisted: 2 } });
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});
