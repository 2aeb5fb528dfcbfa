/** deploy/Dockerfile, read as far as it goes: stages, their instructions, exec forms, what is ignored. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';

export interface Instruction {
  readonly word: string;
  /** All that follows the word, continuation lines joined. */
  readonly rest: string;
}
export interface Stage {
  readonly from: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

const WORDS = [
  ...['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'VOLUME', 'EXPOSE', 'USER', 'STOPSIGNAL'],
  ...['HEALTHCHECK', 'ENTRYPOINT', 'CMD'],
];

export function readDockerfile(text = read('deploy/Dockerfile')): Stage[] {
  const stages: { from: string; name: string | undefined; instructions: Instruction[] }[] = [];
  const joined = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ');
  for (const line of joined.split('\n').filter((each) => each.trim() !== '')) {
    const [, word = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (!WORDS.includes(word)) throw new Error(`not an instruction: ${line}`);
    const [, from = '', name] = /^FROM (\S+)(?: AS (\S+))?$/.exec(line) ?? [];
    if (word === 'FROM') stages.push({ from, name, instructions: [] });
    else stages.at(-1)?.instructions.push({ word, rest });
  }
  return stages;
}

export function all(stage: Stage, word: string): string[] {
  return stage.instructions.filter((each) => each.word === word).map(({ rest }) => rest);
}

/** The one instruction of its kind. */
export function one(stage: Stage, word: string): string {
  const [rest, ...others] = all(stage, word);
  if (rest === undefined || others.length > 0) throw new Error(`not one ${word}`);
  return rest;
}

/** The words of an exec form; a shell form would keep signals from the process. */
export function execForm(rest: string): string[] {
  const words = JSON.parse(rest) as unknown;
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  throw new Error(`not an exec form: ${rest}`);
}

export function environmentOf(stage: Stage): Record<string, string> {
  const pairs = all(stage, 'ENV').flatMap((rest) => rest.split(/\s+/));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

export interface Copy {
  readonly stage: string | undefined;
  readonly from: readonly string[];
  readonly to: string;
}

export function copyOf(rest: string): Copy {
  const words = rest.split(/\s+/);
  const stage = words[0]?.startsWith('--from=') ? words.shift()?.slice(7) : undefined;
  return { stage, from: words.slice(0, -1), to: words.at(-1)! };
}

/** What .dockerignore lets through: everything is shut out, and names are let in one by one. */
export function letIn(): string[] {
  const lines = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines[0] !== '*') throw new Error('.dockerignore does not begin with *');
  return lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
