/**
 * Whether the type tests bite. Each rule of the types is loosened in a copy of the source; the type
 * tests, compiled against that copy, have to notice: an expected error is gone, or a type is another.
 */
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile, type Files } from './compile.ts';

const here = fileURLToPath(new URL('./', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
let copy: string;
let typeTests: Files;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'fleetq-loosened-'));
  await cp(join(root, 'src'), join(copy, 'src'), { recursive: true });
  await leaveUnchecked(join(copy, 'src'));
  await cp(join(root, 'package.json'), join(copy, 'package.json'));
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const names = (await readdir(here)).filter((name) => /test-d\.ts$|^same\.ts$/.test(name));
  typeTests = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(here, name), 'utf8')])),
  );
});
afterAll(() => rm(copy, { recursive: true }));

interface Rule {
  readonly rule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const TYPES = 'src/machine/types.ts';
const RULES: readonly Rule[] = [
  {
    rule: 'check is mandatory',
    file: TYPES,
    from: 'readonly check:\n',
    to: 'readonly check?:\n',
  },
  {
    rule: 'the handoff does not decide the output',
    file: TYPES,
    from: 'Awaitable<HandoffOrProceed<NoInfer<Stored<W, P, Q>>>>',
    to: 'Awaitable<HandoffOrProceed<Stored<W, P, Q>>>',
  },
  {
    rule: 'the handoff is of the output',
    file: TYPES,
    from: 'Awaitable<HandoffOrProceed<NoInfer<Stored<W, P, Q>>>>',
    to: 'Awaitable<HandoffOrProceed<unknown>>',
  },
  {
    rule: 'check hands off with handoff only',
    file: TYPES,
    from: 'export type HandoffOrProceed<P> = void | null | Handoff<P>;',
    to: 'export type HandoffOrProceed<P> = void | null | Handoff<P> | P;',
  },
  {
    rule: 'validate answers nothing',
    file: TYPES,
    from: 'export type NothingOrThrow = void | undefined;',
    to: 'export type NothingOrThrow = void | undefined | boolean;',
  },
  {
    rule: 'results are JSON',
    file: TYPES,
    from: 'export type Durable<T> = null | undefined | void | ({ [K in keyof T]: JsonSafe<T[K]> } & PlainData);',
    to: 'export type Durable<T> = T | unknown;',
  },
  {
    rule: 'bigint, symbol, function and unknown are no plain data',
    file: TYPES,
    from: '({ [K in keyof T]: JsonSafe<T[K]> } & PlainData)',
    to: '{ [K in keyof T]: JsonSafe<T[K]> }',
  },
  {
    rule: 'literals widen',
    file: TYPES,
    from: 'export type Durable<T> = null',
    to: 'export type Durable<T> = string | number | boolean | null',
  },
  {
    rule: 'names are used once',
    file: TYPES,
    from: 'type NewName<K extends string, A> = K extends keyof A\n',
    to: 'type NewName<K extends string, A> = K extends keyof A & never\n',
  },
  {
    rule: 'tx comes with the store',
    file: TYPES,
    from: "type PersistContext<I, S, W, X> = X extends 'store'",
    to: "type PersistContext<I, S, W, X> = X extends 'store' | 'journal'",
  },
  {
    rule: 'without persist, work returns the output',
    file: TYPES,
    from: ': WorkIsNotTheOutput\n',
    to: ': unknown\n',
  },
  {
    rule: 'persist returns what the output schema takes',
    file: 'src/machine/define-machine.ts',
    from: 'P extends Durable<P> & Wanted<Q> = never',
    to: 'P extends Durable<P> = never',
  },
  {
    rule: 'inputs travel as JSON',
    file: TYPES,
    from: 'readonly input: D & TakesJson<NoInfer<D>>;',
    to: 'readonly input: D;',
  },
  {
    rule: 'a task takes the input of its machine',
    file: 'src/main.ts',
    from: 'input: NoInfer<I>,\n    options?: EnqueueOptions,',
    to: 'input: unknown,\n    options?: EnqueueOptions,',
  },
  {
    rule: 'a run takes the input of its machine',
    file: 'src/main.ts',
    from: 'input: NoInfer<I>,\n    options?: StartOptions,',
    to: 'input: unknown,\n    options?: StartOptions,',
  },
  {
    rule: 'an erased machine takes no input',
    file: TYPES,
    from: 'export interface Machine<in I = never,',
    to: 'export interface Machine<in I = any,',
  },
  {
    rule: 'durations have a unit',
    file: 'src/ground/duration.ts',
    from: "{'ms' | 's' | 'm' | 'h' | 'd'}",
    to: '{string}',
  },
  {
    rule: 'a machine has one step or several',
    file: TYPES,
    from: '  readonly steps?: undefined;\n',
    to: '',
  },
  {
    rule: 'steps see the steps before them',
    file: TYPES,
    from: 'Line<I, With<S, K, Result<W, P, Q>>, Result<W, P, Q>, With<A, K, S>>;',
    to: 'Line<I, S, Result<W, P, Q>, With<A, K, S>>;',
  },
];

test('the type tests pass as the types are', async () => {
  expect(await diagnose()).toEqual([]);
});

test.each(RULES)('the type tests notice when it is no longer so that $rule', async (rule) => {
  const path = join(copy, rule.file);
  const strict = await readFile(path, 'utf8');
  expect(strict, 'the rule stands where this test looks for it').toContain(rule.from);
  await writeFile(
    path,
    strict.replace(rule.from, () => rule.to),
  );
  try {
    expect(await diagnose()).not.toEqual([]);
  } finally {
    await writeFile(path, strict);
  }
});

/** What the compiler says about the source is another matter: it is read for its types alone. */
async function leaveUnchecked(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  for (const name of names.filter((name) => name.endsWith('.ts'))) {
    const path = join(directory, name);
    await writeFile(path, `// @ts-nocheck\n${await readFile(path, 'utf8')}`);
  }
}

/** What the compiler says about the type tests. */
function diagnose() {
  return compile(
    typeTests,
    ({ diagnostics }) => diagnostics.filter(({ file }) => file in typeTests),
    { fleetq: join(copy, 'src/index.ts') },
  );
}
