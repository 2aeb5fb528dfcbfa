/** What a crash test is asked for, read and checked before any process is started. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faultOfOptions, namesOf } from '../config/index.ts';
import { DURATION_WANTED, type Duration, parseDuration, show } from '../ground/index.ts';
import {
  type InputOf,
  isMachine,
  type Machine,
  type Outcome,
  type OutputOf,
  PHASES,
  type Phase,
} from '../machine/index.ts';
import { CrashTestOptionsError } from './errors.ts';

/** One case of the test, as the user's functions get it. */
export interface CrashPlace {
  /** 'without a crash', 'killed before record 3', … */
  readonly name: string;
  /** An empty directory of this case alone; it is removed when the test is over. */
  readonly directory: string;
}

/** How a case ended, for `verify`. */
export interface EndedCase<O = unknown> extends CrashPlace {
  readonly outcome: Outcome;
  readonly output: O;
}

type AnyInput = object | string | number | boolean | null;
type TestInput<M> = [InputOf<M>] extends [never] ? AnyInput : InputOf<M>;
type Awaitable<T> = T | Promise<T>;

export interface CrashTestOptions<M = Machine> {
  /** What the run is started with; a function where every case needs an input of its own. */
  readonly input: TestInput<M> | ((place: CrashPlace) => Awaitable<TestInput<M>>);
  /** Under which name the module exports the machine, where it exports several. */
  readonly exportName?: string | undefined;
  /**
   * How often the effect has happened in the world so far. It is asked before and after every case,
   * and has to grow by as much as in the run without a crash.
   */
  readonly effects?: ((place: CrashPlace) => Awaitable<number>) | undefined;
  /** Throws where the world is not as it has to be after the run, with or without a crash. */
  readonly verify?: ((ended: EndedCase<OutputOf<M>>) => Awaitable<void>) | undefined;
  /**
   * Phases that are never to be called a second time, not even in the one window where that is
   * allowed: `check` has to see what they have done.
   */
  readonly once?: readonly Phase[] | undefined;
  /** What of the output has to be the same; all of it where nothing is said. */
  readonly comparable?: ((output: OutputOf<M>) => unknown) | undefined;
  /** How long one process may take, in real time; '30s' by default. */
  readonly timeout?: Duration | undefined;
  /** How many cases go on at the same time; one where there are `effects` to count, else two. */
  readonly atOnce?: number | undefined;
  /** Besides the environment of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Leaves every case's journal and ledger where they are, and the error says where. */
  readonly isKept?: boolean | undefined;
}

/** The same with nothing left open. */
export interface CrashPlan {
  readonly module: string;
  readonly exportName: string | undefined;
  readonly inputFor: (place: CrashPlace) => Awaitable<unknown>;
  readonly effects: ((place: CrashPlace) => Awaitable<number>) | undefined;
  readonly verify: ((ended: EndedCase) => Awaitable<void>) | undefined;
  readonly once: readonly string[];
  readonly comparable: (output: unknown) => unknown;
  readonly timeoutMs: number;
  readonly atOnce: number;
  readonly env: Readonly<Record<string, string>>;
  readonly isKept: boolean;
}

const EXAMPLE = "crashTest(import.meta.resolve('./charge.ts'), { input: … })";
const TIMEOUT: Duration = '30s';
const AT_ONCE = 2;
const AT_ONCE_MAX = 64;
const NAMES = namesOf<CrashTestOptions>({
  ...{ input: true, exportName: true, effects: true, verify: true, once: true, comparable: true },
  ...{ timeout: true, atOnce: true, env: true, isKept: true },
});
const FUNCTIONS = ['effects', 'verify', 'comparable'] as const;

export function readOptions(module: unknown, options: CrashTestOptions<never>): CrashPlan {
  const of = moduleOf(module);
  if (typeof options !== 'object' || options === null || !('input' in options)) {
    throw new CrashTestOptionsError('crashTest needs the input of the run', { hint: EXAMPLE });
  }
  const fault = faultOfOptions(options, NAMES);
  if (fault !== undefined) throw new CrashTestOptionsError(`crashTest ${fault}`);
  for (const name of FUNCTIONS) {
    const given: unknown = options[name];
    if (given !== undefined && typeof given !== 'function')
      throw new CrashTestOptionsError(`${name} must be a function, got ${show(given)}`);
  }
  const { input, exportName, effects, verify, comparable, env = {}, isKept = false } = options;
  if (exportName !== undefined && typeof exportName !== 'string')
    throw new CrashTestOptionsError(`exportName must be a name, got ${show(exportName)}`);
  return {
    module: of,
    exportName,
    inputFor: typeof input === 'function' ? (input as CrashPlan['inputFor']) : () => input,
    effects,
    verify: verify as CrashPlan['verify'],
    once: onceOf(options.once ?? []),
    comparable: (comparable as CrashPlan['comparable'] | undefined) ?? ((output) => output),
    timeoutMs: timeoutOf(options.timeout ?? TIMEOUT),
    atOnce: atOnceOf(options.atOnce ?? (effects ? 1 : AT_ONCE)),
    env,
    isKept,
  };
}

function onceOf(given: unknown): readonly string[] {
  const isPhase = (name: unknown) => (PHASES as readonly unknown[]).includes(name);
  if (Array.isArray(given) && given.every(isPhase)) return given;
  const wanted = `some of ${PHASES.join(', ')}`;
  throw new CrashTestOptionsError(`once must be a list, ${wanted}; got ${show(given)}`);
}

/** The module's address; another process has to find it, so nothing less will do. */
function moduleOf(given: unknown): string {
  if (isMachine(given)) {
    throw new CrashTestOptionsError(
      `crashTest got the machine ${given.name} itself, which cannot be carried into another process`,
      { hint: `name the module that exports it: ${EXAMPLE}` },
    );
  }
  const url = urlOf(given);
  if (url?.protocol !== 'file:') {
    throw new CrashTestOptionsError(
      `crashTest needs the file URL or the absolute path of a module, got ${show(given)}`,
      { hint: EXAMPLE },
    );
  }
  const file = fileURLToPath(url);
  if (existsSync(file)) return url.href;
  throw new CrashTestOptionsError(`there is no module ${file}`, {
    hint: `a relative path is seen from the file that says import.meta: ${EXAMPLE}`,
  });
}

function urlOf(given: unknown): URL | undefined {
  if (given instanceof URL) return given;
  if (typeof given !== 'string') return undefined;
  if (isAbsolute(given)) return pathToFileURL(given);
  return URL.canParse(given) ? new URL(given) : undefined;
}

function timeoutOf(given: unknown): number {
  const ms = parseDuration(given);
  if (ms !== undefined && ms > 0) return ms;
  throw new CrashTestOptionsError(`timeout must be ${DURATION_WANTED}; got ${show(given)}`);
}

function atOnceOf(given: unknown): number {
  const isCount = Number.isInteger(given) && Number(given) >= 1 && Number(given) <= AT_ONCE_MAX;
  if (isCount) return Number(given);
  throw new CrashTestOptionsError(
    `atOnce must be a whole number from 1 to ${AT_ONCE_MAX}, got ${show(given)}`,
  );
}
