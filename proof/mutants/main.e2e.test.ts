/** The command `npm run mutants`: what it says, what it refuses, and how it ends when it is stopped. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import { MUTANTS } from './list.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = ['proof/mutants/main.ts'];
const newDir = useTempDirs();

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...PROGRAM, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('it tells what it does, and lists every mutant with its rule and its command', () => {
  expect(run('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^npm run mutants/),
  });
  const { stdout } = run('--list');
  for (const { name, breaks } of MUTANTS) expect(stdout).toContain(`${name}\n    ${breaks}\n`);
});

test.each([
  [['--only', 'no-such'], '--only wants names that --list has, got "no-such"'],
  [['--share', '5'], '--share wants a leg of so many, such as 2/3, got 5'],
  [['--seconds', ''], '--seconds wants a whole number from 0, got ""'],
  [['--everything'], "Unknown option '--everything'"],
])('%j is refused, with what was wanted', (args, message) => {
  const { status, stderr } = run(...args);
  expect(stderr).toContain(message);
  expect(status).toBe(2);
});

test('a hunt that has begun with none of them is no success', () => {
  const { status, stderr } = run('--only', MUTANTS[0]!.name, '--minutes', '0');
  expect(stderr).toContain('none was begun, which shows nothing');
  expect(status).toBe(2);
});

test('the shares of them are all of them, and each is in one', () => {
  const shares = [1, 2, 3].map((leg) => run('--list', '--share', `${leg}/3`).stdout);
  const names = (text: string) => text.match(/^\S+$/gm) ?? [];
  expect(shares.flatMap(names).sort()).toEqual(MUTANTS.map(({ name }) => name).sort());
});

test('stopped in the middle, it leaves no copy and no process behind', async () => {
  const temporary = newDir();
  mkdirSync(temporary);
  const child = spawn(process.execPath, [...PROGRAM, '--only', MUTANTS[0]!.name], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: temporary },
    stdio: 'ignore',
  });
  const copy = await vi.waitFor(
    () => {
      const [name] = readdirSync(temporary).filter((file) => file.startsWith('fleetq-mutants-'));
      const path = join(temporary, name!);
      // By then a test of the clean copy is under way.
      expect(marked(path)).not.toEqual([]);
      return path;
    },
    { timeout: 180_000, interval: 100 },
  );
  child.kill('SIGINT');
  expect(await endOf(child)).toBe(130);
  expect(readdirSync(temporary).filter((file) => file.startsWith('fleetq-mutants-'))).toEqual([]);
  await vi.waitFor(() => expect(marked(copy)).toEqual([]), 90_000);
});

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** Processes that carry the mark of this copy, and live. */
function marked(copy: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/environ`)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`FLEETQ_MUTANTS_MARK=${copy}`);
    } catch {
      return false;
    }
  });
}
