/** `--file`: a command that shows a run reads it from an exported one, and asks nobody. */
import { type Config, pathFrom } from '../../config/index.ts';
import type { RunFile } from '../../fleet/run-file/format.ts';
import { isoTime, show } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import type { Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { codecFor } from '../fleet/open.ts';
import { idOf } from '../runs.ts';
import { plain } from '../table.ts';
import { type ReadRun, readRunFile } from './read.ts';

/** The id, where one is to be asked for; or what the file holds, which must be of that id if one is given. */
export function runOrFile(
  config: Config,
  id: string | undefined,
  options: Options,
): { readonly id: string; readonly read: ReadRun | undefined } {
  const path = options['file'];
  if (typeof path !== 'string') {
    if (id === undefined) {
      throw new UsageError('name a run by its id, or a file of one with --file', {
        hint: 'list runs with: fleetq runs',
      });
    }
    if (options['generation'] !== undefined) {
      throw new UsageError('--generation chooses among those of a file, and --file is missing');
    }
    return { id: idOf(id, 'the argument'), read: undefined };
  }
  const read = readRunFile(pathFrom(config.cwd, path), codecFor(config));
  if (id === undefined || id === read.file.id) return { id: read.file.id, read };
  throw new UsageError(`${path} holds run ${read.file.id}, and not ${show(id)}`);
}

/** Of the newest generation, or of the one that is asked for. */
export function recordsIn({ file, records }: ReadRun, asked: unknown): readonly StoredRecord[] {
  const numbers = file.generations.map(({ generation }) => generation);
  const wanted = asked === undefined ? numbers.at(-1)! : Number(asked);
  const found = records.get(wanted);
  if (found) return found;
  throw new UsageError(
    `--generation must be one that the file has, ${numbers.join(', ')}; got ${show(asked)}`,
  );
}

/** For people: what they see is not of now. */
export function sourceNote({ exportedAt, from }: RunFile): string {
  return plain(`(as exported ${isoTime(exportedAt)} from the ${from.kind} ${from.where})`);
}
