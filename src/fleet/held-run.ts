/** One run this pod holds for the fleet: its claim, and the records the store does not have yet. */
import type { PhaseTx, Tie, WrittenRecord } from '../engine/index.ts';
import type { ErrorInfo } from '../ground/index.ts';
import type { Ending } from '../machine/index.ts';
import type { Claim, ClaimedTask, Flush, Persisted, Segment, Settlement } from '../store/index.ts';
import { endErrorOf, endStatusOf, hasLeft, stepOf } from './end-words.ts';
import { segmentOf } from './history.ts';
import type { Keeper } from './keeper.ts';
import type { PersistTx } from './persist-tx.ts';

/** How long a task that nobody can go on with is left alone. One who can is told of it at once. */
const BLOCKED_MS = 60_000;
/** How long a run rests after a pod has failed to take it: the next try may well be the same pod's. */
const FAULT_MS = 5_000;

export class HeldRun implements Tie {
  readonly claim: Claim;
  readonly keyGeneration: number;
  readonly #keeper: Keeper;
  #tail: WrittenRecord[] = [];
  /** The hash of the last record that the store has. */
  #prevHash: string;
  readonly #fromSeq: number;
  /** Where its last owner left it in order, by its row. */
  readonly #left: { readonly lastSeq: number; readonly lastHash: string } | undefined;
  #lastSeq: number;
  #lastHash: string;
  #retries = 0;
  /** What whoever enqueued it allows beyond that, when it was claimed. */
  readonly #retriesLeft: number;
  #hasCompletedStep = false;
  /** The store has its end, with what its last persist has written. */
  #isStored = false;
  /** Of its row: by which it was claimed. */
  readonly route: string;
  /** The version that the task's row has, and the one its run stands under. */
  readonly #rowVersion: number | undefined;
  #version: number | undefined;
  #step: string | undefined;
  /** The claim no longer stands, or its settlement is on its way: nothing is told any more. */
  isOver = false;
  /** Somebody has asked to pause it: it is given back at its next boundary. */
  isPausing = false;
  /** A phase of it began after its pod's deadline, so another pod may have it by now. */
  hasGoneAlone = false;
  /** A picture of a run that belongs to this host, and takes no place from others. */
  isMirror = false;
  /** What the store had of it when it came, until this disk has it. */
  read: readonly Segment[] | undefined;

  constructor(
    task: Pick<ClaimedTask, 'task' | 'generation' | 'epoch' | 'keyGeneration'> &
      Partial<
        Pick<
          ClaimedTask,
          'machine' | 'version' | 'retryCount' | 'retriesMax' | 'lastSeq' | 'lastHash'
        >
      >,
    from: { readonly seq: number; readonly hash: string; readonly state: string | undefined },
    keeper: Keeper,
  ) {
    this.claim = { task: task.task, generation: task.generation, epoch: task.epoch };
    this.keyGeneration = task.keyGeneration;
    const { retryCount = 0, retriesMax = Number.POSITIVE_INFINITY } = task;
    this.#retriesLeft = retriesMax - retryCount;
    this.route = `${task.machine}@${task.version}`;
    this.#rowVersion = task.version;
    this.#version = task.version;
    this.#keeper = keeper;
    this.#prevHash = from.hash;
    this.#lastHash = from.hash;
    this.#fromSeq = from.seq;
    const { lastSeq, lastHash = '' } = task;
    this.#left = lastSeq === undefined ? undefined : { lastSeq, lastHash };
    this.#lastSeq = from.seq;
    this.#step = from.state && stepOf(from.state);
  }

  get generation(): number {
    return this.claim.generation;
  }
  get epoch(): number {
    return this.claim.epoch;
  }
  get unflushed(): number {
    return this.#tail.length;
  }

  /** When the first record was written that the store does not have. */
  get unflushedSince(): number | undefined {
    return this.#tail[0]?.at;
  }

  /** Undefined where its row says it already. */
  get version(): number | undefined {
    return this.#version === this.#rowVersion ? undefined : this.#version;
  }

  standsUnder(version: number): void {
    this.#version = version;
  }

  /** Nothing was recorded since it was claimed. */
  get isUntouched(): boolean {
    return this.#lastSeq === this.#fromSeq;
  }

