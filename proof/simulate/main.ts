/** Simulates fleets under virtual time and seeded faults; tells the story of one seed. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { saveLeg } from '../../test/support/save-leg.ts';
import { campaign } from './campaign.ts';
import { keepSeeds, keptFirst } from './kept-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';
import { Tally } from './tally.ts';

/** Fewer are a glance, and may miss what is rare. */
const CAMPAIGN_COUNT_MIN = 100;

const HELP = `npm run proof -- simulate [options]
Simulates fleets under virtual time and seeded faults, and checks the contract after every call.

  --seeds N    so many seeds (200), after those that have found something once
  --from S     the first of them (1); an interrupted campaign goes on from the one it last named
  --minutes M  begins no seed after so many minutes, and tells what came of those that were begun;
               so it is after SIGINT
  --first      begins no seed after one has failed
  --jobs J     processes at a time (${availableParallelism()}, the cores)
  --small      fewer tasks a seed, and shorter storms
  --mutant M   with a planted bug: ${MUTANTS.map(({ name }) => name).join(', ')}
  --keep       adds seeds that fail to proof/simulate/seeds.json
  --save       adds the figures to docs/results/simulate.json; not with --mutant
  --json       figures as one JSON object, the last line of stdout
  --seed N     tells the story of one seed in words instead
  --stacks     with --seed: errors have their stacks; that makes the trace another one

Ends with 1 where a promise was broken, and where one kind of fault or recovery never came up in
${CAMPAIGN_COUNT_MIN} seeds or more: such a campaign is void.`;

const PROGRESS_MS = 5_000;
const STACK_COUNT = 20;
/** What a shell says of whoever was interrupted. */
const STOPPED = 130;

const { values } = read();
const mutant = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && !mutant) {
  const names = MUTANTS.map(({ name }) => name).join(', ');
  refuse(`--mutant wants one of ${names}; got ${values.mutant}`);
}
if (mutant && values.save) refuse('--save is for what was found without a planted bug');
if (values.help) process.stdout.write(`${HELP}\n`);
else if (values.seed !== undefined) await tell(whole('seed', values.seed));
else await simulateMany();

function read() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '200' },
        from: { type: 'string', default: '1' },
        minutes: { type: 'string' },
        first: { type: 'boolean' },
        jobs: { type: 'string', default: `${availableParallelism()}` },
        seed: { type: 'string' },
        mutant: { type: 'string' },
        small: { type: 'boolean', default: false },
        keep: { type: 'boolean' },
        save: { type: 'boolean' },
        json: { type: 'boolean' },
        stacks: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n--help lists the options\n`);
  process.exit(2);
}

function whole(name: string, text: string, min = 0): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  return refuse(`--${name} wants a whole number from ${min} up; got ${text}`);
}

async function tell(seed: number): Promise<void> {
  const onLine = (line: string) => process.stdout.write(`${line}\n`);
  const stackCount = values.stacks ? STACK_COUNT : undefined;
  const report = await simulate(seed, { mutant, onLine, stackCount, isSmall: values.small });
  const { tasks, pods, events, virtualMs, trace, counts } = report;
  onLine(`seed ${seed}: ${pods} pods, ${tasks} tasks, ${events} events in ${virtualMs | 0} ms`);
  onLine(`trace ${trace}; ${JSON.stringify(counts)}`);
  for (const violation of report.violations) onLine(`VIOLATION ${violation}`);
  process.exitCode = report.violations.length > 0 ? 1 : 0;
}

async function simulateMany(): Promise<void> {
  const from = whole('from', values.from);
  const count = whole('seeds', values.seeds, 1);
  const jobs = whole('jobs', values.jobs, 1);
  const minutes = values.minutes === undefined ? undefined : whole('minutes', values.minutes, 1);
  const fresh = Array.from({ length: count }, (_, index) => from + index);
  const isSmall = values.small;
  const seeds = keptFirst(fresh.map((seed) => ({ seed, isSmall })));
  const tally = new Tally();
  const begun = performance.now();
  const secondsSince = () => (performance.now() - begun) / 1e3;
  const running = new Set<number>();
  let isStopped = false;
  // Those that are under way are waited for: a seed is whole or was not simulated.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isStopped = true;
    });
  }
  const isOver = () =>
    isStopped ||
    (values.first === true && tally.failures.length > 0) ||
    (minutes !== undefined && secondsSince() >= minutes * 60);
  const given = new Set<number>();
  // Those that are kept come first, wherever they are.
  const next = () => fresh.find((seed) => !given.has(seed)) ?? from + count;
  const progress = setInterval(() => {
    const left = [...running].filter((seed) => seed >= from);
    process.stderr.write(
      `${tally.seeds} of ${seeds.length} seeds, ${tally.failures.length} broken; ` +
        `goes on with --from ${Math.min(next(), ...left)}\n`,
    );
  }, PROGRESS_MS);
  const orders = function* () {
    for (const one of seeds) {
      if (isOver()) return;
      if (one.isSmall === isSmall) {
        running.add(one.seed);
        given.add(one.seed);
      }
      yield one;
    }
  };
  await campaign(orders(), {
    jobs,
    mutant: values.mutant,
    onReport: (report) => {
      if (report.isSmall === isSmall) running.delete(report.seed);
      tally.add(report);
      const [violation] = report.violations;
      const size = report.isSmall ? ' (--small)' : '';
      if (violation) process.stderr.write(`seed ${report.seed}: ${violation}${size}\n`);
    },
  });
  clearInterval(progress);
  const left = seeds.length - tally.seeds;
  if (left > 0) {
    process.stderr.write(
      `${left} of ${seeds.length} seeds were not begun: --from ${next()} goes on\n`,
    );
  }
  conclude(tally, { from, to: next() - 1, jobs, seconds: secondsSince() });
  if (isStopped) process.exitCode = STOPPED;
}

function conclude(
  tally: Tally,
  of: { readonly from: number; readonly to: number; readonly jobs: number; seconds: number },
): void {
  const seconds = Math.round(of.seconds * 10) / 10;
  const figures = { ...of, seconds, ...tally.figures() };
  if (values.keep) keepSeeds(tally.failures);
  // Of none nothing is to be kept.
  if (values.save && tally.seeds > 0) {
    const size = values.small ? ' --small' : '';
    const command = `npm run proof -- simulate --seeds ${of.to - of.from + 1} --from ${of.from}${size}`;
    saveLeg('simulate', command, figures);
  }
  const lines = Object.entries(figures).map(
    ([name, value]) =>
      `${name.padEnd(18)} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : `${lines.join('\n')}\n`);
  const { missing } = figures;
  if (missing.length > 0) process.stderr.write(`${missing.join(', ')} never came up\n`);
  const isVoid = missing.length > 0 && of.to - of.from + 1 >= CAMPAIGN_COUNT_MIN;
  process.exitCode = tally.failures.length > 0 || isVoid ? 1 : 0;
}
