/** Sends hostile requests to the admin API, and checks that each is refused and changes nothing. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../test/support/remove-tree.ts';
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { fuzz } from './fuzz.ts';

const HELP = `npm run proof -- fuzz [options]

Sends requests with hostile parts to a server with a store behind it. Ends with 1 if one was answered
with 5xx or not at all, or if rows were changed by requests that were all refused.

  --requests N  how many (100000)
  --seed N      what they are drawn from (1)
  --json        figures as one JSON object, the last line of stdout
  --save        keeps the figures in docs/results/fuzz.json
`;

const { values } = readFlags(
  {
    options: {
      requests: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean' },
      save: { type: 'boolean' },
    },
  },
  HELP,
);

const dataDir = mkdtempSync(join(tmpdir(), 'fleetq-fuzz-'));
try {
  const report = await fuzz({
    requests: wholeFlag('requests', values.requests, 1),
    seed: wholeFlag('seed', values.seed),
    dataDir,
  });
  tellFigures('fuzz', report, values);
  const { serverErrors, unanswered, restarts, rowsChangedByRefused, isPrototypeClean } = report;
  const faults = serverErrors + unanswered + restarts + rowsChangedByRefused;
  const isGood = faults === 0 && isPrototypeClean;
  process.exitCode = isGood ? 0 : 1;
} finally {
  removeTree(dataDir);
}
