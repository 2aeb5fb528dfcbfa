/** `fleetq explain`: what it prints, and how it ends. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileAppears } from './file-appears.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace } = usePlaces();
const UNKNOWN = '01JZZZZZZZZZZZZZZZZZZZZZZZ';

test('a task is explained from its first line to what to type, while it waits, runs and has failed', async () => {
  const place = await makePlace();
  const { task } = await place.json('enqueue', 'test/failing', '--input', '{"secret":"s"}');
  const alone = await place.run('explain', task);
  expect(alone.code).toBe(0);
  expect(alone.stdout.split('\n')).toEqual([
    'It is due, and no pod is up to take it: there has been none. [no-pod]',
    '  → start a pod: fleetq worker',
    '',
  ]);
  await place.pod();
  await place.run('wait', task);
  const failed = (await place.run('explain', task)).stdout.split('\n');
  expect(failed[0]).toMatch(
    /^It failed for good .* ago, in main\.work after 2 attempts; the last said: no luck\. \[exhausted\]$/,
  );
  expect(failed[1]).toMatch(/^ {2}\S+Z {2}record 2 {2}epoch 1 {2}EXHAUSTED led to failed$/);
  expect(failed[2]).toBe(`  → try it again: fleetq dead-letters redrive ${task}`);
  expect(failed).toContain(
    'main.work ran again: it threw, and was tried again (no luck). [error-retried]',
  );

  const gate = join(place.cwd, 'gate');
  const input = JSON.stringify({ gate });
  const { task: held } = await place.json('enqueue', 'test/gated', '--input', input);
  await fileAppears(`${gate}.in`);
  expect(await place.json('explain', held)).toMatchObject({
    id: held,
    at: expect.any(Number),
    findings: [{ code: 'running', hint: { command: `fleetq events ${held} --follow` } }],
  });
  await place.run('cancel', held);
});

test('a run of one host is explained by its file where nobody holds it', async () => {
  const cwd = makeDirectory();
  const started = await fleetq(cwd, ['start', 'test/sleeping', '--input', '{}']);
  expect(started.code, started.stderr).toBe(0);
  const { code, stdout } = await fleetq(cwd, ['explain', started.stdout.trim()]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^No process holds its journal, so nobody goes on with it: .* \[no-process\]$/m,
  );
});

test('an unknown run ends with 3, and what is no id with 2, with a store and without', async () => {
  const place = await makePlace();
  expect((await place.run('explain', UNKNOWN)).code).toBe(3);
  const cwd = makeDirectory();
  const unknown = await fleetq(cwd, ['explain', UNKNOWN, '--json']);
  expect([unknown.code, unknown.stdout]).toEqual([3, '']);
  const wrong = await fleetq(cwd, ['explain', 'nonsense']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("must be a run's id");
});
