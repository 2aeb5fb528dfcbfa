/** fleetq export <run> [--out file] [--force]: one run as one file, with all that is known of it. */
import { resolve } from 'node:path';
import type { Config } from '../config/index.ts';
import type { RunFile } from '../fleet/run-file/format.ts';
import type { Store, TaskRow } from '../store/index.ts';
import type { Execute } from './command.ts';
import { Exit } from './exit.ts';
import { onTaskOrRun } from './fleet/reach-tasks.ts';
import { reachToRead } from './reach.ts';
import { gatherRun, gatherTask } from './run-file/gather.ts';
import { textOf, writeRunFile } from './run-file/write.ts';
import { idOf } from './runs.ts';

/** Who opens nothing tells what is sealed as it is stored. */
function withoutKeys(config: Config): Config {
  return { ...config, codec: undefined, codecKeysFile: undefined };
}

export const exportRun: Execute = async (context, options, id) => {
  const { config, output, io } = context;
  idOf(id, 'the argument');
  const out = (options['out'] as string | undefined) ?? `${id}.run.json`;
  const write = (file: RunFile) => {
    const text = textOf(file);
    if (out === '-') {
      output.line(text.trimEnd());
      return Exit.ok;
    }
    const path = resolve(config.cwd, out);
    writeRunFile(path, text, options['force'] === true);
    const records = file.generations.reduce((sum, each) => sum + each.records.length, 0);
    if (output.isJson) output.json({ file: path, generations: file.generations.length, records });
    else output.line(out);
    output.note(
      records === 0
        ? 'no records: retention has removed them, or it has not begun'
        : `${records} records, with inputs and outputs: give it to nobody who may not see them`,
    );
    return Exit.ok;
  };
  const onTask = async (row: TaskRow, store: Store) => write(await gatherTask(config, store, row));
  return onTaskOrRun(
    { output, io, config: withoutKeys(config) },
    options,
    id!,
    onTask,
    async () => {
      const found = await reachToRead(config, async (reach) => ({
        run: await reach.run(id!),
        records: await reach.events(id!),
        rows: await reach.rows?.(id!),
      }));
      return write(await gatherRun(config, found));
    },
  );
};
