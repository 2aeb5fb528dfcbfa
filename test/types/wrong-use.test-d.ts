/** What compiles, and what must not: each directive stands right above the place of the error. */
import {
  abort,
  createFleet,
  defineMachine,
  handoff,
  type InputOf,
  type Machine,
  type OutputOf,
  proceed,
  type Run,
  retryAfter,
  type Task,
} from 'fleetq';
import * as z from 'zod';
import { same } from './same.ts';

const input = z.object({ src: z.string(), width: z.number() });
const base = { name: 'm', version: 1, input, check: 'none' } as const;
const head = { name: 'm', version: 1, input } as const;
declare const maybe: string | undefined;

// ── what must compile ───────────────────────────────────────────────────────────────────────────
defineMachine({
  ...base,
  version: 2,
  work: () => 1,
  upgrade: { 1: (old) => old.restart(input.parse(old.input)) },
});
defineMachine({
  ...head,
  version: 2,
  steps: (line) =>
    line.step('a', { check: 'none', work: () => 1 }).step('b', { check: 'none', work: () => 2 }),
  upgrade: {
    1: (old) =>
      old.at.phase === 'sleep'
        ? old.restart({ src: '', width: old.attempt })
        : old.resumeAt('b', { input: { src: '', width: 1 }, state: { a: 1 } }),
  },
});
const child = defineMachine({
  ...base,
  name: 'child',
  work: async ({ input }) => input.width,
});
same<OutputOf<typeof child>, number>();
same<(typeof child)['name'], 'child'>();
same<InputOf<typeof child>, { src: string; width: number }>();
const store = defineMachine({
  ...base,
  persistIn: 'store',
  work: () => 1,
  persist: async ({ tx, work }) => {
    await tx.query('…', [work]);
    return { n: work };
  },
});
same<OutputOf<typeof store>, { n: number }>();
const verdicts = defineMachine({
  ...base,
  check: ({ input, attempt }) => {
    if (attempt > 3) abort('no', { kind: 'user' });
    if (!input.src) retryAfter('30s', 'later');
    return proceed;
  },
  work: () => null,
});
const nullish = defineMachine({
  ...base,
  check: async ({ input }) => {
    const hit = input.src ? { n: 1 } : null;
    return hit && handoff(hit);
  },
  work: () => ({ n: 2 }),
});
const notBoth = defineMachine({
  ...head,
  check: undefined,
  steps: (line) => line.step('a', { check: 'none', work: () => 1 }),
});
const all: readonly Machine[] = [child, store, verdicts, nullish, notBoth];

export async function fleetUse(): Promise<void> {
  await using fleet = await createFleet({ machines: all });
  const run = await fleet.startLocal(child, { src: 'a', width: 1 }, { key: maybe });
  same<typeof run, Run<number>>();
  const known: number = await run.result();
  void known;

  // @ts-expect-error width is a number
  await fleet.startLocal(child, { src: 'x', width: '1' });
  // @ts-expect-error src is missing
  await fleet.startLocal(child, { width: 1 });
  // @ts-expect-error the result is a number
  const wrong: string = await (await fleet.startLocal(child, { src: 'x', width: 1 })).result();
  void wrong;
  // @ts-expect-error a local start has no transaction of the store
  await fleet.startLocal(child, { src: 'x', width: 1 }, { tx: undefined });
  // @ts-expect-error an erased machine takes no input: keep its type to start it
  await fleet.startLocal(all[0]!, { src: 'x', width: 1 });
  const task = await fleet.enqueue(child, { src: 'a', width: 1 }, { key: maybe, runAt: '5m' });
  same<typeof task, Task<number>>();
  // @ts-expect-error width is a number
  await fleet.enqueue(child, { src: 'x', width: '1' });
  // @ts-expect-error an erased machine takes no input: keep its type to enqueue it
  await fleet.enqueue(all[0]!, { src: 'x', width: 1 });
  // @ts-expect-error a duration has a unit
  await fleet.enqueue(child, { src: 'x', width: 1 }, { runAt: '5' });
  // @ts-expect-error not a machine
  await createFleet({ machines: [{ name: 'm' }] });
}

