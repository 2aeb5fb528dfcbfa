/** Wrong definitions as data, and what each has to be answered with. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { FleetqError } from '../../src/ground/index.ts';
import { DefinitionError, defineMachine } from '../../src/machine/index.ts';

export const input = z.object({ a: z.string() });
export const work = () => 1;
export const good = { name: 'm', version: 1, input, check: 'none', work };
export const step = { check: 'none', work };

/** Definitions that the types refuse have to be refused by the function as well. */
export const define = defineMachine as (definition: unknown) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: wrong calls of the line are the point of these tests
export const ofLine = (steps: (line: any) => unknown) => ({ name: 'm', version: 1, input, steps });

export interface Wrong {
  readonly what: string;
  readonly definition: unknown;
  readonly path: string;
  readonly wanted: string;
  readonly got: string;
  readonly hint?: string;
}

export function refusal(definition: unknown): DefinitionError {
  try {
    define(definition);
  } catch (error) {
    expect(error).toBeInstanceOf(DefinitionError);
    expect(error).toBeInstanceOf(FleetqError);
    return error as DefinitionError;
  }
  throw new Error('the definition was accepted');
}

/** One test for each: the code, the path, what was wanted, what came, and what to do. */
export function refused(name: string, cases: readonly Wrong[]): void {
  describe(name, () => {
    test.each(cases)('$what', ({ definition, path, wanted, got, hint }) => {
      const error = refusal(definition);
      expect(error.code).toBe('FLEETQ_DEFINITION');
      expect(error.verdict).toBe('abort');
      expect(error.path).toBe(path);
      expect(error.message).toContain(`: ${path} must be `);
      expect(error.message).toContain(wanted);
      expect(error.message.endsWith(`, got ${got}`), error.message).toBe(true);
      expect(error.hint).toBe(hint);
    });
  });
}
