/** All that a journal answers about its runs, as plain data that can be compared. */
import type { RunId } from '../../src/ground/index.ts';
import {
  type Alarm,
  DamagedRunError,
  type RunRow,
  type SqliteJournal,
  type UnfinishedRun,
} from '../../src/journal/index.ts';

export interface RunFacts {
  /** Row and ending as JSON; undefined where there is no such run. */
  readonly row: string | undefined;
  /** The hash of every record. */
  readonly hashes: readonly string[];
  /** Also those that retention has taken since; of the truth only. */
  readonly everHashes: readonly string[];
  /** The row before the run ended; of the truth only. */
  readonly liveRow: string | undefined;
  readonly isDamaged: boolean;
  readonly isListed: boolean;
  /** Whether the run would be resumed at once, is left to its timer, or is reported as damaged. */
  readonly atBoot: 'resumed' | 'left' | 'damaged';
}

export interface State {
  readonly id: string;
  readonly boot: number;
  readonly alarms: readonly Alarm['kind'][];
  readonly evidence: string;
  readonly runs: ReadonlyMap<RunId, RunFacts>;
  /** Run found by '<machine> <key>', or why none was. */
  readonly keys: ReadonlyMap<string, string>;
  /** '<run> <due time>'. */
  readonly timers: readonly string[];
  /** Every timer there ever was; of the truth only. */
  readonly everTimers: readonly string[];
  readonly deadLetters: readonly string[];
}

const ASLEEP_UNTIL = 2_000_000;
const TIMERS_MAX = 50;

/** Reads everything; the timers last, since reading takes them. */
export function stateOf(journal: SqliteJournal, ids: readonly RunId[]): State {
  const atBoot = new Map<string, UnfinishedRun>();
  for (const found of journal.unfinished(ASLEEP_UNTIL)) atBoot.set(found.row.id, found);
  const listed = new Map(journal.list({ countMax: 1_000 }).map((row) => [row.id, row]));
  const runs = new Map<RunId, RunFacts>();
  const keys = new Map<string, string>();
  for (const id of new Set<RunId>([...ids, ...listed.keys()])) {
    const found = atBoot.get(id);
    const facts = factsOf(journal, id, listed.get(id), found);
    runs.set(id, {
      ...facts,
      isListed: listed.has(id),
      atBoot: found ? (found.damage === undefined ? 'resumed' : 'damaged') : 'left',
      everHashes: facts.hashes,
      liveRow: undefined,
    });
  }
  for (const id of ids) {
    const index = Number(id.slice(3));
    const machine = index % 2 === 0 ? 'sample/one' : 'sample/two';
    keys.set(`${machine} order-${index}`, keyOf(journal, machine, `order-${index}`));
  }
  const { isComplete, occupied } = journal.evidence;
  return {
    id: journal.id,
    boot: journal.boot,
    alarms: journal.alarms.map((alarm) => alarm.kind),
    evidence: isComplete ? JSON.stringify([...occupied].sort()) : 'unknown',
    runs,
    keys,
    deadLetters: journal.deadLetters(1_000).map((letter) => JSON.stringify(letter)),
    timers: timersOf(journal),
    everTimers: [],
  };
}

/** What was read once is not read again: these are many images. */
function factsOf(
  journal: SqliteJournal,
  id: RunId,
  listed: RunRow | undefined,
  atBoot: UnfinishedRun | undefined,
): Pick<RunFacts, 'row' | 'hashes' | 'isDamaged'> {
  let row: string | undefined;
  try {
    const found = listed ?? journal.find(id);
    if (found === undefined) return { row, hashes: [], isDamaged: false };
    row = JSON.stringify(found);
    const isKnown = atBoot !== undefined && atBoot.damage === undefined;
    const records = isKnown ? atBoot.records : journal.history(id);
    const isDamaged = found.damage !== undefined;
    return { row, hashes: records.map((record) => record.hash), isDamaged };
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    return { row, hashes: [], isDamaged: true };
  }
}

function keyOf(journal: SqliteJournal, machine: string, key: string): string {
  try {
    return journal.findByKey(machine, key, 0)?.id ?? 'none';
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    return 'damaged';
  }
}

function timersOf(journal: SqliteJournal): string[] {
  const timers: string[] = [];
  for (let count = 0; count < TIMERS_MAX; count++) {
    const dueAt = journal.nextTimerAt();
    if (dueAt === undefined) return timers;
    for (const run of journal.takeDueTimers(dueAt, TIMERS_MAX)) timers.push(`${run} ${dueAt}`);
  }
  return timers;
}
