/**
 * A pod that is killed: its tasks write into a ledger outside when they begin and when they end. Of the
 * built package, so that it is up again in a moment.
 */
import { fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { createFleet, defineMachine } from '../../dist/index.js';

const { ledger, workMs, ...options } = JSON.parse(process.argv[2] ?? '{}');
const book = openSync(ledger, 'a', 0o600);
const write = (line) => {
  writeSync(book, `${JSON.stringify(line)}\n`);
  fsyncSync(book);
};
const turn = defineMachine({
  name: 'flow/turn',
  version: 1,
  input: z.object({ key: z.string(), number: z.int() }),
  check: 'none',
  work: async ({ input }) => {
    write({ ...input, what: 'begins' });
    await sleep(workMs);
    write({ ...input, what: 'ends' });
    return null;
  },
});
await createFleet({ ...options, machines: [turn], socket: false });
process.stdout.write('ready\n');
