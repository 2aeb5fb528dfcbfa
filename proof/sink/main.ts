/**
 * Archives history while the sink is killed and answers are lost: nothing is missing, nothing is there twice.
 */
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { EVENTS_PER_RUN } from './load.ts';
import { playSiege } from './siege.ts';

const HELP = `npm run proof -- sink [options]

Runs with ${EVENTS_PER_RUN} records each go through a store in Postgres, while fleetq sink sends them through the
real driver to an emulated Snowflake account. The sink is killed with SIGKILL and started again, and answers
are lost after their statements have committed. In the end every record and every task of the store must be in
the archive, once, in order, as it is. Ends with 1 otherwise. Wants dist: npm run build.

  --events N   records of runs (100000)
  --kills N    at least so many kills (10)
  --save       keep the figures for npm run proof -- results
  --json       figures as one JSON object, the last line of stdout
  --verbose    tell on stderr how it goes
`;

const { values } = readFlags(
  {
    options: {
      events: { type: 'string', default: '100000' },
      kills: { type: 'string', default: '10' },
      save: { type: 'boolean' },
      json: { type: 'boolean' },
      verbose: { type: 'boolean' },
    },
  },
  HELP,
);
const events = wholeFlag('events', values.events, EVENTS_PER_RUN);
if (events % EVENTS_PER_RUN !== 0) misused(`--events wants a multiple of ${EVENTS_PER_RUN}`);
const report = await playSiege({
  events,
  kills: wholeFlag('kills', values.kills, 1),
  batches: [1, 40],
  ...(values.verbose ? { log: (line) => process.stderr.write(`${line}\n`) } : {}),
});
tellFigures('sink', report, values);
process.exitCode = report.isGood ? 0 : 1;
