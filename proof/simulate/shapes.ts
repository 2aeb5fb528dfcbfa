/**
 * The machines of the simulation: the shapes runs come in, what each has to come to, and the outside
 * world they act upon, which remembers everything that was done to it.
 */
import * as z from 'zod';
import { pause, type RunId } from '../../src/ground/index.ts';
import {
  abort,
  defineMachine,
  handoff,
  type Machine,
  type Plan,
  planOf,
  type RunState,
  retryAfter,
} from '../../src/machine/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Process } from './process.ts';

export interface Published {
  readonly run: RunId;
  readonly step: string;
  readonly value: number;
  readonly by: string;
  readonly epoch: number;
}

/** What handlers act upon. There is one at a time, since machines are defined once. */
export interface Outside {
  /** The process whose handler is being called. */
  readonly here: () => Process;
  /** By idempotency key: a second time is noted and changes nothing. */
  readonly published: Map<string, Published[]>;
  readonly postponed: Set<RunId>;
  /** What somebody has mended, for runs that fail without it. */
  readonly mended?: Set<RunId>;
}

let outside: Outside | undefined;

export function enter(next: Outside): void {
  outside = next;
}

function world(): Outside {
  if (!outside) throw new Error('no simulation is under way');
  return outside;
}

export const input = z.object({ n: z.int(), pace: z.number() });
type Input = z.infer<typeof input>;
export interface Called {
  readonly input: Input;
  readonly runId: RunId;
  readonly idempotencyKey: string;
  readonly fencingToken: number;
}

/** A handler takes its time on its own process: where that is killed it never comes back. */
export async function takeTime(
  { input: { pace } }: { readonly input: Input },
  share = 1,
): Promise<void> {
  const { clock, random } = world().here();
  await pause(clock, (0.2 + random.fraction()) * pace * share);
}

export async function publish(context: Called, step: string, value: number): Promise<number> {
  const { name } = world().here();
  await takeTime(context, 0.3);
  const { idempotencyKey: key, runId: run, fencingToken: epoch } = context;
  const before = world().published.get(key) ?? [];
  world().published.set(key, [...before, { run, step, value, by: name, epoch }]);
  return value;
}

function find(run: RunId, step: string): number | undefined {
  for (const entries of world().published.values()) {
    if (entries[0]?.run === run && entries[0].step === step) return entries[0].value;
  }
  return undefined;
}

export async function checkFor(context: Called, step: string) {
  await takeTime(context, 0.2);
  const there = find(context.runId, step);
  return there === undefined ? undefined : handoff(there, 'it is there already');
}

/** Deaths are attempts too: what has this is not to fail by their number alone. */
export const retry = {
  attemptMax: 60,
  backoff: (attempt: number) => Math.min(40 * 2 ** attempt, 1_500),
};
/** And this may: after as many attempts as a machine has by default. */
const few = { backoff: retry.backoff };

/** Short, as long as it takes to be swept and not longer than one waits in place, or parked. */
const NAPS_MS = [1_000, 4_900, 7_000] as const;
const DELAYS_MS = [800, 4_900, 6_000] as const;

export function napMs({ n }: { readonly n: number }): number {
  return NAPS_MS[n % NAPS_MS.length]!;
}

export function delayMs({ n }: { readonly n: number }): number {
  return DELAYS_MS[n % DELAYS_MS.length]!;
}

/** Between which lengths the wait must be that comes after this event; undefined where any will do. */
export function askedFor(
  { line, chart }: Plan,
  { at, attempt, input }: Pick<RunState, 'at' | 'attempt' | 'input'>,
  type: string,
): readonly [minMs: number, maxMs: number] | undefined {
  const place = chart.placeOf(at);
  const part = place && line[place.index];
  if (type === 'ASLEEP') return [napMs(input as Input), napMs(input as Input)];
  if (type === 'POSTPONED') return [delayMs(input as Input), delayMs(input as Input)];
  if (part?.kind !== 'step' || place?.phase === 'sleep') return undefined;
  const ms = part.policy[place!.phase].backoff(attempt);
  return [ms / 2, ms];
}

const full = defineMachine({
  name: 'full',
  version: 1,
  input,
  retry,
  check: (context) => checkFor(context, 'full'),
  work: async (context) => takeTime(context).then(() => context.input.n + 1),
  validate: async ({ work }) => {
    if (!Number.isInteger(work)) throw new Error('no number');
  },
  persist: (context) => publish(context, 'full', context.work),
});

const plain = defineMachine({
  name: 'plain',
  version: 1,
  input,
  retry: few,
  check: 'none',
  work: async (context) => takeTime(context).then(() => context.input.n * 2),
});

