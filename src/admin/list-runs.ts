/** Lists of runs by what people call their status, which the journal knows only in part. */
import type { RunStatus, RunSummary } from '../engine/index.ts';
import type { RunFilter } from '../journal/index.ts';
import type { Outcome } from '../machine/index.ts';
import type { RunReader } from './fleet-port.ts';

type Wanted = RunStatus | Outcome | 'unfinished' | 'finished';

/** What the journal is asked for, for each word a person may use. */
const ASKED: Record<Wanted, readonly RunFilter['status'][]> = {
  unfinished: ['unfinished'],
  active: ['unfinished'],
  waiting: ['unfinished'],
  blocked: ['unfinished'],
  quarantined: [undefined],
  finished: ['finished'],
  completed: ['completed'],
  handedOff: ['handedOff'],
  failed: ['exhausted', 'aborted', 'timedOut'],
  exhausted: ['exhausted'],
  aborted: ['aborted'],
  timedOut: ['timedOut'],
  cancelled: ['cancelled'],
};
/** Of these the journal returns too many: for one, runs that have ended and that the store has to record. */
const SIFTED: readonly Wanted[] = ['unfinished', 'active', 'waiting', 'blocked', 'quarantined'];

export const WANTED = Object.keys(ASKED) as readonly Wanted[];

export interface ListQuery {
  readonly status?: string | undefined;
  readonly machine?: string | undefined;
  readonly before?: string | undefined;
  readonly countMax: number;
}

const PAGE_COUNT = 200;
/** A status that hardly any run has must not read the whole journal. */
const PAGES_MAX = 50;

export function isWanted(word: string): word is Wanted {
  return Object.hasOwn(ASKED, word);
}

/** Newest first, without inputs and outputs: these may be large, and are one `run <id>` away. */
export function listRuns(reader: RunReader, query: ListQuery): RunSummary[] {
  const wanted = query.status as Wanted | undefined;
  const asked = wanted === undefined ? [undefined] : ASKED[wanted];
  return asked
    .flatMap((status) => collect(reader, query, status, wanted))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, query.countMax)
    .map(({ input: _input, output: _output, ...rest }) => rest);
}

function collect(
  reader: RunReader,
  { machine, countMax, before: from }: ListQuery,
  status: RunFilter['status'],
  wanted: Wanted | undefined,
): RunSummary[] {
  const isSifted = wanted !== undefined && SIFTED.includes(wanted);
  if (!isSifted) return reader.runs({ status, machine, before: from, countMax });
  const fits = (run: RunSummary) =>
    wanted === 'unfinished' ? run.finishedAt === undefined : run.status === wanted;
  const found: RunSummary[] = [];
  let before = from;
  // Nearly all unfinished runs fit, so that the first page is mostly enough.
  let count = wanted === 'unfinished' ? countMax : PAGE_COUNT;
  for (let page = 0; page < PAGES_MAX && found.length < countMax; page++) {
    const runs = reader.runs({ status, machine, before, countMax: count });
    found.push(...runs.filter(fits));
    if (runs.length < count) break;
    before = runs.at(-1)?.id;
    count = PAGE_COUNT;
  }
  return found;
}
