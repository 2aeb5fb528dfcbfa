/**
 * Gives ended tasks a new generation, each once, however often it is asked for: the generation that was
 * seen is part of the question. What had been finished stays finished unless a fresh start is wanted.
 */
import { defineMachine, type Recovery } from 'fleetq';
import * as z from 'zod';

export const TASK_COUNT_MAX = 1_000;

type Redriven = { readonly task: string; readonly generation: number };

export const redrive = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/redrive',
    version: 3,
    input: z.object({
      tasks: z
        .array(z.object({ task: z.string(), generation: z.int().positive() }))
        .min(1)
        .max(TASK_COUNT_MAX),
      isFresh: z.boolean().default(false),
      /** Who wants it, for the audit log. */
      who: z.string().min(1).max(200).default('somebody'),
    }),
    retry: { attemptMax: 5 },
    timeout: { run: '10m' },
    check: 'none',
    work: async ({ input, runId, signal, progress }) => {
      const redriven: Redriven[] = [];
      /** No longer at the generation that was seen: somebody else was here before. */
      const left: string[] = [];
      for (const { task, generation: seen } of input.tasks) {
        signal.throwIfAborted();
        const generation = await recovery.redrive(task, seen, input.isFresh, {
          who: input.who,
          run: runId,
        });
        if (generation === undefined) left.push(task);
        else redriven.push({ task, generation });
        progress((redriven.length + left.length) / input.tasks.length);
      }
      return { redriven, left };
    },
    persist: async ({ work }) => {
      await recovery.refreshDeadLetters();
      return work;
    },
  });