const long = defineMachine({
  name: 'long',
  version: 1,
  input,
  retry: few,
  steps: (line) =>
    line
      .step('a', {
        check: (context) => checkFor(context, 'a'),
        work: async (context) => takeTime(context).then(() => context.input.n + 10),
        persist: (context) => publish(context, 'a', context.work),
      })
      .sleep('nap', ({ input: asked }) => napMs(asked))
      .step('b', {
        check: 'none',
        flush: { work: 'sync' },
        work: async (context) => takeTime(context).then(() => context.state.a * 3),
        persist: (context) => publish(context, 'b', context.work),
      })
      .step('c', { check: 'none', work: ({ state }) => state.b + 1 }),
});

const flaky = defineMachine({
  name: 'flaky',
  version: 1,
  input,
  retry: { backoff: (attempt) => (attempt % 3 === 2 ? 6_500 : 60) },
  check: (context) => checkFor(context, 'flaky'),
  work: async (context) => {
    await takeTime(context);
    if (below(world().here().random, 3) === 0) throw new Error('it did not work this time');
    return context.input.n - 1;
  },
  validate: async () => {
    if (below(world().here().random, 4) === 0) throw new Error('not this one');
  },
  persist: async (context) => {
    if (below(world().here().random, 4) === 0) throw new Error('it was not taken');
    return publish(context, 'flaky', context.work);
  },
});

const postponed = defineMachine({
  name: 'postponed',
  version: 1,
  input,
  retry: few,
  check: 'none',
  work: async (context) => {
    await takeTime(context);
    if (!world().postponed.has(context.runId)) {
      world().postponed.add(context.runId);
      throw retryAfter(delayMs(context.input), 'not yet');
    }
    return context.input.n;
  },
});

const doomed = defineMachine({
  name: 'doomed',
  version: 1,
  input,
  retry: { attemptMax: 2, backoff: () => 50 },
  check: 'none',
  work: async (context) => {
    await takeTime(context);
    if (context.input.n % 2 === 0) throw abort('nobody wants it', { kind: 'user' });
    throw new Error('it never works');
  },
});

/** Fails in its second step until somebody has mended what it needs, and is to be driven anew then. */
const mended = defineMachine({
  name: 'mended',
  version: 1,
  input,
  retry,
  steps: (line) =>
    line
      .step('a', {
        check: (context) => checkFor(context, 'a'),
        work: async (context) => takeTime(context).then(() => context.input.n + 5),
        persist: (context) => publish(context, 'a', context.work),
      })
      .step('b', {
        check: (context) => checkFor(context, 'b'),
        work: async (context) => {
          await takeTime(context);
          if (!world().mended?.has(context.runId)) throw abort('what it needs is broken');
          return context.state.a * 2;
        },
        persist: (context) => publish(context, 'b', context.work),
      }),
});

/** Of courses in which somebody redrives; those left to chance have no use for it. */
export const MENDED = mended;

export const SHAPES = [full, plain, long, flaky, postponed, doomed] as const;

/**
 * What a task of this shape has to have come to, where nobody cancels it. Whether one was rightly
 * exhausted its records tell.
 */
export function expected(machine: string, n: number): { outcomes: string[]; result?: number } {
  switch (machine) {
    case 'full':
      return { outcomes: ['completed', 'handedOff'], result: n + 1 };
    case 'plain':
      return { outcomes: ['completed', 'exhausted'], result: n * 2 };
    case 'long':
      return { outcomes: ['completed', 'exhausted'], result: (n + 10) * 3 + 1 };
    case 'flaky':
      return { outcomes: ['completed', 'handedOff', 'exhausted'], result: n - 1 };
    case 'mended':
      return { outcomes: ['completed', 'handedOff'], result: (n + 5) * 2 };
    case 'postponed':
      return { outcomes: ['completed', 'exhausted'], result: n };
    default:
      return { outcomes: n % 2 === 0 ? ['aborted', 'exhausted'] : ['exhausted'] };
  }
}

/** The steps of a machine whose persist acts upon the outside. */
export function publishesIn(machine: string): readonly string[] {
  if (machine === 'long' || machine === 'mended') return ['a', 'b'];
  return machine === 'full' || machine === 'flaky' ? [machine] : [];
}

export function planNamed(name: string): Plan {
  const machine = [...SHAPES, mended].find((shape) => shape.name === name) as Machine | undefined;
  const plan = machine && planOf(machine);
  if (!plan) throw new Error(`there is no shape ${name}`);
  return plan;
}