// ── what must not ───────────────────────────────────────────────────────────────────────────────
// @ts-expect-error check is mandatory
defineMachine({ ...head, work: () => 1 });
// @ts-expect-error a machine needs work
defineMachine({ ...base });
// @ts-expect-error a machine needs a version
defineMachine({ name: 'm', input, check: 'none', work: () => 1 });
// @ts-expect-error there is no other word than none
defineMachine({ ...base, check: 'never', work: () => 1 });
// @ts-expect-error validate throws, it does not answer
defineMachine({ ...base, work: () => 1, validate: ({ work }) => work > 0 });
defineMachine({
  ...base,
  // @ts-expect-error the handoff is not the output
  check: () => handoff({ uri: 'x' }),
  work: () => 1,
  persist: () => ({ url: 'x' }),
});
// @ts-expect-error the handoff is not what work returns, which is the output without persist
defineMachine({ ...base, check: () => handoff('x'), work: () => 1 });
// @ts-expect-error check hands off with handoff(), not with a bare value
defineMachine({ ...base, check: () => ({ url: 'x' }), work: () => ({ url: 'x' }) });
// @ts-expect-error a Date is not JSON
defineMachine({ ...base, work: async ({ input }) => ({ src: input.src, at: new Date() }) });
// @ts-expect-error nor is it in what persist returns
defineMachine({ ...base, work: () => 1, persist: async ({ work }) => ({ at: new Date(work) }) });
// @ts-expect-error tx comes with persistIn: 'store'
defineMachine({ ...base, work: () => 1, persist: async ({ tx }) => void tx });
defineMachine({
  ...base,
  validate: ({ work }) => {
    // @ts-expect-error work stands above validate
    if (work.w) throw new Error('x');
  },
  work: ({ input }) => ({ w: input.width }),
});
// @ts-expect-error misspelt
defineMachine({ ...base, work: () => 1, vaildate: () => {} });
defineMachine({
  ...base,
  work: () => 1,
  // @ts-expect-error one step or several, not both
  steps: (line) => line.step('a', { check: 'none', work: () => 1 }),
});
defineMachine({
  ...head,
  // @ts-expect-error two parts of one name
  steps: (line) => line.step('a', { check: 'none', work: () => 1 }).sleep('a', '1m'),
});
defineMachine({
  ...head,
  steps: (line) =>
    line
      // @ts-expect-error b comes later
      .step('a', { check: 'none', work: ({ state }) => state.b })
      .step('b', { check: 'none', work: () => 1 }),
});
// @ts-expect-error check is mandatory in every step
defineMachine({ ...head, steps: (line) => line.step('a', { work: () => 1 }) });
defineMachine({
  ...head,
  steps: (line) =>
    // @ts-expect-error a step has no time limit for the run
    line.step('a', { check: 'none', timeout: { run: '1h' }, work: () => 1 }),
});
// @ts-expect-error a line is returned, not a machine's parts
defineMachine({ ...head, steps: () => [] });
defineMachine({
  ...base,
  output: z.object({ url: z.string() }),
  work: () => 1,
  // @ts-expect-error persist does not return what the output schema takes
  persist: ({ work }) => ({ url: work }),
});
// @ts-expect-error without persist, work has to return it
defineMachine({
  ...base,
  output: z.object({ url: z.string() }),
  work: ({ input }) => ({ uri: input.src }),
});
// @ts-expect-error not a duration
defineMachine({ ...base, timeout: { work: '2 minutes' }, work: () => 1 });
// @ts-expect-error no such phase
defineMachine({ ...base, timeout: { wrok: '2m' }, work: () => 1 });
// @ts-expect-error a number of attempts
defineMachine({ ...base, retry: { attemptMax: '3' }, work: () => 1 });
// @ts-expect-error the input arrives as JSON, a Date does not
defineMachine({ ...base, input: z.object({ at: z.date() }), work: () => 1 });
// @ts-expect-error not a schema
defineMachine({ ...base, input: { src: 'string' }, work: () => 1 });
// @ts-expect-error no other place than these two
defineMachine({ ...base, persistIn: 'memory', work: () => 1, persist: () => 1 });
defineMachine({
  ...base,
  work: ({ input }) => {
    // @ts-expect-error the input is not the phase's to change
    input = { src: '', width: input.width, more: 1 };
    return 1;
  },
});
// @ts-expect-error the outcome is one of two kinds
abort('no', { kind: 'ours' });
// @ts-expect-error a duration, not words
retryAfter('soon', 'busy');
// @ts-expect-error a machine is not the author's to change once it is defined
child.name = 'other';
defineMachine({
  ...head,
  version: 2,
  steps: (line) =>
    line.step('a', { check: 'none', work: () => 1 }).step('b', { check: 'none', work: () => 2 }),
  upgrade: {
    // @ts-expect-error the state that step b starts with has a number in it
    1: (old) => old.resumeAt('b', { input: { src: '', width: 1 }, state: { a: 'one' } }),
  },
});
defineMachine({
  ...head,
  version: 2,
  steps: (line) => line.step('a', { check: 'none', work: () => 1 }),
  upgrade: {
    // @ts-expect-error there is no step c to go on at
    1: (old) => old.resumeAt('c', { input: { src: '', width: 1 }, state: {} }),
  },
});
defineMachine({
  ...base,
  version: 2,
  work: () => 1,
  // @ts-expect-error what was recorded is unknown until it is parsed
  upgrade: { 1: (old) => old.restart(old.input) },
});
// @ts-expect-error an upgrade says how the run goes on
defineMachine({ ...base, version: 2, work: () => 1, upgrade: { 1: () => undefined } });
