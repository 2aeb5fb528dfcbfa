/**
 * The journal of a simulated host: the engine's port, over a disk in memory. Group commit, records,
 * chains, rows, seals and the judgement on the mark are the real journal's own; only the file is not.
 */
import type { Clock, RunId } from '../../src/ground/index.ts';
import { identityCodec } from '../../src/journal/codec.ts';
import { DamagedRunError } from '../../src/journal/errors.ts';
import { inheritedOf, judgeMark } from '../../src/journal/evidence.ts';
import { GroupCommit } from '../../src/journal/group-commit.ts';
import type {
  Alarm,
  Entry,
  EventCheck,
  Evidence,
  Journal,
  JournalOwners,
  Occupancy,
  Opening,
  Pruned,
  RetentionLimits,
  Written,
} from '../../src/journal/journal.ts';
import type { Opened } from '../../src/journal/open-journal.ts';
import { encodeEntry, type Prepared } from '../../src/journal/record.ts';
import { openRow, sealedRow } from '../../src/journal/run-row.ts';
import type { Disk } from './disk.ts';
import { DiskReader } from './disk-reader.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** How long the real one lets ended holds wait for a transaction to go with. */
const ENDED_MS_MAX = 500;
const SYNC_MS_MIN = 0.2;
const SYNC_MS_SPREAD = 3;

class DiskError extends Error {
  readonly code: string;

  constructor(message: string, code = 'SQLITE_FULL') {
    super(message);
    this.code = code;
  }
}

export interface SimJournalPorts {
  readonly world: World;
  readonly disk: Disk;
  readonly process: Process;
  /** Its disk took the process along, inside a commit. */
  readonly onDeath: (when: string) => void;
  /** A record is on its way to the disk. */
  readonly onAppend?: ((prepared: Prepared) => void) | undefined;
  /** It has got there. */
  readonly onDurable?: ((prepared: Prepared) => void) | undefined;
}

export class SimJournal extends DiskReader implements Journal {
  readonly id: string;
  readonly boot: number;
  readonly alarms: readonly Alarm[];
  readonly evidence: Evidence;
  readonly areEventsChecked = true;
  readonly copyOf = undefined;
  readonly lsnAtOpen: number;
  readonly owners: JournalOwners;
  readonly #world: World;
  readonly #disk: Disk;
  readonly #process: Process;
  readonly #onDeath: (when: string) => void;
  readonly #ports: SimJournalPorts;
  readonly #commit: GroupCommit<Prepared>;
  #ended: RunId[] = [];
  #isClosed = false;

