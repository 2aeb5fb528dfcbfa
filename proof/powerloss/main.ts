/** Checks what a loss of power may leave of a journal, at every call to the disk. */
import { misused, readFlags, tellFigures, wholeFlag } from '../../test/support/tool.ts';
import { losePower } from './lose-power.ts';
import { record } from './recording.ts';

const SHOWN_MAX = 50;

const HELP = `npm run proof -- powerloss [options]

Records what a process does to the files of its journal, and opens every image of them that a loss of
power may leave at each call. Ends with 1 if anything acknowledged was lost without an alarm, a state was
wrong, or an image could not be opened.

  --stride N         only every N-th call (1)
  --synchronous HOW  FULL, as the journal has it; NORMAL or OFF show that this would be noticed
  --json             figures as one JSON object, the last line of stdout
  --save             adds the figures to docs/results/powerloss.json
`;

const { values } = readFlags(
  {
    options: {
      json: { type: 'boolean' },
      save: { type: 'boolean' },
      stride: { type: 'string', default: '1' },
      synchronous: { type: 'string', default: 'FULL' },
    },
  },
  HELP,
);
const stride = wholeFlag('stride', values.stride, 1);
const { synchronous } = values;
if (synchronous !== 'FULL' && synchronous !== 'NORMAL' && synchronous !== 'OFF') {
  misused(`--synchronous wants FULL, NORMAL or OFF, got ${synchronous}`);
}

let shown = 0;
const report = losePower(record(synchronous), {
  stride,
  onFault: (line) => {
    if (++shown <= SHOWN_MAX) process.stderr.write(`${line}\n`);
  },
});
tellFigures('powerloss', report, values);
process.exitCode = report.violations > 0 ? 1 : 0;
