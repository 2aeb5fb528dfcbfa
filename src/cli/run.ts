/** fleetq run [id] [--file f] [--json]: everything that is known of one run, or of a task of the fleet. */
import type { RunSummary } from '../engine/index.ts';
import { LiveRoutes } from '../fleet/index.ts';
import type { RunFile } from '../fleet/run-file/format.ts';
import { isoTime, showDuration, systemClock } from '../ground/index.ts';
import { followersTold, type StoreReader, type TaskRow } from '../store/index.ts';
import type { Execute } from './command.ts';
import { Exit, type ExitCode } from './exit.ts';
import { lookAtEither } from './fleet/reach-tasks.ts';
import { showTask, viewOf } from './fleet/task-view.ts';
import type { Output } from './output.ts';
import { reachToRead } from './reach.ts';
import { runOrFile, sourceNote } from './run-file/offline.ts';
import { ageOf, STYLE_OF_STATUS, WORD_OF_STATUS } from './shape.ts';
import { withoutSecrets } from './shown.ts';
import { plain } from './table.ts';

export const run: Execute = async (context, options, word) => {
  const { config, output } = context;
  const { id, read } = runOrFile(config, word, options);
  if (read) return runOfFile(read.file, output);
  const onTask = async (row: TaskRow, reader: StoreReader) => {
    const live = row.finishedAt === undefined ? new LiveRoutes(await reader.pods()) : undefined;
    const told = await followersTold(reader, row.id);
    const view = withoutSecrets({ ...viewOf(row, live), ...told }, output.redact);
    if (output.isJson) output.json(view);
    else {
      showTask(view, output);
      output.note(`\nits records: fleetq events ${row.id}`);
    }
    return Exit.ok;
  };
  return lookAtEither(context, options, id, onTask, async () => {
    const told = await reachToRead(config, (reach) => reach.run(id));
    const found = withoutSecrets(told, output.redact);
    if (output.isJson) output.json(found);
    else {
      showRun(found, output);
      output.note(`\nits records: fleetq events ${found.id}`);
    }
    return Exit.ok;
  });
};

function runOfFile(file: RunFile, output: Output): ExitCode {
  const { redact } = output;
  const task = file.task && withoutSecrets(viewOf(file.task), redact);
  const run = file.run && withoutSecrets(file.run, redact);
  if (output.isJson) output.json(task ?? run!);
  else if (task) showTask(task, output);
  else showRun(run!, output);
  output.note(sourceNote(file));
  return Exit.ok;
}

function showRun(found: RunSummary, output: Output): void {
  const now = systemClock.now();
  const { paint } = output;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', found.id],
    ['machine', `${found.machine}@${found.version}`],
    ['key', found.key],
    ['status', paint(STYLE_OF_STATUS[found.status], WORD_OF_STATUS[found.status])],
    ['outcome', found.outcome],
    ['state', found.state],
    ['attempt', `${found.attempt}`],
    ['started', `${isoTime(found.startedAt)}`],
    ['took', found.finishedAt === undefined ? undefined : ageOf(found, now)],
    ['due', found.dueAt === undefined ? undefined : `in ${showDuration(found.dueAt - now)}`],
    ['progress', found.progress && progressText(found.progress)],
    ['reason', found.reason && plain(found.reason)],
    [errorLabel(found), found.error && plain(`${found.error.name}: ${found.error.message}`)],
    ['input', jsonText(found.input)],
    ['output', jsonText(found.output)],
  ];
  for (const [name, text] of rows) {
    if (text !== undefined) output.line(`${paint('gray', name.padEnd(10))} ${text}`);
  }
}

/** A run that ended well, or is being retried, has failed before and not for good. */
function errorLabel({ status }: RunSummary): string {
  return status === 'failed' ? 'error' : 'last error';
}

function progressText({ fraction, note }: NonNullable<RunSummary['progress']>): string {
  return `${Math.round(fraction * 100)} %${note ? ` ${plain(note)}` : ''}`;
}

function jsonText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