  constructor(ports: SimJournalPorts) {
    const { world, disk, process, onDeath } = ports;
    super(disk);
    this.#ports = ports;
    if (disk.isHeld) throw new Error(`the disk ${disk.id} is held by another process`);
    disk.isHeld = true;
    this.#world = world;
    this.#disk = disk;
    this.#process = process;
    this.#onDeath = onDeath;
    this.id = disk.id;
    this.owners = disk.owners;
    this.#findUnsynced();
    const { id, boot, lsn, createdAt, mark } = disk;
    this.lsnAtOpen = lsn;
    const opened = { mark, head: { id, boot, lsn, createdAt, format: 1 }, alarms: [] };
    const judged = judgeMark(opened as unknown as Opened, (runs) => this.lastSeqs(runs));
    this.alarms = judged.alarms;
    this.evidence = judged.evidence;
    disk.transact(() => {
      disk.boot += 1;
      disk.lsn += 1;
    });
    this.boot = disk.boot;
    const inherited = inheritedOf(this.evidence, (runs) => this.lastSeqs(runs));
    disk.renewMark(this.evidence.unknownUntil ?? 0, inherited);
    const clock: Clock = {
      ...process.clock,
      // Time in which appends gather, and in which a death takes them along.
      soon: (act) => void process.clock.after(this.#syncMs(), act),
    };
    this.#commit = new GroupCommit<Prepared>({
      clock,
      write: (batch) => this.#write(batch),
      isItems: (error) => !(error instanceof DiskError),
      onStall: () => world.count('stalls'),
      onRecover: () => undefined,
    });
  }

  get lsn(): number {
    return this.#disk.lsn;
  }

  get stalledBy(): Error | undefined {
    return this.#commit.stalledBy;
  }

  prepare(entry: Entry): Prepared {
    return encodeEntry(entry, identityCodec);
  }

  append(entry: Entry, written?: Written): Promise<Prepared> {
    const prepared = written ? { entry, ...written } : this.prepare(entry);
    this.#ports.onAppend?.(prepared);
    return this.#commit.push(prepared);
  }

  flushNow(): void {
    this.#commit.flushNow();
  }

  occupy(occupancies: readonly Occupancy[]): void {
    this.#disk.occupy(occupancies);
  }

  vacate(slots?: readonly number[]): void {
    this.#disk.vacate(slots);
  }

  endHolds(runs: readonly RunId[]): void {
    if (runs.length === 0 || this.#isClosed) return;
    if (this.#ended.length === 0) {
      this.#process.clock.after(ENDED_MS_MAX, () => this.#endHoldsNow());
    }
    this.#ended.push(...runs);
  }

  #endHoldsNow(): void {
    if (this.#ended.length === 0 || this.#isClosed) return;
    this.#orStall(() => this.#write([]), undefined);
  }

  takeDueTimers(until: number, countMax: number): RunId[] {
    const due = [...this.#disk.timers]
      .filter(([, dueAt]) => dueAt <= until)
      .sort(([a, aAt], [b, bAt]) => aAt - bAt || (a < b ? -1 : 1))
      .slice(0, countMax)
      .map(([run]) => run as RunId);
    if (due.length === 0) return due;
    return this.#orStall(() => {
      this.#transact(() => {
        for (const run of due) this.#disk.setTimer(run, undefined);
        this.#disk.lsn += 1;
      });
      return due;
    }, []);
  }

  prune(before: RetentionLimits, countMax: number): Pruned {
    const { runs, events } = this.#disk;
    const ended = [...runs.values()].filter(({ finished_at }) => finished_at !== null);
    const old = ended.filter((row) => row.finished_at! < before.events && events.has(row.id));
    const older = ended.filter((row) => row.finished_at! < before.rows);
    const [emptied, forgotten] = [old.slice(0, countMax), older.slice(0, countMax)];
    const isMore = old.length + older.length > emptied.length + forgotten.length;
    const looked = emptied.length + forgotten.length;
    if (looked === 0) return { runs: 0, looked, isMore };
    this.#orStall(() => {
      this.#transact(() => {
        for (const { id } of emptied) this.#disk.removeEvents(id);
        for (const { id } of forgotten) this.#disk.removeRun(id);
        this.#disk.lsn += 1;
      });
    }, undefined);
    return { runs: looked, looked, isMore };
  }

  checkEvents(): EventCheck {
    return { last: undefined, damaged: [] };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#endHoldsNow();
    this.#isClosed = true;
    this.#commit.stop();
    this.#disk.isHeld = false;
  }

  #orStall<T>(write: () => T, otherwise: T): T {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      this.#commit.stall(error);
      return otherwise;
    }
  }

  #write(batch: readonly Prepared[]): void {
    const ended = this.#ended;
    this.#transact(() => {
      for (const run of ended) this.#removeHeld(run);
      for (const prepared of batch) this.#put(prepared);
      if (batch.length === 0) this.#disk.lsn += 1;
    });
    this.#ended = [];
  }

  /** Runs of its own stay, as the fleet was only shown them. */
  #removeHeld(run: RunId): void {
    if ((this.#disk.runs.get(run)?.generation ?? null) !== null) this.#disk.removeRun(run);
  }

  /** One transaction, or the death of the process before or after it: nobody hears of it then. */
  #transact(act: () => void): void {
    const disk = this.#disk;
    if (this.#process.isDead) throw new DiskError('the process is dead');
    if (disk.isFull) throw new DiskError('database or disk is full');
    if (disk.isDamaged) throw new DiskError('database disk image is malformed', 'SQLITE_CORRUPT');
    const fate = disk.nextFate;
    disk.nextFate = 'fine';
    if (fate === 'diesBefore') this.#die('before it was durable');
    if (fate === 'tears') {
      disk.losePower();
      this.#die('half way');
    }
    if (disk.failingSyncs > 0) {
      disk.failingSyncs -= 1;
      disk.unsynced = act;
      this.#world.count('failed syncs');
      if (disk.diesOfSync) this.#die('for a sync that failed');
      throw new DiskError('disk I/O error', 'SQLITE_IOERR_FSYNC');
    }
    disk.unsynced = undefined;
    disk.transact(act);
    if (fate === 'diesAfter') this.#die('after it was durable');
    disk.advanceMark();
  }

  /** Nobody knew whether it was durable: the next process finds that it was, or that it was not. */
  #findUnsynced(): void {
    const { unsynced } = this.#disk;
    this.#disk.unsynced = undefined;
    if (!unsynced || this.#process.random.fraction() < 0.3) return;
    this.#disk.transact(unsynced);
    this.#world.count('syncs that took after all');
  }

  #die(when: string): never {
    this.#process.kill();
    this.#onDeath(when);
    throw new DiskError('the process has died');
  }

  #put(prepared: Prepared): void {
    const { entry, data, hash } = prepared;
    this.#ports.onDurable?.(prepared);
    const disk = this.#disk;
    const { run, seq, at, epoch, event, state, opens, closes, wakeAt } = entry;
    if (opens) this.#open(entry, opens);
    disk.lsn += 1;
    disk.addEvent({ lsn: disk.lsn, run, seq, at, epoch, event: event.type, state, data, hash });
    if (event.type === 'ADVANCED' || event.type === 'UPGRADED') {
      disk.setRow({ ...disk.runs.get(run)!, version: event.version });
    }
    // As in the file: what is held for a store is not sealed, or retention might come for it.
    if (closes && closes.generation === undefined) {
      const row = disk.runs.get(run);
      if (!row) throw new DamagedRunError(run, 'it has no row');
      const { id, machine, version, key, started_at, generation } = row;
      const sealed = sealedRow(entry, closes, hash, identityCodec);
      disk.setRow({ ...sealed, id, machine, version, key, started_at, generation });
    }
    if (wakeAt !== undefined) disk.setTimer(run, wakeAt ?? undefined);
  }

  #open({ run, at }: Entry, { machine, version, key, generation, rows = [] }: Opening): void {
    const disk = this.#disk;
    if (disk.runs.has(run)) throw new Error(`UNIQUE constraint failed: runs.id (${run})`);
    const startedAt = rows[0]?.at ?? at;
    disk.setRow(openRow([run, machine, version, key ?? null, startedAt, generation ?? null]));
    for (const row of rows) {
      disk.lsn += 1;
      disk.addEvent({ ...row, run, lsn: disk.lsn });
    }
  }

  #syncMs(): number {
    return SYNC_MS_MIN + this.#process.random.fraction() * SYNC_MS_SPREAD;
  }
}
