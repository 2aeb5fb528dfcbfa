/** Redrives many dead letters at once while pods are killed. */
import { join } from 'node:path';
import { removeTree } from '../../test/support/remove-tree.ts';
import { readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { buildPackage } from '../chaos/build.ts';
import { runBulkKills } from './kills.ts';

const HELP = `npm run proof -- bulk [options]

Redrives dead letters on a real Postgres by one bulk operation, kills the pod that is at it with SIGKILL
again and again, pauses it once and resumes it. Ends with 1 unless each letter was redriven once, has one
row in the audit log, and was counted once.

  --letters N  dead letters in all (100000)
  --kills N    kills in all (4)
  --pods N     pods at a time (3)
  --rate N     tasks a second at most (5000)
  --seconds N  gives up after so many (1800)
  --json       figures as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      letters: { type: 'string', default: '100000' },
      kills: { type: 'string', default: '4' },
      pods: { type: 'string', default: '3' },
      rate: { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '1800' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

const place = await buildPackage(undefined);
try {
  const report = await runBulkKills({
    bin: join(place, 'dist', 'bin.js'),
    letters: wholeFlag('letters', values.letters, 1),
    kills: wholeFlag('kills', values.kills),
    pods: wholeFlag('pods', values.pods, 1),
    rate: wholeFlag('rate', values.rate, 1),
    secondsMax: wholeFlag('seconds', values.seconds, 1),
  });
  tellFigures('bulk', report, values);
  process.exitCode = report.isGood ? 0 : 1;
} finally {
  removeTree(place);
}
