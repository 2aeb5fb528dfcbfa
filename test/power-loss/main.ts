/**
 * npm run powerloss [-- --json] [--save] [--stride N] [--synchronous FULL|NORMAL|OFF]: records what
 * a process does to its journal's files, and opens what a loss of power at every call may leave of them. Ends
 * with 1 if anything acknowledged was lost without an alarm, a state was wrong, or an image could not
 * be opened.
 */
import { misused, readFlags, tellFigures, wholeFlag } from '../support/tool.ts';
import { losePower } from './lose-power.ts';
import { record } from './recording.ts';

const SHOWN_MAX = 50;

const { values } = readFlags({
  options: {
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    stride: { type: 'string', default: '1' },
    synchronous: { type: 'string', default: 'FULL' },
  },
});
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
