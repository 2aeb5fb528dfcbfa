/**
 * What users read when they are wrong. Each program makes one mistake; all are compiled in one go, and
 * the last line of the message, which editors show at the end of the tooltip, is compared.
 */
import { expect, test } from 'vitest';
import { compile, type Diagnostic } from './compile.ts';

interface Mistake {
  readonly program: string;
  readonly message: RegExp;
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'no-check': {
    program: `defineMachine({ name: 'm', version: 1, input, work: () => 1 });`,
    message:
      /^Property 'check' is missing in type .* but required in type 'StepMachine<"m", .*'\.$/,
  },
  'validate-answers': {
    program: `defineMachine({ ...base, work: () => 1, validate: ({ work }) => work > 0 });`,
    message: /^Type 'boolean' is not assignable to type 'Awaitable<NothingOrThrow>'\.$/,
  },
  'handoff-unlike-output': {
    program: `defineMachine({ ...base, check: () => handoff({ uri: 'x' }), work: () => 1,
      persist: () => ({ url: 'x' }) });`,
    message:
      /^Property 'url' is missing in type '\{ uri: string; \}' but required in type '\{ url: string; \}'\.$/,
  },
  'check-returns-bare': {
    program: `defineMachine({ ...base, check: () => ({ url: 'x' }), work: () => ({ url: 'x' }) });`,
    message:
      /^Type '\{ url: string; \}' is not assignable to type '(Awaitable<)?HandoffOrProceed<NoInfer<\{ url: string; \}>>>?'\.$/,
  },
  'work-returns-date': {
    program: `defineMachine({ ...base, work: () => ({ at: new Date() }) });`,
    message: /^Type 'Date' is not assignable to type '"a Date is not JSON: use an ISO string"'\.$/,
  },
  'work-returns-bigint': {
    program: `defineMachine({ ...base, work: () => ({ n: 1n }) });`,
    message: /^Type 'bigint' is not assignable to type '"a bigint is not JSON: use a string"'\.$/,
  },
  'work-returns-map': {
    program: `defineMachine({ ...base, work: () => ({ m: new Map([['a', 1]]) }) });`,
    message: /is not assignable to type '"a Map or Set is not JSON: use an array or an object"'\.$/,
  },
  'work-returns-unknown': {
    program: `defineMachine({ ...base, work: ({ input }) => ({ u: input as unknown }) });`,
    message:
      /^Type 'unknown' is not assignable to type '"unknown is not JSON: parse it or give it a type"'\.$/,
  },
  'tx-without-store': {
    program: `defineMachine({ ...base, work: () => 1, persist: ({ tx }) => { void tx; } });`,
    message: /^Property 'tx' does not exist on type 'WorkedContext<.*>'\.$/,
  },
  'validate-above-work': {
    program: `defineMachine({ ...base, validate: ({ work }) => { if (work.width) throw 1; },
      work: ({ input }) => ({ width: input.width }) });`,
    message: /^Property 'width' does not exist on type 'WriteWorkAboveThis'\.$/,
  },
  misspelt: {
    program: `defineMachine({ ...base, work: () => 1, vaildate: () => {} });`,
    message:
      /'vaildate' does not exist in type 'StepMachine<.*>'\. Did you mean to write 'validate'\?$/,
  },
  'two-of-one-name': {
    program: `defineMachine({ ...head, steps: (line) =>
      line.step('a', { check: 'none', work: () => 1 }).sleep('a', '1m') });`,
    message:
      /^Argument of type '"a"' is not assignable to parameter of type '"'a' is already the name of an earlier step"'\.$/,
  },
  'reads-a-later-step': {
    program: `defineMachine({ ...head, steps: (line) =>
      line.step('a', { check: 'none', work: ({ state }) => state.b }) });`,
    message: /^Property 'b' does not exist on type '\{\}'\.$/,
  },
  'work-is-not-the-output': {
    program: `defineMachine({ ...base, output: z.object({ url: z.string() }),
      work: ({ input }) => ({ uri: input.src }) });`,
    message:
      /^Property 'persist' is missing in type .* but required in type 'WorkIsNotTheOutput'\.$/,
  },
  'input-takes-a-date': {
    program: `defineMachine({ ...base, input: z.object({ at: z.date() }), work: () => 1 });`,
    message: /^Type 'Date' is not assignable to type '"a Date is not JSON: use an ISO string"'\.$/,
  },
  'wrong-input': {
    program: `const m = defineMachine({ ...base, work: () => 1 });
      await fleet.startLocal(m, { src: 'x', width: '1' });`,
    message: /^Type 'string' is not assignable to type 'number'\.$/,
  },
  'not-a-duration': {
    program: `defineMachine({ ...base, timeout: { work: '2 minutes' }, work: () => 1 });`,
    message: /^Type '"2 minutes"' is not assignable to type 'Duration \| undefined'\.$/,
  },
  'not-a-schema': {
    program: `defineMachine({ ...base, input: { src: 'string' }, work: () => 1 });`,
    message: /'src' does not exist in type 'StandardSchemaV1<unknown, unknown>'\.$/,
  },
  'erased-machine': {
    program: `const m: Machine = defineMachine({ ...base, work: () => 1 });
      await fleet.startLocal(m, { src: 'x', width: 1 });`,
    message: /is not assignable to (parameter of )?type 'never'\.$/,
  },
};

