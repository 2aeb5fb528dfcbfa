/**
 * Plants each mutant in a private copy and tells what its command made of it.
 *
 *   the command on the clean copy ── red ───────────────────▶ redWhenClean
 *        │ green, and not for want of tests
 *   the patch ── does not fit exactly once, or does not build ▶ misfit
 *        │
 *   the command again ── green ─────────────────────────────▶ missed
 *        │ red
 *        ├── shows what it has to show ─────────────────────▶ caught
 *        └── anything else, or its time is over ────────────▶ otherwise
 */
import { argumentsOf, type Command, type Mutant, textOf } from './mutant.ts';
import { applyPatch, PatchError } from './patch.ts';
import { copyTree, type PrivateCopy } from './private-copy.ts';
import { type CommandEnd, runCommand } from './run-command.ts';

export type Verdict = 'caught' | 'missed' | 'otherwise' | 'misfit' | 'redWhenClean';

export interface Finding {
  readonly name: string;
  readonly command: string;
  readonly verdict: Verdict;
  /** How long its command took until it failed. */
  readonly seconds: number;
  /** What it showed, or why it does not count. */
  readonly because: string;
}

export interface HuntOptions {
  /** The tree that is copied. */
  readonly root: string;
  readonly mutants: readonly Mutant[];
  readonly secondsMax: number;
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Asked before each mutant: whether to leave the rest for another time. */
  readonly isOver?: (() => boolean) | undefined;
  readonly until?: AbortSignal | undefined;
}

export async function hunt(options: HuntOptions): Promise<Finding[]> {
  const { mutants, onProgress, until, isOver } = options;
  const field = new Field(options);
  const findings: Finding[] = [];
  try {
    for (const [index, mutant] of mutants.entries()) {
      if (until?.aborted || isOver?.()) break;
      const finding = await field.look(mutant);
      // What was cut short by whoever stopped this says nothing.
      if (until?.aborted) break;
      findings.push(finding);
      const { verdict, seconds, because } = finding;
      const place = `${index + 1}/${mutants.length}`;
      onProgress?.(`${place} ${mutant.name}: ${verdict} in ${seconds.toFixed(1)} s: ${because}`);
    }
  } finally {
    field.remove();
  }
  return findings;
}

const BUILD = ['node_modules/typescript/bin/tsc', '-p'] as const;
const BUILDS = [
  [...BUILD, 'tsconfig.build.json'],
  [...BUILD, 'machines/tsconfig.json'],
] as const;

class Field {
  readonly #options: HuntOptions;
  readonly #copy: PrivateCopy;
  /** Why a command cannot be used, by its text; undefined where it can. */
  readonly #clean = new Map<string, string | undefined>();
  #isBuilt = false;

  constructor(options: HuntOptions) {
    this.#options = options;
    this.#copy = copyTree(options.root);
  }

  remove(): void {
    this.#copy.remove();
  }

  async look(mutant: Mutant): Promise<Finding> {
    const { name, command, changes } = mutant;
    const found = (verdict: Verdict, seconds: number, because: string): Finding => ({
      name,
      command: textOf(command),
      verdict,
      seconds: Math.round(seconds * 10) / 10,
      because,
    });
    const isRed = await this.#whyRedWhenClean(command);
    if (isRed !== undefined) return found('redWhenClean', 0, isRed);
    let undo: () => void;
    try {
      undo = applyPatch(this.#copy.root, changes);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      return found('misfit', 0, error.message);
    }
    this.#isBuilt = false;
    try {
      const unbuilt = await this.#build(command);
      if (unbuilt !== undefined) return found('misfit', 0, `it does not build: ${unbuilt}`);
      const end = await this.#run(command);
      const { verdict, because } = judge(end, mutant);
      return found(verdict, end.seconds, because);
    } finally {
      undo();
      this.#isBuilt = false;
    }
  }

  async #whyRedWhenClean(command: Command): Promise<string | undefined> {
    const text = textOf(command);
    if (!this.#clean.has(text)) {
      const unbuilt = await this.#build(command);
      this.#clean.set(text, unbuilt ?? whyUnfit(await this.#run(command), command));
    }
    return this.#clean.get(text);
  }

  #run(command: Command): Promise<CommandEnd> {
    const { secondsMax, until } = this.#options;
    return runCommand(this.#copy, argumentsOf(command), secondsMax * 1_000, until);
  }

  /** Answers what the compiler said where it refused. */
  async #build({ needsBuild }: Command): Promise<string | undefined> {
    if (!needsBuild || this.#isBuilt) return undefined;
    for (const args of BUILDS) {
      const { secondsMax, until } = this.#options;
      const { code, output } = await runCommand(this.#copy, args, secondsMax * 1_000, until);
      if (code !== 0) return whyOf(output);
    }
    this.#isBuilt = true;
    return undefined;
  }
}

/** Why a command proves nothing: on the clean tree it has to pass, and to have looked at something. */
function whyUnfit(end: CommandEnd, command: Command): string | undefined {
  if (end.isLate) return `the clean tree took longer than ${Math.round(end.seconds)} s`;
  if (end.code !== 0) return `the clean tree is red: ${whyOf(end.output)}`;
  const hasPassed = command.kind === 'tool' || /^\s*Tests .*\b[1-9]\d* passed/m.test(end.output);
  return hasPassed ? undefined : 'no test was run';
}

export function judge(
  end: CommandEnd,
  { command, shows }: Pick<Mutant, 'command' | 'shows'>,
): { readonly verdict: Verdict; readonly because: string } {
  if (end.isLate) return { verdict: 'otherwise', because: 'its time was over' };
  if (end.code === 0) return { verdict: 'missed', because: 'the command passed' };
  const shown = evidenceIn(end.output, command).find((line) => shows.test(line));
  if (shown !== undefined) return { verdict: 'caught', because: shown.slice(0, 200) };
  return { verdict: 'otherwise', because: `it failed by: ${whyOf(end.output)}` };
}

/** Of a test run only what names a failing test; whatever else it prints may be about anything. */
function evidenceIn(output: string, { kind }: Command): string[] {
  const lines = output.split('\n').map((line) => line.trim());
  return kind === 'test' ? lines.filter((line) => line.startsWith('FAIL ')) : lines;
}

/** What tells most of why it failed: names of failing tests and errors, or else how it ended. */
function whyOf(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const telling = lines.filter((line) => /^FAIL |^(\w*Error|error)\b|: error /.test(line));
  return (telling.length > 0 ? telling.slice(0, 4) : lines.slice(-4)).join(' | ').slice(0, 600);
}
