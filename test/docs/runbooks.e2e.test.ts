/** The runbooks: what they say to type can be typed, on a fleet that is there. */
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { blocksOf, pages, readPage } from './markdown.ts';
import { type Stage, setStage } from './runbook-stage.ts';
import { makeWorkspace, removeWorkspace } from './workspace.ts';

const runbooks = pages().filter((page) => page.startsWith('docs/runbooks/'));
const shells = runbooks.flatMap((page) =>
  blocksOf(page).filter(({ kind }) => kind?.is === 'shell' || kind?.is === 'unrun'),
);
/** It went well, nothing was found, or something was found wrong: all of them are answers. */
const ANSWERS = [0, 3, 8, 9];
let workspace: string;
let stage: Stage;

beforeAll(async () => {
  workspace = makeWorkspace();
  stage = await setStage(workspace);
}, 120_000);
afterAll(async () => {
  await stage?.remove();
  removeWorkspace(workspace);
});

test.each(shells)('what $page:$line says to type is understood', async ({ text, kind }) => {
  expect(kind?.is).toBe('shell');
  const { code, stderr } = await stage.perform(text);
  const wrong = [...stderr.matchAll(/^exit (\d+) of (.*)$/gm)].filter(
    ([, status]) => !ANSWERS.includes(Number(status)),
  );
  expect(
    wrong.map(([line]) => line),
    stderr,
  ).toEqual([]);
  expect(code, stderr).toBe(0);
});

/** Undefined where there is such a command with these options. */
function complaintAbout(words: readonly string[]): string | undefined {
  let command: Command = buildProgram(() => undefined);
  for (const word of words) {
    if (word.startsWith('--')) {
      if (!command.options.some(({ long }) => long === word)) return `${command.name()} ${word}`;
    } else {
      const child = command.commands.find((each) => each.name() === word);
      if (!child && command.commands.length > 0) return `${command.name()} ${word}`;
      command = child ?? command;
    }
  }
  return undefined;
}

test('commands that runbooks name within a sentence exist, with their options', () => {
  const named = runbooks.flatMap((page) =>
    [...readPage(page).matchAll(/`fleetq\s([^`]+)`/g)].map((match) => match[1]!.split(/\s+/)),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(named.map(complaintAbout).filter((each) => each !== undefined)).toEqual([]);
  expect(complaintAbout(['dead-letters', 'resurrect'])).toBeDefined();
  expect(complaintAbout(['sweep', '--dryrun'])).toBeDefined();
});
