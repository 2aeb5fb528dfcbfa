/** The journal in a SQLite file of its own: the one place where a transition becomes a fact. */
import type { Clock, Random, RunId } from '../ground/index.ts';
import { Ballast } from './ballast.ts';
import { checkEvents } from './check-events.ts';
import { type Codec, identityCodec } from './codec.ts';
import { assertFullSync, type Connection, isRefusal } from './connection.ts';
import { type CopyOf, Owners } from './copy.ts';
import { countBoot } from './count-boot.ts';
import { noteDamage } from './damage.ts';
import { JournalStalledError } from './errors.ts';
import { inheritedOf, judgeMark } from './evidence.ts';
import { GroupCommit } from './group-commit.ts';
import { isGone, watchPath } from './hold.ts';
import type {
  Alarm,
  Entry,
  EventCheck,
  Evidence,
  Journal,
  Occupancy,
  Pruned,
  RetentionLimits,
  Written,
} from './journal.ts';
import { JournalReader } from './journal-reader.ts';
import { JournalWriter } from './journal-writer.ts';
import { MarkFile } from './mark-file.ts';
import { type Opened, type OpenPorts, openJournal } from './open-journal.ts';
import { holdHere, type Place, placeOf } from './place.ts';
import type { Prepared } from './record.ts';

export interface JournalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly codec?: Codec | undefined;
  /** Larger files are not read through at boot; `fleetq journal verify` does that. */
  readonly checkBytesMax?: number | undefined;
  /** Whether a copy of a journal is one of its own, or (the default) the journal itself. */
  readonly copies?: OpenPorts['copies'] | undefined;
  readonly onStall?: ((error: Error) => void) | undefined;
  readonly onRecover?: (() => void) | undefined;
  readonly onCommit?:
    | ((commit: {
        readonly records: number;
        readonly elapsedMs: number;
        readonly syncMs: number;
      }) => void)
    | undefined;
}

const CHECK_BYTES_MAX = 64 * 1024 * 1024;
const BALLAST_RETRY_MS = 2_000;
const RENEW_MS = 1_000;
/** How long ended holds wait for a transaction to go with before they get one of their own. */
const ENDED_MS_MAX = 500;
const NOTHING_PRUNED: Pruned = { runs: 0, looked: 0, isMore: false };

export class SqliteJournal extends JournalReader implements Journal {
  readonly id: string;
  readonly boot: number;
  readonly alarms: readonly Alarm[];
  readonly areEventsChecked: boolean;
  readonly copyOf: CopyOf | undefined;
  readonly lsnAtOpen: number;
  readonly evidence: Evidence;
  readonly #options: JournalOptions;
  readonly #place: Place;
  readonly owners: Owners;
  readonly #connection: Connection;
  readonly #writer: JournalWriter;
  readonly #commit: GroupCommit<Prepared>;
  readonly #mark: MarkFile;
  readonly #ballast: Ballast;
  #lowBecause: Error | undefined;
  readonly #whyGone: () => Error | undefined;
  #lostBecause: Error | undefined;
  #renewedMs: number;
  #isKnownThere = false;
  readonly #letGo: () => void;
  #isClosed = false;
  /** Holds that are over, and go with the next transaction. */
  #ended: RunId[] = [];
  /** Opens the journal in `directory` for this process alone. */
  static open(directory: string, options: JournalOptions): SqliteJournal {
    const place = placeOf(directory);
    const { codec = identityCodec, checkBytesMax = CHECK_BYTES_MAX, copies = 'own' } = options;
    const opened = openJournal(place, { ...options, codec, checkBytesMax, copies });
    try {
      return new SqliteJournal(place, opened, options, codec);
    } catch (error) {
      noteDamage(place, error);
      opened.connection.close();
      opened.hold.letGo();
      throw error;
    }
  }