  isCurrent(aloneMs?: number): boolean {
    if (this.#keeper.isCurrent()) return true;
    if (aloneMs === undefined || !this.#keeper.isCurrent(aloneMs)) return false;
    this.hasGoneAlone = true;
    return true;
  }

  mayRetry(): boolean {
    return this.#retries < this.#retriesLeft;
  }

  whenCurrent(): Promise<boolean> {
    return this.#keeper.whenCurrent(this);
  }

  flushed(): Promise<void> {
    return this.isOver ? Promise.resolve() : this.#keeper.flush(this);
  }

  recorded(record: WrittenRecord): void {
    // It was on its way to the disk when the run was lost: nobody will ever ask for it. Or the store
    // had it before.
    if (this.isOver || record.seq <= this.#lastSeq) return;
    this.#tail.push(record);
    this.#count(record);
    this.#keeper.grew(this);
  }

  #count(record: WrittenRecord): void {
    this.read = undefined;
    this.#lastSeq = record.seq;
    this.#lastHash = record.hash;
    if (record.event === 'FAILED' || record.event === 'EXHAUSTED') this.#retries++;
    this.#hasCompletedStep ||= hasLeft(this.#step, record.state);
    this.#step = stepOf(record.state);
  }

  begin(): PersistTx {
    return this.#keeper.persisting.begin();
  }

  /** The store has the record first, with what persist has written; then this disk has it. */
  async commit(
    tx: PhaseTx,
    record: WrittenRecord,
    ending: Ending | undefined,
  ): Promise<'stood' | 'lost'> {
    if (this.isOver) return 'lost';
    const tail = this.#tailWith(record);
    const { seq: lastSeq, hash: lastHash } = record;
    const persisted: Persisted = ending
      ? { ...this.#endOf(ending), tail, lastSeq, lastHash, hasCompletedStep: true }
      : { ...this.claim, to: 'claimed', tail, lastSeq, lastHash };
    const answer = await (tx as PersistTx).commit(persisted, () => this.isOver);
    if (this.isOver) return 'lost';
    if (answer === 'lost') {
      this.#keeper.persisting.lost(this);
      return 'lost';
    }
    this.#keeper.persisting.stored(this.archived(lastSeq));
    this.#prevHash = lastHash;
    this.#count(record);
    this.#isStored = ending !== undefined;
    return 'stood';
  }

  #tailWith(record: WrittenRecord): Flush {
    const tail = segmentOf(this.claim, this.#prevHash, [...this.#tail, record])!;
    const { version } = this;
    return version === undefined ? tail : { ...tail, version };
  }

  /** What the store does not have, as one segment. */
  tail(): Flush | undefined {
    const tail = segmentOf(this.claim, this.#prevHash, this.#tail);
    const { version } = this;
    return tail && version !== undefined ? { ...tail, version } : tail;
  }

  /** The store has everything up to this record. Answers how many that were. */
  archived(seq: number): number {
    const index = this.#tail.findLastIndex((record) => record.seq <= seq);
    if (index < 0) return 0;
    this.#prevHash = this.#tail[index]!.hash;
    this.#tail = this.#tail.slice(index + 1);
    return index + 1;
  }

  /** The number of the last record that the store has, as far as is known here. */
  get flushedSeq(): number {
    return this.#lastSeq - this.#tail.length;
  }
  get flushedHash(): string {
    return this.#prevHash;
  }

  ended(ending: Ending): void {
    const end = this.#endOf(ending);
    if (!this.#isStored) return this.#settle(end);
    if (this.isOver) return;
    this.isOver = true;
    this.#keeper.persisting.settled(this, end.to);
  }

  #endOf(ending: Ending): Settlement {
    const { outcome, output } = ending;
    // Written out: nearly every settlement is one of these, and to copy others into it costs more
    // than the rest.
    return {
      task: this.claim.task,
      generation: this.claim.generation,
      epoch: this.claim.epoch,
      tail: this.tail(),
      lastSeq: this.#lastSeq,
      lastHash: this.#lastHash,
      retriesAdd: this.#retries,
      hasCompletedStep: this.#hasCompletedStep,
      version: this.version,
      to: endStatusOf(ending),
      outcome,
      result: output === undefined ? undefined : JSON.stringify(output),
      error: endErrorOf(ending),
    };
  }

  parked(waitFor: 'sleep' | 'retry' | 'throttle', afterMs: number): void {
    this.#settle({ ...this.#leaving(), to: 'waiting', waitFor, afterMs: Math.max(0, afterMs) });
  }

  released(): void {
    this.#settle({ ...this.#givingBack(), to: 'pending' });
  }

  /** This pod failed to take it, and the run is not to blame. */
  rested(): void {
    this.#settle({ ...this.#givingBack(), to: 'waiting', waitFor: 'retry', afterMs: FAULT_MS });
  }

  blocked(reason: string, waitsFor?: 'key'): void {
    if (!this.isOver) this.#keeper.blocked(this, reason, waitsFor);
  }

  /** Whoever has the key goes on with it: here it is only left alone. */
  sealed(): void {
    const [waitFor, afterMs] = ['key', BLOCKED_MS] as const;
    this.#settle({ ...this.#givingBack(), to: 'waiting', waitFor, afterMs });
  }

  /** Nobody can go on with it for now. */
  shelved(): void {
    // Its row was wrong about it: whoever has the version that it is of may be there.
    if (this.version !== undefined) return this.released();
    const [waitFor, afterMs] = ['version', BLOCKED_MS] as const;
    this.#settle({ ...this.#givingBack(), to: 'waiting', waitFor, afterMs });
  }

  quarantined(reason: string): void {
    this.fail('aborted', { name: 'Quarantined', code: 'FLEETQ_QUARANTINED', message: reason });
  }

  /** Ends the task without a record: nothing of it could be run. */
  fail(outcome: string, info: ErrorInfo): void {
    const [result, error] = [undefined, JSON.stringify(info)];
    this.#settle({ ...this.#leaving(), to: 'failed', outcome, result, error });
  }

  /**
   * Who has recorded nothing leaves it as it was: what its last record waits for has not come to its
   * end by having been looked at here.
   */
  #givingBack() {
    const { isUntouched } = this;
    return { ...this.#leaving(), ...(isUntouched ? this.#left : undefined), isUntouched };
  }

  #leaving() {
    return {
      ...this.claim,
      tail: this.tail(),
      lastSeq: this.#lastSeq,
      lastHash: this.#lastHash,
      retriesAdd: this.#retries,
      hasCompletedStep: this.#hasCompletedStep,
      version: this.version,
    };
  }

  #settle(settlement: Settlement): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#keeper.settle(this, settlement);
  }
}
