/** Machines with one fault each, as users might write them, for crashTest to find. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { defineMachine, handoff } from 'fleetq';
import * as z from 'zod';

/** What it persists is there twice when it was killed between the line and its record. */
export const appends = defineMachine({
  name: 'appends',
  version: 1,
  input: z.object({ file: z.string() }),
  check: 'none',
  work: () => 'a line',
  persist: ({ input, work }) => {
    appendFileSync(input.file, `${work}\n`);
    return work;
  },
});

/** The same effect, mended: whoever reads the file knows a key that it has seen. */
export const appendsOnce = defineMachine({
  name: 'appends-once',
  version: 1,
  input: z.object({ file: z.string() }),
  check: 'none',
  work: ({ input, idempotencyKey }) => {
    appendFileSync(input.file, `${idempotencyKey}\n`);
    return 'a line';
  },
});

/** A crash is seen in what it puts out. */
export const counts = defineMachine({
  name: 'counts',
  version: 1,
  input: z.object({}),
  check: 'none',
  work: ({ attempt, runId }) => ({ attempt, runId }),
});

/** An interruption costs the only attempt that it has. */
export const impatient = defineMachine({
  name: 'impatient',
  version: 1,
  input: z.object({}),
  retry: { attemptMax: 1 },
  check: 'none',
  work: () => 'done',
});

/** Where cases share their file, every case but the first finds it there. */
export const shared = defineMachine({
  name: 'shared',
  version: 1,
  input: z.object({ file: z.string() }),
  check: ({ input }) => (existsSync(input.file) ? handoff(input.file, 'is there') : undefined),
  work: ({ input }) => {
    writeFileSync(input.file, '');
    return input.file;
  },
});

/** Dies by itself where it is told to. */
export const poison = defineMachine({
  name: 'poison',
  version: 1,
  input: z.object({ isDeadly: z.boolean() }),
  check: 'none',
  work: ({ input }) => {
    if (input.isDeadly) process.kill(process.pid, 'SIGKILL');
    return 'survived';
  },
});

/** Waits for nothing that anybody could bring. */
export const stuck = defineMachine({
  name: 'stuck',
  version: 1,
  input: z.object({}),
  check: 'none',
  work: () => new Promise(() => undefined),
});

export const slow = defineMachine({
  name: 'slow',
  version: 1,
  input: z.object({}),
  check: 'none',
  work: () => new Promise((resolve) => setTimeout(resolve, 600_000)),
});
