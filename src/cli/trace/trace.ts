/** fleetq events <run> --trace: what happened to a run across processes and pods, as a tree with bars. */
import { systemClock } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import type { StoreReader, TaskRow } from '../../store/index.ts';
import { spansOf } from '../../telemetry/spans-of.ts';
import type { Context, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { recordsOf } from '../fleet/history.ts';
import { codecFor } from '../fleet/open.ts';
import { lookAtEither } from '../fleet/reach-tasks.ts';
import type { Io } from '../io.ts';
import { reachToRead } from '../reach.ts';
import { traceData } from './data.ts';
import { glyphsFor } from './glyphs.ts';
import { traceText } from './show.ts';

const WIDTH = 80;
const WIDTH_MIN = 40;

export async function showTrace(context: Context, options: Options, id: string): Promise<ExitCode> {
  refuseMixed(options);
  const onTask = async (row: TaskRow, reader: StoreReader) => {
    const records = await recordsOf(reader, row, -1, codecFor(context.config));
    const names = new Map((await reader.pods()).map(({ pod, name }) => [`${pod}`, name]));
    return show(context, id, records, (pod) => names.get(pod));
  };
  return lookAtEither(context, options, id, onTask, async () => {
    const records = await reachToRead(context.config, (reach) => reach.events(id));
    return show(context, id, records, () => undefined);
  });
}

/** Of a run that is told by a file. */
export function showTraceOf(
  context: Context,
  options: Options,
  id: string,
  records: readonly StoredRecord[],
): ExitCode {
  refuseMixed(options);
  return show(context, id, records, () => undefined);
}

/** A trace needs the run from its first record on, and would have to be drawn anew with each one. */
function refuseMixed(options: Options): void {
  if (options['follow'] === true) {
    throw new UsageError('--trace draws what is on record now, and does not go with --follow', {
      hint: 'follow the records without --trace, and draw the run when it has ended',
    });
  }
  if (options['after'] !== '-1') {
    throw new UsageError('--trace draws a run from its beginning, and does not go with --after');
  }
}

function show(
  { output, io }: Context,
  id: string,
  records: readonly StoredRecord[],
  nameOf: (pod: string) => string | undefined,
): ExitCode {
  if (records.length === 0) {
    output.note(`run ${id} has no records: nobody has begun it, or they were not kept as long`);
    return Exit.nothingFound;
  }
  const trace = spansOf(records, systemClock.now());
  if (output.isJson) output.json(traceData(id, trace));
  else {
    const { paint } = output;
    const canvas = { width: widthOf(io), glyphs: glyphsFor(io.env), paint };
    output.line(traceText(id, trace, nameOf, canvas));
    output.note(`\nwhat was said and thrown: fleetq events ${id}`);
  }
  return Exit.ok;
}

/** Into a file or a pipe as wide as the shell says, or as a page is. */
function widthOf({ stdout, env }: Io): number {
  const said = stdout.columns ?? Number(env['COLUMNS']);
  return Number.isInteger(said) && said > 0 ? Math.max(WIDTH_MIN, said) : WIDTH;
}
