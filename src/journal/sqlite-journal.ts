/** The journal in a SQLite file of its own: the one place where a transition becomes a fact. */
import { statSync } from 'node:fs';
import { type Clock, isoTime, type Random, type RunId } from '../ground/index.ts';
import { Ballast } from './ballast.ts';
import { type Codec, identityCodec } from './codec.ts';
import {
  assertFullSync,
  type Connection,
  integrityProblems,
  isBusy,
  isCorrupt,
  isDiskFailure,
  migrate,
  openConnection,
} from './connection.ts';
import { JournalHeldError, JournalPlaceError } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import type { Alarm, Entry, Evidence, Journal } from './journal.ts';
import { JournalReader } from './journal-reader.ts';
import { JournalWriter, type Prepared } from './journal-writer.ts';
import { type Mark, MarkFile, readMark } from './mark-file.ts';
import { describeHolder, type Place, placeOf, preparePlace, writeHolder } from './place.ts';
import { restore, salvage } from './salvage.ts';

export interface JournalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly codec?: Codec | undefined;
  /** Larger files are not read through at boot; `fleetq journal verify` does that. */
  readonly checkBytesMax?: number | undefined;
  readonly onStall?: ((error: Error) => void) | undefined;
  readonly onRecover?: (() => void) | undefined;
  readonly onCommit?:
    | ((commit: { readonly records: number; readonly elapsedMs: number }) => void)
    | undefined;
}

const CHECK_BYTES_MAX = 64 * 1024 * 1024;
const BALLAST_RETRY_MS = 2_000;

export class SqliteJournal extends JournalReader implements Journal {
  readonly id: string;
  readonly boot: number;
  readonly alarms: readonly Alarm[];
  readonly evidence: Evidence;
  readonly #options: JournalOptions;
  readonly #connection: Connection;
  readonly #writer: JournalWriter;
  readonly #commit: GroupCommit<Prepared>;
  readonly #mark: MarkFile;
  readonly #ballast: Ballast;
  #lowBecause: Error | undefined;
  #isClosed = false;

  /** Opens the journal in `directory` for this process alone. */
  static open(directory: string, options: JournalOptions): SqliteJournal {
    const place = placeOf(directory);
    preparePlace(place);
    const alarms: Alarm[] = [];
    const mark = readMark(place.mark);
    const connection = openOrSalvage(place, options, alarms);
    try {
      return new SqliteJournal(place, connection, mark, alarms, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  private constructor(
    place: Place,
    connection: Connection,
    mark: Mark | undefined | 'damaged',
    alarms: Alarm[],
    options: JournalOptions,
  ) {
    const codec = options.codec ?? identityCodec;
    super(connection, codec);
    this.#options = options;
    this.#connection = connection;
    const head = nextBoot(connection, options);
    assertFullSync(connection);
    writeHolder(place, options.clock.now());
    this.id = head.id;
    this.boot = head.boot;
    this.alarms = alarms;
    this.evidence = compareWithMark(mark, head, alarms);
    this.#mark = new MarkFile(place.mark, head.id);
    this.#mark.advance(head.lsn);
    this.#writer = new JournalWriter(connection, codec, head.lsn);
    this.#ballast = new Ballast(place.ballast);
    this.#ballast.hold();
    this.#commit = new GroupCommit<Prepared>({
      clock: options.clock,
      write: (batch) => this.#write(batch),
      mayPass: isDiskFailure,
      onStall: (error) => this.#onStall(error),
      onRecover: () => this.#onRecover(),
    });
  }

  get stalledBy(): Error | undefined {
    return this.#commit.stalledBy ?? this.#lowBecause;
  }

  async append(entry: Entry): Promise<string> {
    const prepared = this.#writer.prepare(entry);
    await this.#commit.push(prepared);
    return prepared.hash;
  }

  flushNow(): void {
    this.#commit.flushNow();
  }

  occupy(slot: number, run: RunId, seq: number): void {
    this.#mark.occupy(slot, run, seq);
  }

  vacate(): void {
    this.#mark.vacate();
  }

  takeDueTimers(until: number, countMax: number): RunId[] {
    return this.#writer.takeDueTimers(until, countMax);
  }

  prune(before: { readonly events: number; readonly rows: number }, countMax: number): number {
    return this.#writer.prune(before, countMax);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#commit.stop();
    this.#connection.close();
    this.#mark.close();
  }

  #write(batch: readonly Prepared[]): void {
    const { clock, onCommit } = this.#options;
    const begunMs = onCommit ? clock.monotonicMs() : 0;
    const lsn = this.#writer.write(batch);
    this.#mark.advance(lsn);
    onCommit?.({ records: batch.length, elapsedMs: clock.monotonicMs() - begunMs });
  }

