/** fleetq completion: the scripts as the shells take them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { bashScript } from '../../src/cli/completion/bash.ts';
import { fishScript } from '../../src/cli/completion/fish.ts';
import { treeOf } from '../../src/cli/completion/tree.ts';
import { zshScript } from '../../src/cli/completion/zsh.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();
const tree = treeOf(buildProgram(() => undefined));

describe('bash', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = makeDirectory();
    writeFileSync(join(cwd, 'script.bash'), bashScript(tree));
    writeFileSync(join(cwd, 'names.jsonl'), '');
    mkdirSync(join(cwd, 'next'));
  });

  /** What a real bash would put in, for the line up to the caret. */
  function completed(line: string, breaks = ' \t\n"\'@><=;|&(:'): string[] {
    const program =
      `source ./script.bash; COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDBREAKS=$2; ` +
      `_fleetq; printf "%s\\n" "\${COMPREPLY[@]}"`;
    const args = ['--norc', '--noprofile', '-u', '-c', program, 'bash', line, breaks];
    const { stdout, stderr, status } = spawnSync('bash', args, { cwd, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    return stdout.split('\n').filter((word) => word !== '');
  }

  test('is given a script that it takes, and that says for which command it is', async () => {
    const { stdout, code } = await fleetq(cwd, ['completion', 'bash']);
    expect([code, stdout]).toEqual([0, bashScript(tree)]);
    const asked = `source ./script.bash && complete -p fleetq`;
    expect(execFileSync('bash', ['-c', asked], { cwd, encoding: 'utf8' })).toBe(
      'complete -F _fleetq fleetq\n',
    );
  });

  test('completes commands, and those in a group', () => {
    expect(completed('fleetq dea')).toEqual(['dead-letters']);
    expect(completed('fleetq ')).toEqual(tree[0]!.commands.map(({ name }) => name));
    expect(completed('fleetq dead-letters ')).toEqual(['list', 'show', 'redrive', 'discard']);
    expect(completed('fleetq dead-letters re')).toEqual(['redrive']);
    expect(completed('fleetq nothing ')).toEqual(completed('fleetq '));
  });

  test('completes options of the command that stands there', () => {
    expect(completed('fleetq events --f')).toEqual(['--follow', '--file'].filter(isOf('events')));
    expect(completed('fleetq dead-letters redrive --fr')).toEqual(['--fresh']);
    expect(completed('fleetq pods --follow --a')).toEqual(['--all']);
    expect(completed('fleetq --v')).toEqual(['--version']);
  });

  test('completes what comes behind an option: words, files, or nothing', () => {
    expect(completed('fleetq worker --log-level s')).toEqual(['silent']);
    expect(completed('fleetq enqueue hello --file na')).toEqual(['names.jsonl']);
    expect(completed('fleetq plan --machines ne')).toEqual(['next']);
    expect(completed('fleetq start hello --key ')).toEqual([]);
    expect(completed('fleetq completion ')).toEqual(['bash', 'zsh', 'fish']);
  });

  test('completes terms of a filter behind colons, whether or not bash parts words there', () => {
    expect(completed('fleetq runs mach')).toEqual(['machine:']);
    expect(completed('fleetq runs status:fa')).toEqual(['failed']);
    expect(completed('fleetq runs status:fa', ' \t\n')).toEqual(['status:failed']);
    expect(completed('fleetq runs status:failed -is:bl')).toEqual(['blocked']);
    expect(completed('fleetq runs -ma')).toEqual(['-machine:']);
    expect(completed('fleetq bulk begin red')).toEqual(['redrive']);
    expect(completed('fleetq bulk begin redrive status:fa')).toEqual(['failed']);
  });

  test('completes nothing that a line says on purpose', () => {
    expect(completed('fleetq runs $(touch made) `touch made` ')).toContain('status:failed');
    expect(completed("fleetq start '; touch made; ' --k")).toEqual(['--key']);
    expect(spawnSync('ls', ['made'], { cwd }).status).not.toBe(0);
  });
});

function isOf(path: string): (flag: string) => boolean {
  const known = tree.find((node) => node.path === path)!.flags.map(({ name }) => name);
  return (flag) => known.includes(flag);
}

test('the tree has every command with all of its options', () => {
  const paths: string[] = [];
  const walk = (command: Command, path: string[]) => {
    const node = tree.find((each) => each.path === path.join(' '))!;
    paths.push(node.path);
    const flags = command.options.map(({ long }) => long);
    expect(node.flags.map(({ name }) => name)).toEqual([...flags, '--help']);
    for (const child of command.commands) walk(child, [...path, child.name()]);
  };
  walk(
    buildProgram(() => undefined),
    [],
  );
  expect(paths).toEqual(tree.map(({ path }) => path));
  expect(paths.length).toBeGreaterThan(30);
});

test.each([
  ['zsh', zshScript],
  ['fish', fishScript],
] as const)(
  '%s has every command and every option, and its syntax is right where it is installed',
  (shell, script) => {
    const text = script(tree);
    for (const { commands, flags } of tree) {
      for (const { name } of commands) expect(text).toContain(name);
      for (const { name } of flags) expect(text).toContain(name.slice(2));
    }
    const checked = spawnSync(shell, ['-n', '/dev/stdin'], { input: text, encoding: 'utf8' });
    const isMissing = (checked.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    if (!isMissing) expect([checked.status, checked.stderr]).toEqual([0, '']);
  },
);

test('a shell that there is no script for is refused, and --json holds the script', async () => {
  const cwd = makeDirectory();
  const refused = await fleetq(cwd, ['completion', 'fsh']);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toMatch(
    /one of bash, zsh, fish, got "fsh"[\s\S]*did you mean (zsh|fish)\?/,
  );
  const json = await fleetq(cwd, ['completion', 'fish', '--json']);
  expect(JSON.parse(json.stdout)).toEqual({ shell: 'fish', script: fishScript(tree) });
});
