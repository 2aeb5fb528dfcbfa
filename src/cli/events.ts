/** fleetq events [run] [--file f] [--follow] [--after n] [--trace]: the records, one line each. */
import type { Config } from '../config/index.ts';
import { isoTime, pause, show, systemClock } from '../ground/index.ts';
import { placeOf, type StoredRecord } from '../journal/index.ts';
import { isFinal } from '../machine/index.ts';
import type { StoreReader, TaskRow } from '../store/index.ts';
import { columnsOf } from './columns.ts';
import type { Context, Execute, Options } from './command.ts';
import { UnreachableError, UsageError } from './errors.ts';
import { Exit, type ExitCode } from './exit.ts';
import { lookAtEither, recordsOfTask } from './fleet/reach-tasks.ts';
import type { Output } from './output.ts';
import { reachToRead } from './reach.ts';
import { recordsIn, runOrFile, sourceNote } from './run-file/offline.ts';
import type { ReadRun } from './run-file/read.ts';
import { recordWithoutSecrets } from './shown.ts';
import { isNobody, SocketClient } from './socket-client.ts';
import { pad, plain } from './table.ts';

/** A process that is being restarted is given so long to come back. */
const RETURN_PATIENCE_MS = 30_000;
const RETRY_MS = 250;

export const events: Execute = async (context, options, word) => {
  const { config, output } = context;
  const { id, read } = runOrFile(config, word, options);
  const after = seqOf(options['after']);
  if (options['trace'] === true) {
    const { showTrace, showTraceOf } = await import('./trace/trace.ts');
    if (!read) return showTrace(context, options, id);
    return showTraceOf(context, options, id, recordsIn(read, options['generation']));
  }
  if (read) return eventsOfFile(context, options, read, after);
  const onTask = async (row: TaskRow, reader: StoreReader) => {
    const isFollowed = options['follow'] === true;
    for await (const record of recordsOfTask(config, reader, row, after, isFollowed)) {
      showRecord(record, output);
    }
    return Exit.ok;
  };
  const onRun = () => eventsOfRun(context, options, id, after);
  return lookAtEither(context, options, id, onTask, onRun);
};

function eventsOfFile(
  { output }: Context,
  options: Options,
  read: ReadRun,
  after: number,
): ExitCode {
  if (options['follow'] === true) {
    throw new UsageError('a file does not go on: --file does not go with --follow');
  }
  const found = recordsIn(read, options['generation']).filter(({ seq }) => seq > after);
  for (const record of found) showRecord(record, output);
  output.note(sourceNote(read.file));
  return Exit.ok;
}

async function eventsOfRun(
  context: Context,
  options: Options,
  id: string,
  after: number,
): Promise<ExitCode> {
  const { config, output } = context;
  const { found, by } = await reachToRead(config, async (reach) => ({
    found: await reach.events(id, after),
    by: reach.by,
  }));
  for (const record of found) showRecord(record, output);
  const last = found.at(-1);
  if (options['follow'] !== true || (last && isFinal(last.state))) return Exit.ok;
  if (by === 'file') output.note('no process holds the data directory: waiting for one');
  await follow(context, id, last?.seq ?? after);
  return Exit.ok;
}

/**
 * Goes on over restarts: the next process is asked for what came after the last record seen. One that
 * ended with the run, perhaps before it could be asked, has left the rest in the file.
 */
async function follow({ config, output }: Context, id: string, after: number): Promise<void> {
  const client = new SocketClient(placeOf(config.dataDir).socket);
  let seq = after;
  let sinceMs = systemClock.monotonicMs();
  /** Answers whether it was the last one. */
  const take = (record: StoredRecord) => {
    showRecord(record, output);
    seq = record.seq;
    sinceMs = systemClock.monotonicMs();
    return isFinal(record.state);
  };
  const hasEndedMeanwhile = async () => (await left(config, id, seq)).some(take);
  let isLookedAt = false;
  while (systemClock.monotonicMs() - sinceMs < RETURN_PATIENCE_MS) {
    try {
      for await (const record of client.follow(id, seq)) {
        if (take(record)) return;
      }
      isLookedAt = false;
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      isLookedAt &&= isNobody(error);
    }
    // Once for each process that goes away: whoever starts next must find the file free.
    if (!isLookedAt && (await hasEndedMeanwhile())) return;
    isLookedAt = true;
    await pause(systemClock, RETRY_MS);
  }
  if (await hasEndedMeanwhile()) return;
  throw new UnreachableError(`the process of run ${id} went away after record ${seq}`, {
    hint: `go on later with: fleetq events ${id} --follow --after ${seq}`,
  });
}

/** What came after this record, wherever it is to be had; nothing where it cannot be had now. */
async function left(config: Config, id: string, after: number): Promise<readonly StoredRecord[]> {
  return reachToRead(config, (reach) => reach.events(id, after)).catch((error) => {
    if (error instanceof UnreachableError) return [];
    throw error;
  });
}

export function showRecord(found: StoredRecord, output: Output): void {
  const record = recordWithoutSecrets(found, output.redact);
  if (output.isJson) return output.line(JSON.stringify(record));
  const { type, ...rest } = record.event;
  const details = Object.keys(rest).length > 0 ? plain(JSON.stringify(rest)) : '';
  const head = [
    pad(`${record.seq}`, 4, 'right'),
    isoTime(record.at).slice(11, 23),
    pad(type, 11),
    pad(plain(record.state), 18),
  ];
  if (!output.isTerminal)
    return output.line([...head.map((text) => text.trim()), details].join('\t'));
  const room = Math.max(10, (output.columns ?? 80) - columnsOf(head.join('  ')) - 2);
  output.line(`${head.join('  ')}  ${output.paint('gray', pad(details, room).trimEnd())}`);
}

function seqOf(text: unknown): number {
  if (typeof text === 'string' && /^-1$|^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`--after must be the number of a record, got ${show(text)}`);
}
