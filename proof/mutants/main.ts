/** Plants bugs in a copy of the source, one at a time, and checks that each is caught. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { currentCommit, savedLegs, saveLeg } from '../../test/support/save-leg.ts';
import { legFlag } from '../../test/support/tool.ts';
import { type Finding, hunt } from './hunt.ts';
import { MUTANTS } from './list.ts';
import { type Mutant, textOf } from './mutant.ts';
import { linesOf, summaryOf } from './summary.ts';

const HELP = `npm run mutants -- [options]

Copies the tree into the temporary directory, plants one bug after the other in the copy, and runs the
command that has to notice it. A mutant is caught where its command passes on the clean copy, fails on
the changed one, and shows that it is this bug it fails by. Ends with 1 where one is not caught.

  --list            names the mutants, the rules they break and their commands
  --only NAME,..    these alone
  --share I/N       the I-th of N equal shares of them
  --quick           without those that take long
  --resume          leaves out what docs/results/mutants.json says was caught at this commit
  --minutes M       begins no mutant after so many minutes; --resume goes on from there
  --seconds S       what each command may take (300)
  --json            one JSON object as the last line
  --save            keeps the figures in docs/results/mutants.json
  --help            this text
`;

const OPTIONS = {
  list: { type: 'boolean', default: false },
  only: { type: 'string' },
  share: { type: 'string', default: '1/1' },
  quick: { type: 'boolean', default: false },
  resume: { type: 'boolean', default: false },
  minutes: { type: 'string' },
  seconds: { type: 'string', default: '300' },
  json: { type: 'boolean', default: false },
  save: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Flags = ReturnType<typeof readFlags>;

function readFlags() {
  return parseArgs({ options: OPTIONS }).values;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

function whole(name: string, text: string, min = 0): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  throw new TypeError(`--${name} wants a whole number from ${min}, got ${JSON.stringify(text)}`);
}

function named(names: string): Mutant[] {
  return names.split(',').map((name) => {
    const mutant = MUTANTS.find((one) => one.name === name.trim());
    if (mutant) return mutant;
    throw new TypeError(`--only wants names that --list has, got ${JSON.stringify(name)}`);
  });
}

function chosen({ only, share, quick }: Flags): readonly Mutant[] {
  if (only !== undefined) return named(only);
  const [leg, legs] = legFlag(share);
  const all = quick ? MUTANTS.filter(({ isSlow }) => !isSlow) : MUTANTS;
  return all.filter((_, index) => index % legs === leg - 1);
}

/** Only of a commit that is the whole tree: of any other it is not known what it was. */
function caughtAlready(): ReadonlySet<string> {
  const commit = currentCommit();
  if (/ and changes$/.test(commit)) {
    throw new TypeError(`--resume wants a tree without changes: it is ${commit}`);
  }
  const findings = savedLegs('mutants')
    .filter((leg) => leg.commit === commit)
    .flatMap(({ figures }) => (figures['mutants'] ?? []) as Finding[]);
  return new Set(findings.filter(({ verdict }) => verdict === 'caught').map(({ name }) => name));
}

async function main(): Promise<number> {
  const values = readFlags();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const done = values.resume ? caughtAlready() : new Set<string>();
  const mutants = chosen(values).filter(({ name }) => !done.has(name));
  if (values.list) {
    for (const mutant of mutants) {
      print(`${mutant.name}\n    ${mutant.breaks}\n    ${textOf(mutant.command)}`);
    }
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const minutesMax = values.minutes === undefined ? undefined : whole('minutes', values.minutes);
  const begunMs = performance.now();
  const findings = await hunt({
    root: fileURLToPath(new URL('../..', import.meta.url)),
    mutants,
    secondsMax: whole('seconds', values.seconds),
    onProgress: (line) => process.stderr.write(`${line}\n`),
    isOver: () => minutesMax !== undefined && performance.now() - begunMs >= minutesMax * 60_000,
    until: stop.signal,
  });
  if (stop.signal.aborted) return 130;
  if (findings.length === 0 && mutants.length > 0) {
    process.stderr.write('none was begun, which shows nothing\n');
    return 2;
  }
  const summary = summaryOf(findings);
  if (values.json) print(JSON.stringify(summary));
  else for (const line of linesOf(summary)) print(line);
  if (values.save) {
    saveLeg('mutants', `npm run mutants -- ${process.argv.slice(2).join(' ')}`, { ...summary });
  }
  const left = mutants.length - findings.length;
  if (left > 0) process.stderr.write(`${left} are left for --resume\n`);
  return summary.caught === summary.planted ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return 2;
});
