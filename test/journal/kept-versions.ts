/** The machines of the fixtures in which runs have changed their version, as they were when those were written. */
import * as z from 'zod';
import { defineMachine, type Machine } from '../../src/index.ts';
import { never } from '../support/fleets.ts';

export interface Fixed {
  readonly name: 'plain' | 'grown' | 'remade';
  readonly version: number;
  readonly steps: readonly string[];
  readonly hasUpgrade?: boolean;
}

export const PLAIN: Fixed = { name: 'plain', version: 1, steps: ['first', 'second'] };
export const GROWN: readonly Fixed[] = [
  { name: 'grown', version: 1, steps: ['first', 'second'] },
  { name: 'grown', version: 2, steps: ['first', 'second', 'third'] },
];
export const REMADE: readonly Fixed[] = [
  { name: 'remade', version: 1, steps: ['first', 'second'] },
  { name: 'remade', version: 2, steps: ['begin', 'end'], hasUpgrade: true },
];

const input = z.object({ name: z.string() });

interface Old {
  readonly input: unknown;
  readonly state: Readonly<Record<string, unknown>>;
  resumeAt(step: string, given: object): never;
}

/** `isStuck`: whether the work of this step never ends, as it did not when the fixtures were written. */
export function fixed(
  { name, version, steps, hasUpgrade }: Fixed,
  calls: string[],
  isStuck: (step: string) => boolean = () => false,
): Machine<{ name: string }> {
  const upgrade = {
    1: (old: Old) =>
      old.resumeAt('end', { input: old.input, state: { begin: old.state['first'] } }),
  };
  return defineMachine({
    name: `fixture/${name}`,
    version,
    input,
    timeout: { run: '3650d' },
    retry: { attemptMax: 9 },
    upgrade: (hasUpgrade ? upgrade : undefined) as undefined,
    steps: (empty) => {
      let line = empty;
      for (const step of steps) {
        line = line.step(step as 'first', {
          check: ({ input: of }) => void calls.push(`${step}.check of ${of.name}`),
          work: ({ input: of }): string | Promise<string> => {
            calls.push(`${step}.work of ${of.name}`);
            return isStuck(step) ? never() : `${step} by ${version}`;
          },
        }) as never;
      }
      return line;
    },
  }) as never;
}