const PREFACE = `import { defineMachine, type Fleet, handoff, type Machine } from 'fleetq';
import * as z from 'zod';
const input = z.object({ src: z.string(), width: z.number() });
const base = { name: 'm', version: 1, input, check: 'none' } as const;
const head = { name: 'm', version: 1, input } as const;
declare const fleet: Fleet;
export type Unused = [typeof base, typeof head, typeof fleet, typeof handoff, Machine];
`;
const PREFACE_LINES = PREFACE.split('\n').length - 1;

test('every mistake is told in words that say what to do, at the place where it is', async () => {
  const files = Object.fromEntries(
    Object.entries(MISTAKES).map(([name, { program }]) => [`${name}.ts`, PREFACE + program]),
  );
  const diagnostics = await compile(
    { ...files, 'right.ts': `${PREFACE}defineMachine({ ...base, work: () => 1 });` },
    (compiled) => compiled.diagnostics,
  );

  const told = (name: string): Diagnostic[] => diagnostics.filter((d) => d.file === `${name}.ts`);
  for (const [name, { message }] of Object.entries(MISTAKES)) {
    const [first, ...more] = told(name);
    expect(more, `${name}: one mistake, one message`).toEqual([]);
    expect(first?.message.at(-1), name).toMatch(message);
    expect(first?.line, `${name}: in the program itself`).toBeGreaterThan(PREFACE_LINES);
  }
  expect(told('right')).toEqual([]);
});

test('a declaration shows input, output and name of a machine, and nothing of its inside', async () => {
  const program = `import { defineMachine, exponential } from 'fleetq';
import * as z from 'zod';
export const resizeImage = defineMachine({
  name: 'resize-image', version: 1,
  input: z.object({ src: z.string(), width: z.number(), dpr: z.number().optional() }),
  retry: { backoff: exponential('1s') },
  steps: (line) => line
    .step('load', { check: 'none', work: ({ input }) => ({ bytes: input.width }) })
    .sleep('rest', '1m')
    .step('publish', { check: 'none', work: ({ state }) => ({ url: String(state.load.bytes) }) }),
});`;
  const [diagnostics, declaration] = await compile(
    { 'a.ts': program },
    async ({ diagnostics, emitted }) => [diagnostics, await emitted('a.d.ts')] as const,
    {
      // The built types, as a user's compiler sees them.
      fleetq: new URL('../../dist/index.d.ts', import.meta.url).pathname,
      options: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        allowImportingTsExtensions: false,
      },
    },
  );
  expect(diagnostics).toEqual([]);
  expect(declaration.replaceAll(/\s+/g, ' ')).toContain(
    'resizeImage: import("fleetq").Machine<{ src: string; width: number; dpr?: number | undefined; }, { url: string; }, "resize-image">;',
  );
});
