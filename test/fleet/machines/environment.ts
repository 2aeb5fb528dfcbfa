/** A machine that writes down what a program inherits that its handler starts. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { defineMachine } from '../../../src/index.ts';

const PRINT = 'JSON.stringify(process.env)';
const OWN = '/proc/self/environ';

export const environment = defineMachine({
  name: 'environment',
  version: 1,
  input: z.object({ ledger: z.string() }),
  check: 'none',
  work: ({ input }) => {
    const inherited = execFileSync(process.execPath, ['-p', PRINT], { encoding: 'utf8' });
    const own = existsSync(OWN) ? readFileSync(OWN, 'utf8') : '';
    writeFileSync(input.ledger, `${JSON.stringify(process.env)}${inherited}${own}`);
  },
});
