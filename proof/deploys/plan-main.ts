/** npm run proof -- deploys plan: what becomes of every run, foretold and held against a real deploy. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { showPlan } from './plan-figures.ts';

const HELP = `npm run proof -- deploys plan [flags]

Pods of version 1 put runs in flight at every place of their lines. fleetq plan writes what becomes of each
into a file; the pods are drained and pods of version 2 started; the file is held against the store, the
histories and a ledger of every call. Ends with 1 where they disagree on a run.

  --runs N    how many; 10,000 unless said
  --json      one JSON object as the last line
  --save      adds a leg to the results
`;
const SHOWN_MAX = 20;

const { values } = readFlags({
  args: process.argv.slice(3),
  options: {
    runs: { type: 'string', default: '10000' },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const runs = wholeFlag('runs', values.runs, 100);
// An exit, and not a mere death, so that the server is taken along.
execFileSync('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
const directory = mkdtempSync(join(tmpdir(), 'fleetq-plan-'));
const postgres = await startPostgres(['max_connections=200']);
try {
  const onProgress = (line: string) => process.stderr.write(`${line}\n`);
  const url = await postgres.createDatabase();
  const { figures, wrong } = await showPlan({ runs, url, directory, onProgress });
  for (const { run, what } of wrong.slice(0, SHOWN_MAX)) onProgress(`${run}: ${what}`);
  tellFigures('deploys', figures, values);
  const isGood = wrong.length + figures.leftAtEnd === 0;
  process.exitCode = !isGood ? 1 : figures.missed.length > 0 ? 2 : 0;
} finally {
  await postgres.remove();
  removeTree(directory);
}
