/** What every proof tool on the command line does alike: reads counts, tells what it found, saves it. */
import { type Figures, saveLeg } from './save-leg.ts';

/** A flag that wants a whole number; anything else is refused in words. */
export function wholeFlag(name: string, text: string, min = 0): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  throw new TypeError(`--${name} wants a whole number from ${min}, got ${text}`);
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
  const flags = process.argv.slice(2).filter((flag) => flag !== '--json' && flag !== '--save');
  return ['npm run', tool, ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
}
