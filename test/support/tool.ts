/** What every proof tool on the command line does alike: reads counts, tells what it found, saves it. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Figures, saveLeg } from './save-leg.ts';

/** Wrongly called: in words, and with another code than that of a promise which was broken. */
export function misused(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

/** The flags of the command line; one that nobody knows is refused in words. `--help` tells `help`. */
export function readFlags<T extends ParseArgsConfig>(
  config: T,
  help?: string,
): ReturnType<typeof parseArgs<T>> {
  if (help !== undefined && process.argv.includes('--help')) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return misused((error as Error).message);
  }
}

/** A flag that wants a whole number; anything else is refused in words. */
export function wholeFlag(name: string, text: string, min = 0): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  return misused(`--${name} wants a whole number from ${min}, got ${text}`);
}

/** `--share 2/3`: which leg of how many. */
export function legFlag(text: string): [leg: number, legs: number] {
  const found = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text);
  const [one, all] = [Number(found?.[1]), Number(found?.[2])];
  if (one <= all) return [one, all];
  return misused(`--share wants a leg of so many, such as 2/3, got ${text}`);
}

export interface Telling {
  readonly json?: boolean | undefined;
  readonly save?: boolean | undefined;
}

/** One JSON object, or a line for each figure; and a leg of the results where that was asked for. */
export function tellFigures(tool: string, figures: object, { json, save }: Telling): void {
  process.stdout.write(json ? `${JSON.stringify(figures)}\n` : asLines(figures));
  if (save) saveLeg(tool, commandLine(tool), figures as Figures);
}

function asLines(figures: object): string {
  const entries = Object.entries(figures);
  const width = Math.max(...entries.map(([name]) => name.length)) + 2;
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : value);
  return entries.map(([name, value]) => `${name.padEnd(width)}${text(value)}\n`).join('');
}

function commandLine(tool: string): string {
  const given = process.argv.slice(2);
  // Where evidence was kept, and how it was told, changes nothing of what was found.
  const flags = given.filter(
    (flag, at) => !['--json', '--save', '--keep'].includes(flag) && given[at - 1] !== '--keep',
  );
  return ['npm run proof --', tool, ...flags].join(' ');
}
