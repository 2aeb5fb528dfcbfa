/** Where a project has no machines no command runs FleetQ's samples in their place: only `dev` does. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import * as inProcess from './in-process.ts';

const newDir = useTempDirs();
const WANTED = '--machines <path>';

const fleetq = (cwd: string, args: readonly string[]) =>
  inProcess.fleetq(cwd, args, { env: { FLEETQ_MACHINES: undefined } });

async function emptyProject() {
  const cwd = newDir();
  mkdirSync(cwd);
  const store = ['--store', `sqlite:${join(cwd, 'fleet.db')}`];
  expect((await fleetq(cwd, ['migrate', 'up', ...store])).code).toBe(0);
  return { cwd, store };
}

test.each([
  ['enqueue', 'sample/charge', '--input', '{"account":"a","cents":1}'],
  ['plan'],
  ['schedules', 'set', 'daily', 'hello', '--cron', '0 3 * * *'],
])('%s without machines is an error that says where to put them', async (...words) => {
  const { cwd, store } = await emptyProject();
  const ended = await fleetq(cwd, [...words, ...store]);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(`${join(cwd, 'machines')}`);
  expect(ended.stderr).toContain(WANTED);
});

test('so is a start on this host, and its journal is not even made', async () => {
  const { cwd } = await emptyProject();
  const ended = await fleetq(cwd, ['start', 'hello', '--input', '{"name":"Ada"}', '--wait']);
  expect([ended.code, ended.stdout]).toEqual([2, '']);
  expect(ended.stderr).toContain(WANTED);
});

test('doctor warns, since a host that only looks needs none', async () => {
  const { cwd } = await emptyProject();
  const ended = await fleetq(cwd, ['doctor', '--json']);
  const { checks } = JSON.parse(ended.stdout);
  const check = checks.find(({ name }: { name: string }) => name === 'machines');
  expect(check).toMatchObject({ verdict: 'warn', fix: expect.stringContaining(WANTED) });
});
