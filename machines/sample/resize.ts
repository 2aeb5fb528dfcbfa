/** All four phases: looks for the picture, makes it, checks it, files it. Nothing real is resized. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine, handoff, proceed } from 'fleetq';
import * as z from 'zod';
import { keepOnce } from './ledger.ts';

export const resize = defineMachine({
  name: 'sample/resize',
  version: 1,
  input: z.object({ id: z.int().nonnegative(), width: z.int().min(1).max(10_000) }),
  timeout: { work: '30s' },

  check: ({ input }) =>
    input.id % 10 === 9 ? handoff({ file: fileOf(input) }, 'already resized') : proceed,
  work: async ({ input, use, progress, signal }) => {
    const pieces = 4;
    for (let done = 0; done < pieces; done++) {
      await use('resizer', () => sleep(varied(input.id + done, 20, 120), undefined, { signal }));
      progress((done + 1) / pieces, `${done + 1} of ${pieces} pieces`);
    }
    return { width: input.width, height: Math.ceil((input.width * 9) / 16) };
  },
  validate: ({ input, work }) => {
    if (work.width !== input.width) throw new Error(`is ${work.width} wide, not ${input.width}`);
  },
  persist: async ({ input, signal, runId, attempt }) => {
    await sleep(varied(input.id, 5, 25), undefined, { signal });
    keepOnce(runId, attempt);
    return { file: fileOf(input) };
  },
});

function fileOf({ id, width }: { readonly id: number; readonly width: number }): string {
  return `picture-${id}-${width}.webp`;
}

/** Looks random and is not: the same input always takes as long. */
function varied(seed: number, min: number, max: number): number {
  return min + ((seed * 7_919 + 104_729) % (max - min + 1));
}
