/** fleetq journal verify | inspect | export | own: a file that nobody holds. Only `own` changes it. */
import { codecOf } from '../config/index.ts';
import { identityCodec, isoTime, type RunId, systemClock } from '../ground/index.ts';
import {
  adoptJournal,
  exportRuns,
  inspectJournal,
  lookingCodec,
  verifyJournal,
} from '../journal/index.ts';
import type { Execute } from './command.ts';
import { Exit } from './exit.ts';
import type { OutStream } from './io.ts';
import { refuseNoJournal } from './no-journal.ts';
import { idOf } from './runs.ts';
import { plain } from './table.ts';

export const verify: Execute = async ({ config, output }) => {
  refuseNoJournal(config.dataDir);
  const report = verifyJournal(config.dataDir, { codec: codecOf(config) });
  const { runs, records, problems, sealed } = report;
  if (output.isJson) output.json(report);
  else
    for (const { run, message } of problems)
      output.line(plain(run ? `${run}\t${message}` : message));
  const unopened = sealed === 0 ? '' : `, ${sealed} of them sealed with keys that are not here`;
  output.note(`${runs} runs, ${records} records${unopened}, ${problems.length} problems`);
  return problems.length === 0 ? Exit.ok : Exit.failure;
};

export const inspect: Execute = async ({ config, output }) => {
  refuseNoJournal(config.dataDir);
  const report = inspectJournal(config.dataDir);
  if (output.isJson) {
    output.json(report);
    return Exit.ok;
  }
  const { runs, mark, createdAt, ...rest } = report;
  const rows = {
    ...rest,
    createdAt: isoTime(createdAt),
    unfinished: runs.unfinished,
    finished: runs.finished,
    mark: mark.state === 'whole' ? `at ${mark.lsn}, ${mark.occupied} in a phase` : mark.state,
  };
  for (const [name, value] of Object.entries(rows)) {
    output.line(`${output.paint('gray', name.padEnd(12))} ${value}`);
  }
  return Exit.ok;
};

export const adopt: Execute = async ({ config, output }) => {
  refuseNoJournal(config.dataDir);
  const wasCopy = adoptJournal(config.dataDir, systemClock.now());
  if (output.isJson) output.json({ wasCopy });
  output.note(
    wasCopy
      ? 'it was a copy, and is the original from now on: its local runs go on with the next process'
      : 'its file is no copy: the next process takes other pods that had this journal for dead',
  );
  return Exit.ok;
};

/** One JSON object a line, whether or not --json is given: there is no other form of it. */
export const exportAll: Execute = async ({ config, output, io }, options) => {
  const run = idOf(options['run'] as RunId | undefined, '--run');
  refuseNoJournal(config.dataDir);
  const codec = lookingCodec(codecOf(config) ?? identityCodec);
  let count = 0;
  for (const exported of exportRuns(config.dataDir, { run, codec })) {
    count++;
    // A journal may be larger than memory, and whoever reads it slower than we are.
    if (!io.stdout.write(`${JSON.stringify(exported)}\n`)) await drained(io.stdout);
  }
  output.note(`${count} runs`);
  return count > 0 ? Exit.ok : Exit.nothingFound;
};

function drained(stream: OutStream): Promise<void> {
  return new Promise((resolve) => void stream.once('drain', resolve));
}