  private constructor(place: Place, opened: Opened, options: JournalOptions, codec: Codec) {
    const { connection } = opened;
    super(connection, codec);
    this.#options = options;
    this.#place = place;
    this.#connection = connection;
    this.#whyGone = watchPath(place.journal);
    this.#ballast = new Ballast(place.ballast);
    const head = countBoot(connection, { ...opened.head, id: opened.id }, this.#ballast);
    this.copyOf = opened.copyOf;
    this.lsnAtOpen = opened.head.lsn;
    assertFullSync(connection);
    this.owners = new Owners(place, options.clock.now(), opened);
    this.#renewedMs = options.clock.monotonicMs();
    this.id = head.id;
    this.boot = head.boot;
    const { alarms, evidence } = judgeMark(opened, (runs) => this.lastSeqs(runs));
    this.alarms = [...opened.alarms, ...alarms];
    this.areEventsChecked = opened.areEventsChecked;
    this.evidence = evidence;
    this.#mark = new MarkFile(place.mark, {
      journalId: head.id,
      lsn: head.lsn,
      unknownUntil: evidence.unknownUntil ?? 0,
      inherited: inheritedOf(evidence, (runs) => this.lastSeqs(runs)),
    });
    this.#writer = new JournalWriter(connection, codec, head, options.clock);
    this.#commit = new GroupCommit<Prepared>({
      clock: options.clock,
      write: (batch) => this.#write(batch),
      isItems: isRefusal,
      onStall: (error) => this.#onStall(error),
      onRecover: () => this.#onRecover(),
    });
    const letGoHere = holdHere(place);
    this.#letGo = () => {
      opened.hold.letGo();
      letGoHere();
    };
    if (!this.#ballast.hold()) this.#runLow(new Error('there is no room for the ballast'));
  }

  get stalledBy(): Error | undefined {
    return this.#commit.stalledBy ?? this.#lowBecause;
  }

  prepare(entry: Entry): Prepared {
    return this.#writer.prepare(entry);
  }

  append(entry: Entry, written?: Written): Promise<Prepared> {
    // Nobody may ever put the file back: a new run is refused rather than left waiting.
    const gone = entry.opens && this.#whyGoneByNow();
    if (gone) {
      this.#commit.stall(gone);
      return Promise.reject(new JournalStalledError(gone));
    }
    return this.#commit.push(written ? { entry, ...written } : this.#writer.prepare(entry));
  }

  /** Asked once for all the runs whose starts gather for one commit. */
  #whyGoneByNow(): Error | undefined {
    if (this.#isKnownThere) return undefined;
    const gone = this.#whyGone();
    this.#isKnownThere = gone === undefined;
    return gone;
  }

  get lsn(): number {
    return this.#writer.lsn;
  }

  endHolds(runs: readonly RunId[]): void {
    if (runs.length === 0 || this.#isClosed) return;
    if (this.#ended.length === 0) {
      const { clock } = this.#options;
      clock.after(ENDED_MS_MAX, () => this.#endHoldsNow(), { idle: true });
    }
    this.#ended.push(...runs);
  }

  #endHoldsNow(): void {
    if (this.#ended.length === 0 || this.#isClosed) return;
    this.#orStall(() => {
      this.#writer.write([], this.#ended);
      this.#ended = [];
    });
  }

  flushNow(): void {
    this.#commit.flushNow();
  }

  occupy(occupancies: readonly Occupancy[]): void {
    this.#mark.occupy(occupancies);
  }

  vacate(slots?: readonly number[]): void {
    this.#mark.vacate(slots);
  }

  takeDueTimers(until: number, countMax: number): RunId[] {
    return this.#orStall(() => this.#writer.takeDueTimers(until, countMax)) ?? [];
  }

  prune(before: RetentionLimits, countMax: number): Pruned {
    return this.#orStall(() => this.#writer.prune(before, countMax)) ?? NOTHING_PRUNED;
  }

  checkEvents(after: string, countMax: number): EventCheck {
    return checkEvents(this.#connection, this, after, countMax);
  }

  /** These have no caller who could wait for the disk: they are done another time. */
  #orStall<T>(write: () => T): T | undefined {
    try {
      this.#refuseGone();
      const written = write();
      this.#mark.advance(this.#writer.lsn);
      return written;
    } catch (error) {
      noteDamage(this.#place, error);
      if (isRefusal(error)) throw error;
      this.#commit.stall(error as Error);
      return undefined;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#endHoldsNow();
    this.#isClosed = true;
    this.#commit.stop();
    this.#connection.close();
    this.#mark.close();
    this.#letGo();
  }

  #write(batch: readonly Prepared[]): void {
    const { clock, onCommit } = this.#options;
    const begunMs = onCommit ? clock.monotonicMs() : 0;
    this.#isKnownThere = false;
    this.#refuseGone();
    try {
      this.#writer.write(batch, this.#ended);
    } catch (error) {
      noteDamage(this.#place, error);
      throw error;
    }
    this.#ended = [];
    this.#mark.advance(this.#writer.lsn);
    const elapsedMs = clock.monotonicMs() - begunMs;
    onCommit?.({ records: batch.length, elapsedMs, syncMs: this.#writer.syncMs });
  }

  /** Asked before every commit: it costs microseconds, and an fsync far more. */
  #refuseGone(): void {
    const gone = this.#whyGone() ?? this.#whyTaken();
    if (gone) throw gone;
  }

  /** Dearer, and only wrong after a copy of the whole directory by this process: now and then. */
  #whyTaken(): Error | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#lostBecause && nowMs - this.#renewedMs < RENEW_MS) return undefined;
    this.#renewedMs = nowMs;
    this.#lostBecause = this.owners.whyLost();
    return this.#lostBecause;
  }

  #onStall(error: Error): void {
    // Where the file is gone, the ballast that lies there may be somebody else's.
    if (!isGone(error) && this.#ballast.release()) this.#runLow(error);
    else this.#options.onStall?.(error);
  }

  #runLow(because: Error): void {
    this.#lowBecause = because;
    this.#options.onStall?.(because);
    this.#holdBallastAgain();
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
