/**
 * A planted bug: what is changed in which files, the command that has to notice it, and by which words
 * that command shows that it noticed this and nothing else.
 */

/** What is found in a file, exactly once, and what is put in its place. */
export interface Change {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A test file, or those of its tests whose names match. */
export interface TestCommand {
  readonly kind: 'test';
  readonly file: string;
  readonly only: string | undefined;
  /** It starts processes from the built files. */
  readonly needsBuild: boolean;
}

/** A tool of this repository that ends with 1 where a promise was broken. */
export interface ToolCommand {
  readonly kind: 'tool';
  readonly program: string;
  readonly args: readonly string[];
  readonly needsBuild: boolean;
}

export type Command = TestCommand | ToolCommand;

export interface Mutant {
  readonly name: string;
  /** The rule that it breaks, in words. */
  readonly breaks: string;
  readonly changes: readonly Change[];
  readonly command: Command;
  /** What a red command must show: the name of a failing test, or a violation. */
  readonly shows: RegExp;
  /** Too slow for the part that runs with every test run. */
  readonly isSlow?: boolean;
}

export function tests(file: string, only?: string): TestCommand {
  return { kind: 'test', file, only, needsBuild: false };
}

export function testsOfBuilt(file: string, only?: string): TestCommand {
  return { ...tests(file, only), needsBuild: true };
}

export function tool(program: string, ...args: readonly string[]): ToolCommand {
  return { kind: 'tool', program, args, needsBuild: false };
}

/** As somebody would type it; the same text is the same command. */
export function textOf(command: Command): string {
  if (command.kind === 'tool') return ['node', command.program, ...command.args].join(' ');
  const only = command.only === undefined ? '' : ` -t '${command.only}'`;
  return `vitest run ${command.file}${only}`;
}

/** The program and arguments by which Node.js runs it in the tree at hand. */
export function argumentsOf(command: Command): string[] {
  if (command.kind === 'tool') return [command.program, ...command.args];
  const only = command.only === undefined ? [] : ['-t', command.only];
  const limits = ['--bail', '1', '--testTimeout', '30000', '--hookTimeout', '60000'];
  return ['node_modules/vitest/vitest.mjs', 'run', command.file, ...only, ...limits];
}
