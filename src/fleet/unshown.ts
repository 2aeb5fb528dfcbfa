/**
 * Runs of this host that have ended, and that the store may not have heard of: those of an earlier
 * process, and those that this one let go of, since there were too many to keep in memory. They are read
 * again from the journal a page at a time, from the newest back.
 */
import type { RunId } from '../ground/index.ts';
import type { Journal, RunRow } from '../journal/index.ts';
import { RECOVERY_PREFIX, type Store } from '../store/index.ts';

const PAGE_COUNT = 200;
/** What was recorded shortly before the last heartbeat that was taken may not have been shown either. */
const SLACK_RECORDS = 1_000;

export interface UnshownPorts {
  readonly store: Pick<Store, 'find'>;
  readonly journal: Journal;
}

interface Walk {
  /** The last run of the page before; undefined: from the newest. */
  readonly before: RunId | undefined;
  /**
   * Only what was recorded after this. A page that the store knows, or that is older, is the last: an
   * earlier process showed what came before.
   */
  readonly seenLsn?: number;
  /** Down to this run, whatever the store knows on the way. */
  readonly first?: RunId;
}

export class Unshown {
  readonly #ports: UnshownPorts;
  #earlier: Walk | undefined;
  #forgotten: Walk | undefined;

  constructor(ports: UnshownPorts) {
    this.#ports = ports;
  }

  get isEmpty(): boolean {
    return !this.#earlier && !this.#forgotten;
  }

  /** What ended after the journal had come this far may be unknown to the store. */
  since(lsn: number): void {
    const seenLsn = Math.min(lsn, this.#earlier?.seenLsn ?? lsn);
    this.#earlier = { before: undefined, seenLsn };
  }

  /** Nothing of this run is kept but that it is to be looked for, from here on down. */
  forget(id: RunId): void {
    const known = this.#forgotten?.first;
    const first = known !== undefined && known < id ? known : id;
    this.#forgotten = { before: undefined, first };
  }

  /** Of the next page, the runs that the store does not know. */
  async nextPage(): Promise<RunRow[]> {
    const walk = this.#forgotten ?? this.#earlier;
    if (!walk) return [];
    const { journal, store } = this.#ports;
    const { before, first = '', seenLsn = 0 } = walk;
    const rows = journal.list({ status: 'finished', before, countMax: PAGE_COUNT });
    const own = rows.filter((row) => row.id >= first && isOwn(row) && isNew(journal, row, seenLsn));
    const ids = own.map(({ id }) => id);
    const known = new Set(ids.length > 0 ? (await store.find(ids)).map(({ id }) => id) : []);
    const missing = own.filter(({ id }) => !known.has(id));
    const last = rows.length < PAGE_COUNT ? undefined : rows.at(-1)!.id;
    const hasMore = walk.first === undefined ? missing.length > 0 : last! > walk.first;
    this.#replace(walk, last !== undefined && hasMore ? { ...walk, before: last } : undefined);
    return missing;
  }

  /** A walk that begins anew meanwhile stays. */
  #replace(walk: Walk, next: Walk | undefined): void {
    if (this.#forgotten === walk) this.#forgotten = next;
    else if (this.#earlier === walk) this.#earlier = next;
  }
}

function isOwn({ generation, machine, damage }: RunRow): boolean {
  return generation === undefined && damage === undefined && !machine.startsWith(RECOVERY_PREFIX);
}

function isNew(journal: Journal, { id }: RunRow, seenLsn: number): boolean {
  const last = journal.hasEvents(id) ? journal.rows(id).at(-1) : undefined;
  const sinceCopy = journal.copyOf?.lsn ?? 0;
  return last !== undefined && last.lsn > Math.max(seenLsn - SLACK_RECORDS, sinceCopy);
}
