/** Machines that put what they are given wherever it might come out again. */
import { abort, defineMachine, exponential } from 'fleetq';
import * as z from 'zod';

const common = { version: 1, input: z.object({ secret: z.string() }), check: 'none' };
export const leaking = defineMachine({
  ...common,
  name: 'test/leaking',
  retry: { attemptMax: 2, backoff: exponential('1ms') },
  work: ({ input: { secret } }) => {
    const error = new TypeError(`cannot use ${secret}`, { cause: new Error(secret) });
    throw Object.assign(error, { code: secret, headers: { authorization: secret } });
  },
});
export const aborting = defineMachine({
  ...common,
  name: 'test/aborting',
  work: ({ input: { secret } }) => abort(secret),
});
export const returning = defineMachine({
  ...common,
  name: 'test/returning',
  work: ({ input: { secret } }) => ({ secret }),
});
export const picky = defineMachine({
  ...common,
  name: 'test/picky',
  work: ({ input: { secret } }) => ({ secret }),
  validate: ({ input: { secret } }) => secret,
});
