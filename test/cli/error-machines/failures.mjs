/** Machines that fail, each in its own way; what differs from run to run is quoted, or a number. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

const once = { version: 1, retry: { attemptMax: 1 }, check: 'none' };

export const upload = defineMachine({
  ...once,
  name: 'test/upload',
  input: z.object({ bucket: z.string(), size: z.number() }),
  work: ({ input }) => {
    throw new Error(`no bucket "${input.bucket}" for ${input.size} bytes`);
  },
});

export const login = defineMachine({
  ...once,
  name: 'test/login',
  input: z.object({ password: z.string() }),
  work: ({ input }) => {
    if (input.password === 'right') return { token: 'let-me-in', user: 'ada' };
    throw Object.assign(new TypeError(`${input.password} is wrong`), { code: 'EAUTH' });
  },
});