  #onStall(error: Error): void {
    if (this.#ballast.release()) {
      this.#lowBecause = error;
      this.#holdBallastAgain();
    }
    this.#options.onStall?.(error);
  }

  #onRecover(): void {
    if (this.#lowBecause === undefined) this.#options.onRecover?.();
  }

  /** New runs are welcome again only when there is room for the ballast too. */
  #holdBallastAgain(): void {
    this.#options.clock.after(
      BALLAST_RETRY_MS,
      () => {
        if (this.#isClosed) return;
        if (this.#commit.stalledBy || !this.#ballast.hold()) return this.#holdBallastAgain();
        this.#lowBecause = undefined;
        this.#options.onRecover?.();
      },
      { idle: true },
    );
  }
}

interface Head {
  readonly id: string;
  readonly boot: number;
  readonly lsn: number;
}

/** The first write: takes the file's lock for good, and counts this opening. */
function nextBoot(connection: Connection, { clock, random }: JournalOptions): Head {
  return connection
    .transaction((): Head => {
      connection
        .prepare(
          'insert or ignore into journal (one, id, boot, lsn, created_at) values (1, ?, 0, 0, ?)',
        )
        .run(random.hex(16), clock.now());
      connection.prepare('update journal set boot = boot + 1').run();
      return connection.prepare('select id, boot, lsn from journal').get() as Head;
    })
    .immediate();
}

function openOrSalvage(place: Place, options: JournalOptions, alarms: Alarm[]): Connection {
  try {
    const connection = openConnection(place.journal);
    try {
      migrate(connection);
      refuseBroken(place, connection, options.checkBytesMax ?? CHECK_BYTES_MAX);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    if (isBusy(error)) throw new JournalHeldError(place.directory, describeHolder(place));
    if (isCorrupt(error)) return reopenFresh(place, options, alarms, error as Error);
    if (isDiskFailure(error)) {
      throw new JournalPlaceError(`the journal ${place.journal} cannot be opened`, {
        cause: error,
        hint: 'look at free space and permissions of the data directory',
      });
    }
    throw error;
  }
}

function refuseBroken(place: Place, connection: Connection, bytesMax: number): void {
  if (statSync(place.journal).size > bytesMax) return;
  const problems = integrityProblems(connection);
  if (problems.length === 0) return;
  throw Object.assign(new Error(problems.join('; ')), { code: 'SQLITE_CORRUPT' });
}

function reopenFresh(
  place: Place,
  options: JournalOptions,
  alarms: Alarm[],
  cause: Error,
): Connection {
  const stamp = isoTime(options.clock.now()).replaceAll(/[:.]/g, '-');
  const found = salvage(place, options.codec ?? identityCodec, stamp);
  preparePlace(place);
  const connection = openConnection(place.journal);
  migrate(connection);
  const lsn = restore(connection, found);
  connection
    .prepare('insert into journal (one, id, boot, lsn, created_at) values (1, ?, 0, ?, ?)')
    .run(options.random.hex(16), lsn, options.clock.now());
  alarms.push({
    kind: 'fileDamaged',
    message:
      `the journal was damaged (${cause.message.slice(0, 200)}) and was moved to ${found.movedTo}; ` +
      `${found.rows.length} runs were carried over, ${found.damagedRuns.length} were not, or not whole` +
      (found.damagedRuns.length > 0 ? `: ${found.damagedRuns.slice(0, 10).join(', ')}` : ''),
  });
  return connection;
}

/** Holds what the file says against what its last holder knew to be durable. */
function compareWithMark(
  mark: Mark | undefined | 'damaged',
  head: Head,
  alarms: Alarm[],
): Evidence {
  const nothingKnown: Evidence = { isComplete: false, occupied: new Map() };
  if (mark === undefined) return { isComplete: head.boot === 1, occupied: new Map() };
  if (mark === 'damaged') {
    alarms.push({
      kind: 'markDamaged',
      message: 'the mark beside the journal is damaged: whether records are missing cannot be told',
    });
    return nothingKnown;
  }
  if (mark.journalId !== head.id) {
    alarms.push({
      kind: 'otherJournal',
      message: `the journal ${mark.journalId} was here before; this is ${head.id}, without its runs`,
    });
    return nothingKnown;
  }
  if (mark.lsn > head.lsn) {
    alarms.push({
      kind: 'recordsLost',
      message: `the journal has lost its last ${mark.lsn - head.lsn} records: it ends at ${head.lsn}, and had ${mark.lsn}`,
    });
    return nothingKnown;
  }
  return mark.evidence;
}
