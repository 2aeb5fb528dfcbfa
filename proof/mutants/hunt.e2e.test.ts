/** The hunt on a small tree of its own: what it takes for caught, and what it does not. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import { hunt, judge } from './hunt.ts';
import { type Change, type Mutant, tests, tool } from './mutant.ts';
import { medianOf, summaryOf } from './summary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const newDir = useTempDirs();

const FILES = {
  '.gitignore': 'node_modules\n',
  'src/sum.ts': 'export const sum = (a: number, b: number) => a + b;\n',
  'test/look.ts': `import { sum } from '../src/sum.ts';
    if (sum(2, 3) !== 5) {
      console.error('VIOLATION of addition:', sum(2, 3));
      process.exitCode = 1;
    }`,
  'test/blind.ts': `import '../src/sum.ts';`,
  'test/red.ts': `throw new Error('red whatever happens');`,
  'test/wait.ts': `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    import { sum } from '../src/sum.ts';
    if (sum(2, 3) !== 5) {
      const left = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
      writeFileSync(process.argv[2]!, String(left.pid));
      setInterval(() => undefined, 1_000);
    }`,
  'test/sum.test.ts': `import { expect, test } from 'vitest';
    import { sum } from '../src/sum.ts';
    test('two and three are five', () => expect(sum(2, 3)).toBe(5));`,
};

/** A repository of its own, with the packages of this one. */
function newTree(): string {
  const root = newDir('tree');
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  execFileSync('git', ['init', '-q'], { cwd: root });
  return root;
}

const MINUS: Change = { file: 'src/sum.ts', find: 'a + b', put: 'a - b' };
const look = tool('test/look.ts');

function mutant(more: Partial<Mutant> = {}): Mutant {
  const all = { breaks: 'sums', changes: [MINUS], command: look, shows: /VIOLATION of addition/ };
  return { name: 'minus', ...all, ...more };
}

async function verdictOf(more: Partial<Mutant>, secondsMax = 60, root = newTree()) {
  const [finding] = await hunt({ root, mutants: [mutant(more)], secondsMax });
  return finding!;
}

test('a mutant is caught by what its command shows, and the tree is left as it was', async () => {
  const temporary = newDir();
  mkdirSync(temporary);
  const root = newTree();
  vi.stubEnv('TMPDIR', temporary);
  const lines: string[] = [];
  const mutants = [mutant(), mutant({ name: 'again' })];
  const found = await hunt({
    root,
    mutants,
    secondsMax: 60,
    onProgress: (line) => lines.push(line),
  });
  vi.unstubAllEnvs();
  expect(found).toMatchObject([
    {
      name: 'minus',
      verdict: 'caught',
      because: expect.stringMatching(/VIOLATION of addition: -1/),
    },
    { name: 'again', verdict: 'caught' },
  ]);
  expect(found[0]!.seconds).toBeGreaterThan(0);
  expect(lines[1]).toMatch(/^2\/2 again: caught in /);
  expect(readFileSync(join(root, 'src/sum.ts'), 'utf8')).toBe(FILES['src/sum.ts']);
  expect(readdirSync(temporary)).toEqual([]);
});

test('a mutant that its command passes by is missed', async () => {
  expect(await verdictOf({ command: tool('test/blind.ts') })).toMatchObject({ verdict: 'missed' });
});

test.each([
  ['is not there', 'a * b', 0],
  ['is there twice', 'number', 2],
])('a patch whose text %s is an error of the mutant', async (_, find, count) => {
  const { verdict, because } = await verdictOf({ changes: [{ ...MINUS, find }] });
  expect(verdict).toBe('misfit');
  expect(because).toContain(`src/sum.ts is to hold "${find}" exactly once, and holds it ${count}`);
});

test('of several changes none stays where one does not fit', async () => {
  const changes = [MINUS, { ...MINUS, find: 'nowhere' }];
  const mutants = [mutant({ changes }), mutant({ name: 'blind', command: look, changes: [MINUS] })];
  const found = await hunt({ root: newTree(), mutants, secondsMax: 60 });
  expect(found.map(({ verdict }) => verdict)).toEqual(['misfit', 'caught']);
});

test('a command that is red on the clean tree proves nothing', async () => {
  const { verdict, because } = await verdictOf({ command: tool('test/red.ts'), shows: /red/ });
  expect(verdict).toBe('redWhenClean');
  expect(because).toContain('red whatever happens');
});

test('a command that fails by anything else catches nothing', async () => {
  const changes = [{ ...MINUS, put: 'a +* b' }];
  expect(await verdictOf({ changes })).toMatchObject({ verdict: 'otherwise' });
});

test('a command that never ends catches nothing, and leaves nothing running', async () => {
  const note = newDir('left-behind');
  const command = tool('test/wait.ts', note);
  expect(await verdictOf({ command, shows: /./ }, 4)).toMatchObject({
    verdict: 'otherwise',
    because: 'its time was over',
  });
  const pid = readFileSync(note, 'utf8');
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 90_000);
});

/** A zombie that nobody has waited for yet has ended too. */
function isAlive(pid: string): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
}

test('of a test run the name of a failing test counts, and a run without tests proves nothing', async () => {
  const root = newTree();
  const found = await hunt({
    root,
    secondsMax: 60,
    mutants: [
      mutant({ command: tests('test/sum.test.ts'), shows: /two and three are five/ }),
      mutant({ command: tests('test/sum.test.ts', 'six'), shows: /two and three are five/ }),
    ],
  });
  expect(found).toMatchObject([
    { verdict: 'caught', because: 'FAIL  test/sum.test.ts > two and three are five' },
    { verdict: 'redWhenClean', because: 'no test was run' },
  ]);
});

test('whatever a test run prints beside the names of failing tests is no evidence', () => {
  const output = ' ✓ two and three are five\n FAIL  test/sum.test.ts > something else\n';
  const end = { code: 1, isLate: false, seconds: 1, output };
  expect(judge(end, { command: tests('test/sum.test.ts'), shows: /are five/ }).verdict).toBe(
    'otherwise',
  );
  expect(judge(end, { command: tests('test/sum.test.ts'), shows: /something else/ }).verdict).toBe(
    'caught',
  );
});

test('the median is that of the caught, and what proves nothing is told apart from the missed', () => {
  const finding = { name: 'n', command: 'c', because: 'b' };
  const summary = summaryOf([
    { ...finding, verdict: 'caught', seconds: 2 },
    { ...finding, verdict: 'caught', seconds: 5 },
    { ...finding, verdict: 'missed', seconds: 90 },
    { ...finding, verdict: 'misfit', seconds: 0 },
  ]);
  expect(summary).toMatchObject({ planted: 4, caught: 2, missed: 1, unusable: 1 });
  expect(summary.medianSecondsToDetect).toBe(3.5);
  expect([medianOf([]), medianOf([1, 2, 9])]).toEqual([0, 2]);
});
