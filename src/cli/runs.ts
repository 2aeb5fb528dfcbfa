/** fleetq runs [--status failed] [--machine m] [--limit n] [--json]: newest first. */
import { isWanted, LIMIT_MAX, WANTED } from '../admin/index.ts';
import { nearest } from '../config/index.ts';
import { isRunId, show, systemClock } from '../ground/index.ts';
import type { Execute } from './command.ts';
import { UsageError } from './errors.ts';
import { Exit } from './exit.ts';
import { reachToRead } from './reach.ts';
import { runColumns } from './shape.ts';

export const runs: Execute = async (context, options) => {
  const { config, output } = context;
  if (config.store !== undefined && options['local'] !== true) {
    const { listTasks } = await import('./fleet/reach-tasks.ts');
    return listTasks(context, options);
  }
  const query = {
    status: statusOf(options['status']),
    machine: options['machine'] as string | undefined,
    before: idOf(options['before'] as string | undefined, '--before'),
    limit: countOf(options['limit'], '--limit', LIMIT_MAX),
  };
  const { found, by } = await reachToRead(config, async (reach) => ({
    found: await reach.runs(query),
    by: reach.by,
  }));
  if (output.isJson) output.json({ runs: found });
  else if (found.length > 0) output.table(found, runColumns(systemClock.now()));
  if (!output.isJson && found.length === 0) output.note('no such runs');
  if (by === 'file') output.note(`(read from the file: no process holds ${config.dataDir})`);
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
};

function statusOf(word: unknown): string | undefined {
  if (word === undefined || (typeof word === 'string' && isWanted(word))) return word;
  const near = nearest(String(word), WANTED);
  throw new UsageError(`--status must be one of ${WANTED.join(', ')}, got ${show(word)}`, {
    hint: near && `did you mean ${near}?`,
  });
}

export function countOf(text: unknown, flag: string, max: number): number {
  const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  throw new UsageError(`${flag} must be a whole number from 1 to ${max}, got ${show(text)}`);
}

/** A run's id as somebody typed it. */
export function idOf<T>(text: T, where: string): T {
  if (text === undefined || (typeof text === 'string' && isRunId(text))) return text;
  throw new UsageError(
    `${where} must be a run's id, 26 letters and digits or a UUID; got ${show(text)}`,
    {
      hint: 'list runs with: fleetq runs',
    },
  );
}
