/**
 * Runs of this host that ended while the store was away, in a process that ended too before it was back:
 * nobody has them in memory, and the store has never heard of them.
 */
import type { Journal, RunRow } from '../journal/index.ts';
import { RECOVERY_PREFIX, type Store } from '../store/index.ts';

const PAGE_COUNT = 200;
const PAGES_MAX = 500;
/** What was recorded shortly before the last heartbeat that was taken may not have been shown either. */
const SLACK_RECORDS = 1_000;

interface Ports {
  readonly store: Pick<Store, 'find'>;
  readonly journal: Journal;
  /** How far this journal had come by the last heartbeat that the store has taken. */
  readonly seenLsn: number;
}

/** From the newest back, until all of a page are known to the store or were recorded before its time. */
export async function unshownRuns({ store, journal, seenLsn }: Ports): Promise<RunRow[]> {
  const unshown: RunRow[] = [];
  let before: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const rows = journal.list({ status: 'finished', before, countMax: PAGE_COUNT });
    const own = rows.filter((row) => isOwn(row) && isNew(journal, row, seenLsn));
    if (own.length === 0) return unshown;
    const known = new Set((await store.find(own.map(({ id }) => id))).map(({ id }) => id));
    const missing = own.filter(({ id }) => !known.has(id));
    unshown.push(...missing);
    if (missing.length === 0 || rows.length < PAGE_COUNT) return unshown;
    before = rows.at(-1)!.id;
  }
  return unshown;
}

function isOwn({ generation, machine, damage }: RunRow): boolean {
  return generation === undefined && damage === undefined && !machine.startsWith(RECOVERY_PREFIX);
}

function isNew(journal: Journal, { id }: RunRow, seenLsn: number): boolean {
  const last = journal.hasEvents(id) ? journal.rows(id).at(-1) : undefined;
  const sinceCopy = journal.copyOf?.lsn ?? 0;
  return last !== undefined && last.lsn > Math.max(seenLsn - SLACK_RECORDS, sinceCopy);
}
