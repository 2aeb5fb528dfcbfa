/** fleetq doctor: what it looks at, and what makes it fail. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placeOf } from '../../src/journal/index.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, pod } = usePlaces();

type Checks = readonly { name: string; verdict: string; fact: string; fix?: string }[];

async function ask(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout } = await fleetq(cwd, ['doctor', '--json'], { env });
  const told = JSON.parse(stdout) as {
    isHealthy: boolean;
    checks: Checks;
    config: readonly { name: string; value: unknown; source: string }[];
  };
  return { code, ...told, of: (name: string) => told.checks.find((check) => check.name === name) };
}

test('a healthy place is told with measurements and the source of every setting', async () => {
  const cwd = makeDirectory();
  await pod(cwd);
  const { code, isHealthy, checks, config, of } = await ask(cwd, {
    FLEETQ_SLOTS: '7',
    FLEETQ_SLOT: '1',
  });
  expect([code, isHealthy]).toEqual([0, true]);
  expect(checks.map(({ name }) => name)).toEqual([
    ...['node', 'sqlite', 'directory', 'journal', 'socket', 'space', 'filesystem', 'fsync'],
    ...['environment', 'machines'],
  ]);
  expect(of('node')?.fact).toContain(process.version);
  expect(of('journal')?.fact).toContain(`held by process ${process.pid}`);
  expect(of('fsync')?.fact).toMatch(/^p50 \d.* p99 \d.* of 50$/);
  expect(of('environment')).toMatchObject({ verdict: 'warn', fact: 'nobody reads FLEETQ_SLOT' });
  expect(config).toContainEqual({ name: 'slots', value: 7, source: 'FLEETQ_SLOTS' });
  expect(config).toContainEqual({ name: 'retention', value: '7d', source: 'default' });
});

test('a process that does not answer on its socket may be about to start, and is left alone', async () => {
  const cwd = makeDirectory();
  await pod(cwd);
  rmSync(placeOf(join(cwd, '.fleetq')).socket);
  const { code, of } = await ask(cwd);
  expect(code).toBe(0);
  const { verdict, fact, fix } = of('journal')!;
  expect(verdict).toBe('warn');
  expect(fact).toContain(`is held by process ${process.pid}`);
  expect(fact).toMatch(/: it starts, waits for another process with this journal, or hangs$/);
  expect(fix).toMatch(
    /^its log and its \/readyz say which: let it start or wait; if it hangs, stop /,
  );
});

test('what is wrong is told with its fix, and the exit code is 8', async () => {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, '.fleetq'));
  chmodSync(join(cwd, '.fleetq'), 0o755);
  mkdirSync(join(cwd, 'bad'));
  writeFileSync(join(cwd, 'bad', 'broken.mjs'), 'export const = 1;');
  const { code, of } = await ask(cwd, { FLEETQ_MACHINES: 'bad' });
  expect(code).toBe(8);
  expect(of('directory')).toMatchObject({
    verdict: 'warn',
    fix: expect.stringContaining('chmod 700'),
  });
  expect(of('machines')).toMatchObject({
    verdict: 'fail',
    fact: expect.stringContaining('bad/broken.mjs'),
  });
  const words = await fleetq(cwd, ['doctor'], { env: { FLEETQ_MACHINES: 'bad' } });
  expect(words.stdout).toMatch(/^fail {2}machines /m);
  expect(words.stdout).toMatch(/^ +→ the file itself throws or does not parse/m);
});
