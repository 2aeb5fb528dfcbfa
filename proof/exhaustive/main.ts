/**
 * Strikes a small fleet at every point, and again at every point of its recovery; tries all orders of two pods' statements.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { MUTANTS } from '../simulate/mutants.ts';
import { runCourse } from './course.ts';
import { add, type Figures, figuresOf, noFigures } from './figures.ts';
import { KILLS, type Strike, WAYS, type Way } from './points.ts';
import { STORIES } from './stories.ts';

const HELP = `npm run proof -- exhaustive [options]
Kills a pod at every point of a few small courses of a fleet (journal commits, store calls, phases),
with its disk and without, and judges each course by the contract.
  --ways kept,lost,…   how it is struck: ${WAYS.join(', ')}, or all  (default ${KILLS.join(',')})
  --only work,sweep,…  strikes in these stories alone
  --pairs              strikes again at every point of the recovery from the first strike
  --stride N --from P  one of every N (first) strikes, the Pth of them: N legs have all  (default 1, 0)
  --second-stride N    with --pairs: one of every N second strikes  (default 1)
  --depth N            all orders of so many statements of two pods; 0 for none  (default 7)
  --jobs N             so many processes  (default 1)
  --mutant NAME        with this bug planted
  --story NAME --strike POINT:WAY …   tells the story of one course
  --json, --save       one JSON object; adds the figures to docs/results`;

const { values } = readFlags({
  options: {
    ways: { type: 'string', default: KILLS.join(',') },
    only: { type: 'string' },
    pairs: { type: 'boolean', default: false },
    stride: { type: 'string', default: '1' },
    'second-stride': { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    depth: { type: 'string', default: '7' },
    jobs: { type: 'string', default: '1' },
    mutant: { type: 'string' },
    story: { type: 'string' },
    strike: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

function oneOf<T extends string>(flag: string, text: string, all: readonly T[]): T {
  const found = all.find((name) => name === text);
  if (found === undefined) {
    misused(`--${flag} wants one of ${all.join(', ')}, got ${text}`);
  }
  return found;
}

function mutantNamed(name: string | undefined) {
  if (name === undefined) return undefined;
  const names = MUTANTS.map((mutant) => mutant.name);
  return MUTANTS[names.indexOf(oneOf('mutant', name, names))];
}

function strikeOf(text: string): Strike {
  const [at = '', way = ''] = text.split(':');
  return { at: wholeFlag('strike', at), way: oneOf('strike', way, WAYS) };
}

const mutant = mutantNamed(values.mutant);
const ways: readonly Way[] =
  values.ways === 'all' ? WAYS : values.ways.split(',').map((way) => oneOf('ways', way, WAYS));
const storyNames = STORIES.map(({ name }) => name);
const only = values.only?.split(',').map((name) => oneOf('only', name, storyNames));
const stride = wholeFlag('stride', values.stride, 1);
const secondStride = wholeFlag('second-stride', values['second-stride'], 1);
const from = wholeFlag('from', values.from);
const depth = wholeFlag('depth', values.depth);
const jobs = wholeFlag('jobs', values.jobs, 1);

if (values.help) {
  process.stdout.write(`${HELP}\n`);
} else if (values.story !== undefined) {
  await tellOne(values.story);
} else {
  const begun = performance.now();
  const figures = jobs > 1 ? await inProcesses() : await here();
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  tellFigures('exhaustive', { ...figures, seconds }, values);
  const isVoid = figures.cases + figures.pairs + figures.states === 0;
  if (isVoid) process.stderr.write('nothing was tried: that is no proof\n');
  const isBroken = figures.violations > 0 || figures.missingRows.length > 0;
  process.exitCode = isVoid || isBroken ? 1 : 0;
}

function here(): Promise<Figures> {
  const choice = { ways, stride, from, secondStride, mutant, only };
  return figuresOf({ ...choice, isTwice: values.pairs, depth, onProgress });
}

function onProgress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Each takes its share of the strikes; the first of them also searches the orders. */
async function inProcesses(): Promise<Figures> {
  const parts = Array.from({ length: jobs }, (_, index) => startPart(index));
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(130));
  process.once('exit', () => {
    for (const { child } of parts) child.kill();
  });
  try {
    const figures = await Promise.all(parts.map(({ ended }) => ended));
    return figures.reduce(add, noFigures());
  } finally {
    for (const { child } of parts) child.kill();
  }
}

function startPart(index: number) {
  const share = ['--stride', stride * jobs, '--from', from + stride * index].map(String);
  const flags = ['--ways', ways.join(','), '--second-stride', String(secondStride), '--json'];
  flags.push(...share, '--depth', index === 0 ? String(depth) : '0');
  if (values.pairs) flags.push('--pairs');
  if (only) flags.push('--only', only.join(','));
  if (mutant) flags.push('--mutant', mutant.name);
  const program = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [...process.execArgv, program, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const ended = once(child, 'close').then(([code]): Figures => {
    // Whoever crashes ends with 1 as well, and has told nothing.
    if (text === '') throw new Error(`part ${index} of ${jobs} ended with ${code} and no figures`);
    return JSON.parse(text) as Figures;
  });
  return { child, ended };
}

async function tellOne(name: string): Promise<void> {
  const story = STORIES[storyNames.indexOf(oneOf('story', name, storyNames))]!;
  const onLine = (line: string) => process.stdout.write(`${line}\n`);
  const strikes = values.strike.map(strikeOf);
  const { violations } = await runCourse({ story, strikes, mutant, onLine });
  for (const violation of violations) onLine(`VIOLATION ${violation}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
