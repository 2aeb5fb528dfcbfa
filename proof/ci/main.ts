/**
 * Runs what the gate runs after `npm test`: each quick tool at its smallest size, a handful of planted bugs, three
 * package managers, and a quarter of the slow tests. The commit decides which quarter; --part repeats it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentCommit } from '../../test/support/save-leg.ts';
import { misused, readFlags, wholeFlag } from '../../test/support/tool.ts';
import { secondRun } from './second-run.ts';

const HELP = `npm run proof -- ci [--part N]

Runs each quick tool at its smallest size, a handful of planted bugs, three package managers, and a quarter of the
tests that npm test leaves out. A step that fails is run once more, and both results are printed: a test that fails
and passes at one commit is a defect of its own. Ends with 1 where a step failed twice.

  --part N   the N-th of 4 parts; otherwise the commit decides
`;
const PARTS = 4;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SLOW_TESTS = ['e2e', 'ui', 'proof'].map((name) => `--project=${name}`);
/** So many shares of the planted bugs that one of them is a handful. */
const MUTANT_SHARES = 50;

type Step = () => Promise<boolean>;

const { values } = readFlags(
  { options: { part: { type: 'string' }, help: { type: 'boolean' } } },
  HELP,
);
const number = numberOfCommit();
const part = values.part === undefined ? (number % PARTS) + 1 : wholeFlag('part', values.part, 1);
if (part > PARTS) misused(`--part wants a number from 1 to ${PARTS}, got ${part}`);

const jobs = String(availableParallelism());
const STEPS: Readonly<Record<string, Step>> = {
  simulate: tool('simulate', '--seeds', '100', '--small', '--from', String(number % 10_000)),
  exhaustive: tool('exhaustive', '--depth', '0', '--stride', '11', '--jobs', jobs),
  corruption: tool('corruption', '--stride', '997'),
  powerloss: tool('powerloss', '--stride', '7'),
  differential: tool('differential', '--sequences', '20', '--seed', String(number % 10_000)),
  chaos: tool('chaos', '--size', 'ci', '--seed', String(number % 10_000)),
  fuzz: tool('fuzz', '--requests', '1000'),
  kills: tool('kills', '--runs', '300', '--kills', '10'),
  mutants: tool(
    'mutants',
    '--quick',
    '--share',
    `${(number % MUTANT_SHARES) + 1}/${MUTANT_SHARES}`,
  ),
  install: () => run(['tools/install-matrix/main.ts', '--ci']),
  [`tests, part ${part} of ${PARTS}`]: slowTests,
};

function numberOfCommit(): number {
  try {
    return Number.parseInt(currentCommit().slice(0, 8), 16);
  } catch {
    return misused(
      'proof -- ci chooses by the commit what it runs, and git finds none here: run it in a clone',
    );
  }
}

function tool(...args: readonly string[]): Step {
  return () => run(['proof/main.ts', ...args]);
}

const SHARE = `--shard=${part}/${PARTS}`;
let chosen: readonly string[] = [SHARE];

/** The second time what `secondRun` says. */
async function slowTests(): Promise<boolean> {
  const report = join(mkdtempSync(join(tmpdir(), 'fleetq-ci-')), 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...SLOW_TESTS];
  const hasPassed = await run([...vitest, ...chosen, ...reporters]);
  if (!hasPassed) chosen = secondRun(report, SHARE);
  return hasPassed;
}

async function run(args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code === 0;
}

const results: string[] = [];
let isGood = true;
for (const [name, step] of Object.entries(STEPS)) {
  const begunMs = performance.now();
  process.stdout.write(`\n=== ${name}\n`);
  const first = await step();
  const second = first || (await step());
  const seconds = Math.round((performance.now() - begunMs) / 1000);
  const result = first ? 'passed' : second ? 'FAILED, then passed' : 'FAILED twice';
  results.push(`${name.padEnd(20)} ${result}, ${seconds} s`);
  isGood &&= second;
}
process.stdout.write(`\n${results.join('\n')}\nrepeat: npm run proof -- ci --part ${part}\n`);
process.exitCode = isGood ? 0 : 1;
