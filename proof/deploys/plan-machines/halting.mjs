/**
 * Steps that write down every call, and stop where their input says: parked for an hour, or inside the
 * phase. Only code that is told to halt does; the deploy after it goes on to the end.
 */
import { appendFileSync } from 'node:fs';
import { retryAfter } from 'fleetq';
import * as z from 'zod';

const { DEPLOY_LEDGER: ledger, DEPLOY_CODE: code = '', DEPLOY_HALTS: halts } = process.env;

export const Input = z.object({
  halt: z.string(),
  how: z.enum(['park', 'hold', 'obey', 'finish', 'never']),
  isStrict: z.boolean(),
  isBad: z.boolean(),
});

export const retry = { attemptMax: 5, backoff: () => 10 };

const note = (what, { runId }, place) => {
  if (ledger) appendFileSync(ledger, `${what} ${runId} ${place} ${code}\n`);
};

async function stop({ input, signal }) {
  if (input.how === 'park') throw retryAfter('1h', 'parked here');
  if (input.how === 'hold') await new Promise(() => undefined);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  if (input.how === 'obey') throw signal.reason;
}

const passing = (place) => async (context) => {
  note('begin', context, place);
  if (halts && context.input.halt === place && context.input.how !== 'never') {
    note('halt', context, place);
    await stop(context);
  }
  note('end', context, place);
  return place;
};

/** The four phases of a step. */
export const phases = (step) => ({
  check: async (context) => void (await passing(`${step}.check`)(context)),
  work: passing(`${step}.work`),
  validate: async (context) => void (await passing(`${step}.validate`)(context)),
  persist: passing(`${step}.persist`),
});

/** An hour where the input says so, and a moment elsewhere. */
export const nap = ({ input }) => (halts && input.halt === 'nap.sleep' ? '1h' : '1ms');
