/** What can be typed after `fleetq`, read off the commands themselves: nothing is listed twice. */
import type { Command, Option } from 'commander';
import { CHANGED_MACHINES, CLAIM_MODES, LOG_LEVELS } from '../../config/settings.ts';
import { FIELDS, STATUSES, wordsOf } from '../../query/index.ts';
import { BULK_WHATS, MISSED } from '../../store/index.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What comes behind a flag: nothing, a path, one of some words, or what nobody can guess. */
export type Value = 'none' | 'path' | 'any' | readonly string[];

export interface Flag {
  readonly name: string;
  readonly about: string;
  readonly value: Value;
}

export interface Node {
  /** The words that lead to it: 'journal verify'; nothing for `fleetq` itself. */
  readonly path: string;
  readonly about: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly Flag[];
  /** What its arguments may be, as far as that is known beforehand. */
  readonly words: readonly string[];
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  '--status': STATUSES,
  '--log-level': LOG_LEVELS,
  '--claim-mode': CLAIM_MODES,
  '--changed-machines': CHANGED_MACHINES,
  '--missed': MISSED,
};

const WORDS: Readonly<Record<string, () => readonly string[]>> = {
  completion: () => SHELLS,
  runs: filterWords,
  'bulk begin': () => [...BULK_WHATS, ...filterWords()],
};

/** Every command, the groups before what is in them. */
export function treeOf(command: Command, path = ''): Node[] {
  const children = command.commands.map((child) => ({
    name: child.name(),
    about: firstSentence(child.description()),
  }));
  const help: Flag = { name: '--help', about: 'what it does and takes', value: 'none' };
  const node: Node = {
    path,
    about: firstSentence(command.description()),
    commands: children,
    flags: [...command.options.map(flagOf), help],
    words: WORDS[path]?.() ?? [],
  };
  const below = command.commands.flatMap((child) =>
    treeOf(child, path === '' ? child.name() : `${path} ${child.name()}`),
  );
  return [node, ...below];
}

function flagOf(option: Option): Flag {
  return { name: option.long!, about: option.description, value: valueTaken(option) };
}

function valueTaken(option: Option): Value {
  // One that may stand alone is followed by whatever comes next.
  if (!option.required) return 'none';
  const choices = CHOICES[option.long!];
  if (choices) return choices;
  return /<(path|file)\b/.test(option.flags) ? 'path' : 'any';
}

/** A line of a list has no room for more. */
function firstSentence(text: string): string {
  return text.split(/[.:](?:\s|$)/)[0]!;
}

/** `machine:` of every field, and `status:failed` of those that have known words. */
function filterWords(): string[] {
  return FIELDS.flatMap((field) => [
    `${field}:`,
    ...(wordsOf(field) ?? []).map((word) => `${field}:${word}`),
  ]);
}
