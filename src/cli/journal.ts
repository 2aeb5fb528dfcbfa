/** fleetq journal verify | inspect | export: a file that nobody holds, looked at without touching it. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { isoTime, type RunId } from '../ground/index.ts';
import { exportRuns, inspectJournal, placeOf, verifyJournal } from '../journal/index.ts';
import type { Execute } from './command.ts';
import { NoJournalError } from './errors.ts';
import { Exit } from './exit.ts';
import { idOf } from './runs.ts';
import { plain } from './table.ts';

export const verify: Execute = async ({ config, output }) => {
  refuseMissing(config.dataDir);
  const report = verifyJournal(config.dataDir);
  const { runs, records, problems } = report;
  if (output.isJson) output.json(report);
  else
    for (const { run, message } of problems)
      output.line(plain(run ? `${run}\t${message}` : message));
  output.note(`${runs} runs, ${records} records, ${problems.length} problems`);
  return problems.length === 0 ? Exit.ok : Exit.failure;
};

export const inspect: Execute = async ({ config, output }) => {
  refuseMissing(config.dataDir);
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

/** One JSON object a line, whether or not --json is given: there is no other form of it. */
export const exportAll: Execute = async ({ config, output }, options) => {
  const run = idOf(options['run'] as RunId | undefined, '--run');
  refuseMissing(config.dataDir);
  let count = 0;
  for (const exported of exportRuns(config.dataDir, { run })) {
    count++;
    // A journal may be larger than memory, and whoever reads it slower than we are.
    if (!process.stdout.write(`${JSON.stringify(exported)}\n`)) await once(process.stdout, 'drain');
  }
  output.note(`${count} runs`);
  return count > 0 ? Exit.ok : Exit.nothingFound;
};

function refuseMissing(dataDir: string): void {
  const place = placeOf(dataDir);
  if (!existsSync(place.journal)) throw new NoJournalError(place.directory);
}
