/**
 * Machines of which there are two versions, and the codes that have one, the other or both: what becomes
 * of a run where its version is gone is different for each. What a run comes to tells which of them ended it.
 */
import { defineMachine, type Machine, type Plan, planOf } from '../../src/machine/index.ts';
import { LIMITED_NAMES, limitedEnd, limitedPlan, limitedSteps } from './limited-shapes.ts';
import { LONELY_NAMES, lonelyEnd, lonelyPlan, lonelySteps } from './lonely-shapes.ts';
import {
  type Called,
  checkFor,
  expected,
  input,
  napMs,
  planNamed,
  publish,
  publishesIn,
  retry,
  takeTime,
} from './shapes.ts';

/** What a process was started with; `both` is what everybody has in the end. */
export type Code = 'v1' | 'v2' | 'both';

/** A step that makes a number of what is there before it, and publishes it. */
function step<C extends Called>(name: string, make: (context: C) => number) {
  return {
    check: (context: C) => checkFor(context, name),
    work: async (context: C) => takeTime(context).then(() => make(context)),
    persist: (context: C & { readonly work: number }) => publish(context, name, context.work),
  };
}

type After<K extends string> = Called & { readonly state: Readonly<Record<K, number>> };
const first = (context: Called) => context.input.n + 1;
const nap = ({ input: asked }: { readonly input: { readonly n: number } }) => napMs(asked);
const of = (name: string, version: number) => ({ name, version, input, retry });

/** Gets a step at its end: its runs advance. */
const grownOne = defineMachine({
  ...of('grown', 1),
  steps: (line) =>
    line
      .step('a', step('a', first))
      .sleep('nap', nap)
      .step(
        'b',
        step('b', ({ state }: After<'a'>) => state.a * 2),
      ),
});
const grownTwo = defineMachine({
  ...of('grown', 2),
  steps: (line) =>
    line
      .step('a', step('a', first))
      .sleep('nap', nap)
      .step(
        'b',
        step('b', ({ state }: After<'a'>) => state.a * 2),
      )
      .step(
        'c',
        step('c', ({ state }: After<'b'>) => state.b + 1_000),
      ),
});

/** Becomes another line, with an upgrade. */
const remadeOne = defineMachine({
  ...of('remade', 1),
  steps: (line) =>
    line
      .step('a', step('a', first))
      .sleep('nap', nap)
      .step(
        'b',
        step('b', ({ state }: After<'a'>) => state.a * 2),
      ),
});
const remadeTwo = defineMachine({
  ...of('remade', 2),
  steps: (line) =>
    line.step('x', step('x', first)).step(
      'z',
      step('z', ({ state }: After<'x'>) => state.x * 5),
    ),
  upgrade: {
    1: (old) => {
      const given = input.parse(old.input);
      const { a } = old.state;
      return a === undefined
        ? old.restart(given)
        : old.resumeAt('z', { input: given, state: { x: Number(a) } });
    },
  },
});

/**
 * Has its steps swapped, and no upgrade: its runs wait. One that was begun under the one version, and of
 * which nothing had reached the store, may be begun under the other: a step does the same in both.
 */
const second = (context: Called) => context.input.n + 2;
const swappedOne = defineMachine({
  ...of('swapped', 1),
  steps: (line) => line.step('a', step('a', first)).sleep('nap', nap).step('b', step('b', second)),
});
const swappedTwo = defineMachine({
  ...of('swapped', 2),
  steps: (line) => line.step('b', step('b', second)).sleep('nap', nap).step('a', step('a', first)),
});

/** Is there in one of the codes only. */
const olden = defineMachine({ ...of('olden', 1), ...step('olden', first) });
const novel = defineMachine({ ...of('novel', 1), ...step('novel', first) });

const [V1, V2] = [
  [grownOne, remadeOne, swappedOne, olden] as unknown as Machine[],
  [grownTwo, remadeTwo, swappedTwo, novel] as unknown as Machine[],
];
const MACHINES: Readonly<Record<Code, readonly Machine[]>> = {
  v1: V1,
  v2: V2,
  both: [...V1, ...V2],
};

export function machinesIn(code: Code | undefined): readonly Machine[] {
  return code === undefined ? [] : MACHINES[code];
}

export const VERSIONED: readonly string[] = [...new Set(MACHINES.both.map(({ name }) => name))];

export function versionsOf(machine: string): number[] {
  const found = MACHINES.both.filter(({ name }) => name === machine);
  return found.map(({ version }) => version);
}

/** Of these a process has the machine, in that version or a newer one. */
export function mayHave(code: Code, machine: string, version: number): boolean {
  return MACHINES[code].some((found) => found.name === machine && found.version >= version);
}

/** How a run that has begun comes from version 1 to version 2, where it may. */
export const MOVES: Readonly<Record<string, 'ADVANCED' | 'UPGRADED'>> = {
  grown: 'ADVANCED',
  remade: 'UPGRADED',
};

export function planFor(machine: string, version: number): Plan {
  if (!VERSIONED.includes(machine)) {
    return limitedPlan(machine) ?? lonelyPlan(machine) ?? planNamed(machine);
  }
  const found = MACHINES.both.find((one) => one.name === machine && one.version === version);
  const plan = found && planOf(found);
  if (!plan) throw new Error(`there is no ${machine}@${version}`);
  return plan;
}

export function expectedOf(
  machine: string,
  version: number,
  n: number,
): { outcomes: string[]; result?: number } {
  if (LIMITED_NAMES.includes(machine)) return limitedEnd(machine, n);
  if (LONELY_NAMES.includes(machine)) return lonelyEnd(n);
  if (!VERSIONED.includes(machine)) return expected(machine, n);
  const outcomes = ['completed', 'handedOff'];
  const by: Record<string, readonly [one: number, two: number]> = {
    grown: [(n + 1) * 2, (n + 1) * 2 + 1_000],
    remade: [(n + 1) * 2, (n + 1) * 5],
    swapped: [n + 2, n + 1],
  };
  return { outcomes, result: by[machine]?.[version - 1] ?? n + 1 };
}

/** Steps that must have acted upon the outside; one that an upgrade has made up for need not. */
export function publishedBy(machine: string, version: number): readonly string[] {
  if (LONELY_NAMES.includes(machine)) return lonelySteps();
  switch (machine) {
    case 'grown':
      return version === 1 ? ['a', 'b'] : ['a', 'b', 'c'];
    case 'remade':
      return version === 1 ? ['a', 'b'] : ['z'];
    case 'swapped':
      return ['a', 'b'];
    default:
      if (LIMITED_NAMES.includes(machine)) return limitedSteps(machine);
      return VERSIONED.includes(machine) ? [machine] : publishesIn(machine);
  }
}
