/**
 * Gives an ended task a new generation, once, however often it is asked for: the generation that was
 * seen is part of the question. What had been finished stays finished unless a fresh start is wanted.
 */
import { abort, defineMachine, type Recovery } from 'fleetq';
import * as z from 'zod';

export const redrive = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/redrive',
    version: 1,
    input: z.object({
      task: z.string(),
      generation: z.int().positive(),
      isFresh: z.boolean().default(false),
    }),
    retry: { attemptMax: 5 },
    timeout: { run: '5m' },
    check: 'none',
    work: async ({ input }) => {
      const generation = await recovery.redrive(input.task, input.generation, input.isFresh);
      if (generation === undefined) {
        throw abort(`task ${input.task} is no longer at generation ${input.generation}`, {
          kind: 'user',
        });
      }
      return { task: input.task, generation };
    },
    persist: async ({ work }) => {
      await recovery.refreshDeadLetters();
      return work;
    },
  });
