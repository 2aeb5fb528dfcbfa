/** A pod that is killed: its tasks write into a ledger outside when they begin and when they end. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { createFleet, defineMachine, type FleetOptions } from '../../src/index.ts';
import { Ledger } from '../support/ledger.ts';

const { ledger, workMs, ...options } = JSON.parse(
  process.argv[2] ?? '{}',
) as Partial<FleetOptions> & {
  readonly ledger: string;
  readonly workMs: number;
};
const book = new Ledger(ledger);
const turn = defineMachine({
  name: 'flow/turn',
  version: 1,
  input: z.object({ key: z.string(), number: z.int() }),
  check: 'none',
  work: async ({ input }) => {
    const { key, number } = input;
    book.write({ key, number, what: 'begins' });
    await sleep(workMs);
    book.write({ key, number, what: 'ends' });
    return null;
  },
});
await createFleet({ ...options, machines: [turn], socket: false });
process.stdout.write('ready\n');
