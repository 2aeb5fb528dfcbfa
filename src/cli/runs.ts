/** fleetq runs [filter...] [--limit n] [--json]: newest first. */
import { isWanted, LIMIT_MAX, WANTED } from '../admin/index.ts';
import { factsOfRun, type RunStatus } from '../engine/index.ts';
import { isRunId, nearest, show, systemClock } from '../ground/index.ts';
import { type Filter, matches, type Term } from '../query/index.ts';
import type { Execute, Options } from './command.ts';
import { UsageError } from './errors.ts';
import { Exit } from './exit.ts';
import { readFilter, refuseStatuses, termOf, wordAsked } from './filter.ts';
import { reachToRead } from './reach.ts';
import { runColumns, WORD_OF_STATUS } from './shape.ts';
import { type Sifted, sift, siftedNote } from './sift.ts';
import type { Query } from './socket-client.ts';

/** For whoever mistypes one: a filter's term may begin with a minus, so these are told apart here. */
const FLAGS = [
  ...['--status', '--machine', '--limit', '--before', '--cursor', '--local', '--json'],
  ...['--data-dir', '--store', '--read-store', '--pooled'],
];
const STATUSES = Object.keys(WORD_OF_STATUS) as readonly RunStatus[];

export const runs: Execute = async (context, options, ...words) => {
  const { config, output } = context;
  const asked = readFilter(words.flat(), FLAGS);
  if (config.store !== undefined && options['local'] !== true) {
    const { listTasks } = await import('./fleet/list-tasks.ts');
    return listTasks(context, options, asked);
  }
  refuseStatuses(asked, STATUSES, 'a run of one host');
  if (options['cursor'] !== undefined) {
    throw new UsageError('--cursor goes on in a list of the fleet', {
      hint: 'runs of one host go on with --before <run>',
    });
  }
  const filter: Filter = { terms: [...asked.terms, ...flagTerms(options)] };
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const before = idOf(options['before'] as string | undefined, '--before');
  const now = systemClock.now();
  const { found, lookedUntil, by } = await reachToRead(config, async (reach) => {
    const { isExact, ...narrow } = narrowed(filter);
    const read = (from: string | undefined, limit: number) =>
      reach.runs({ ...narrow, before: from, limit });
    const keep = (run: Parameters<typeof factsOfRun>[0]) => matches(filter, factsOfRun(run), now);
    return { ...(await sift(read, keep, { before, countMax, isExact })), by: reach.by };
  });
  if (output.isJson) output.json({ runs: found, lookedUntil });
  else if (found.length > 0) output.table(found, runColumns(now));
  if (!output.isJson) noteOf({ found, lookedUntil }).map((note) => output.note(note));
  if (by === 'file') output.note(`(read from the file: no process holds ${config.dataDir})`);
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
};

function noteOf({ found, lookedUntil }: Sifted<unknown>): string[] {
  const notes = found.length === 0 ? ['no such runs'] : [];
  return lookedUntil === undefined ? notes : [...notes, siftedNote(lookedUntil)];
}

/** The old flag has words for more than the status. */
function flagTerms({ status, machine }: Options): Term[] {
  const terms = machine === undefined ? [] : [termOf('machine', String(machine))];
  if (status === undefined) return terms;
  if (typeof status !== 'string' || !isWanted(status)) {
    const near = nearest(String(status), WANTED);
    throw new UsageError(`--status must be one of ${WANTED.join(', ')}, got ${show(status)}`, {
      hint: near && `did you mean ${near}?`,
    });
  }
  if (status === 'finished' || status === 'unfinished') return [...terms, termOf('is', status)];
  const isStatus = (STATUSES as readonly string[]).includes(status);
  return [...terms, termOf(isStatus ? 'status' : 'outcome', status)];
}

/** What is told by a run's records, and not by its row. */
const IN_RECORDS: readonly string[] = ['active', 'waiting', 'blocked'];

/** What the journal can be asked for by itself, and whether that is all. */
function narrowed(filter: Filter): Pick<Query, 'status' | 'machine'> & { isExact: boolean } {
  const machine = wordAsked(filter, 'machine');
  const word = (['status', 'outcome', 'is'] as const)
    .map((field) => wordAsked(filter, field))
    .find((each) => each !== undefined && each !== 'quarantined' && isWanted(each));
  const status = word !== undefined && IN_RECORDS.includes(word) ? 'unfinished' : word;
  const exactCount =
    (machine === undefined ? 0 : 1) + (word !== undefined && status === word ? 1 : 0);
  return { machine, status, isExact: exactCount === filter.terms.length };
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
