/** Machines that put what they are given into every place that is written down. */
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
/** Says how far it is, and goes on until somebody cancels it. */
export const holding = defineMachine({
  ...common,
  name: 'test/holding',
  timeout: { work: '5m' },
  work: ({ input: { secret }, progress, signal, log }) => {
    progress(0.5, `half of ${secret}`);
    log.info('holding');
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  },
});
/** Waits in the store with a result of its first step on record. */
export const sleeping = defineMachine({
  version: 1,
  input: z.object({ secret: z.string() }),
  name: 'test/sleeping',
  steps: (line) =>
    line
      .step('first', { check: 'none', work: ({ input: { secret } }) => ({ secret }) })
      .sleep('nap', '1h')
      .step('second', { check: 'none', work: () => null }),
});
