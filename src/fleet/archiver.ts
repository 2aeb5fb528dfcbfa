/**
 * Write-behind: records of runs that go on for a while reach the store every few seconds, so that
 * another pod can go on from there. What a run writes before it is settled goes with its settlement.
 */
import { type Cancel, type Clock, describeError, jittered, type Random } from '../ground/index.ts';
import type { ArchiveAnswer, Segment, Store } from '../store/index.ts';
import { isHeard, tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import type { Holdings } from './holdings.ts';

const EARLY_COUNT = 5_000;
const BATCH_COUNT_MAX = 500;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const RETRY_MS = 500;

export interface ArchiverPorts {
  readonly store: Pick<Store, 'archive'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly holdings: Holdings;
  readonly everyMs: number;
  /** The store holds other records under the same numbers: this run cannot go on here. */
  readonly onForked: (held: HeldRun, reason: string) => void;
}

export class Archiver {
  readonly #ports: ArchiverPorts;
  readonly #waiters = new Map<HeldRun, (() => void)[]>();
  #cancel: Cancel | undefined;
  #flushing: Promise<void> | undefined;
  #isStopped = false;
  /** What was flushed since the last heartbeat that was taken. */
  readonly #unproved: { readonly held: HeldRun; readonly seq: number; readonly atMs: number }[] =
    [];
  /** When everybody's records were last sent, not only those somebody waited for. */
  #sentAllMs = Number.NEGATIVE_INFINITY;

  constructor(ports: ArchiverPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#flushAfter(this.#ports.everyMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    for (const waiters of this.#waiters.values()) for (const resume of waiters) resume();
    this.#waiters.clear();
  }

  /** A run has a record that the store does not have. */
  grew(): void {
    if (this.#ports.holdings.unflushed >= EARLY_COUNT && !this.#flushing) this.#flushAfter(0);
  }

  /** Resolves when the store has what the run has now; for phases that must not be repeated. */
  flush(held: HeldRun): Promise<void> {
    if (this.#isStopped || held.unflushed === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(held);
      if (waiters) waiters.push(resolve);
      else this.#waiters.set(held, [resolve]);
      if (!this.#flushing) this.#flushAfter(0);
    });
  }

  /** Everything that is in hand, once: for a pod that is about to leave. */
  async flushNow(): Promise<void> {
    await this.#flushing;
    this.#cancel?.();
    this.#sentAllMs = Number.NEGATIVE_INFINITY;
    if (!this.#isStopped) await this.#flushAll();
  }

  #flushAfter(ms: number): void {
    if (this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(
      ms,
      () => {
        this.#flushing ??= this.#flushAll().finally(() => {
          this.#flushing = undefined;
          this.#flushAfter(this.#waiters.size > 0 ? 0 : this.#ports.everyMs);
        });
      },
      { idle: true },
    );
  }

  async #flushAll(): Promise<void> {
    const { clock, holdings, everyMs } = this.#ports;
    const nowMs = clock.monotonicMs();
    // Those who wait come first; but where somebody always waits, the others must not wait for ever.
    const isForAll = this.#waiters.size === 0 || nowMs - this.#sentAllMs >= everyMs;
    const runs = new Set([...this.#waiters.keys(), ...(isForAll ? holdings.all() : [])]);
    for (const batch of batchesOf([...runs])) {
      if (this.#isStopped || !(await this.#send(batch))) return;
    }
    if (isForAll) this.#sentAllMs = nowMs;
    // What was settled meanwhile took its records along.
    for (const held of [...this.#waiters.keys()]) this.#resumeIfStored(held);
  }

  async #send(batch: readonly Pending[]): Promise<boolean> {
    let answers: readonly ArchiveAnswer[];
    const { clock } = this.#ports;
    const sentMs = clock.monotonicMs();
    try {
      answers = await this.#ports.store.archive(batch.map(({ segment }) => segment));
    } catch (error) {
      tell('store.failed', () => ({ what: 'archive', error: describeError(error) }));
      const waitMs = jittered(RETRY_MS, this.#ports.random.fraction());
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
      return false;
    }
    const elapsedMs = clock.monotonicMs() - sentMs;
    const byTask = new Map(answers.map((answer) => [answer.task, answer]));
    for (const { held, segment } of batch) {
      const answer = byTask.get(held.claim.task);
      if (answer && answer.kind !== 'held') this.#ports.onForked(held, answer.reason);
      else this.#archived(held, segment.lastSeq);
      this.#resumeIfStored(held);
    }
    tell('archive.flushed', () => ({
      runs: batch.length,
      elapsedMs,
      tasks: batch.map(({ held: { claim } }) => ({
        run: claim.task,
        generation: claim.generation,
      })),
    }));
    return true;
  }

  #archived(held: HeldRun, seq: number): void {
    const { holdings, clock } = this.#ports;
    holdings.unflushed -= held.archived(seq);
    if (!isHeard('run.archived')) return;
    this.#unproved.push({ held, seq, atMs: clock.monotonicMs() });
  }

  /**
   * A heartbeat that was sent then was taken. What was flushed before that is in the history for good;
   * before it is known, somebody may have taken the runs over who has not seen it.
   */
  proved(sentMs: number): void {
    const later = this.#unproved.findIndex(({ atMs }) => atMs >= sentMs);
    const proved = this.#unproved.splice(0, later < 0 ? this.#unproved.length : later);
    for (const { held, seq } of proved) {
      const { task: run, generation } = held.claim;
      if (!held.isOver) tell('run.archived', () => ({ run, generation, seq }));
    }
  }

  /** A record may have been added while an earlier part was on its way: that one is waited for. */
  #resumeIfStored(held: HeldRun): void {
    if (!held.isOver && held.unflushed > 0) return;
    const waiters = this.#waiters.get(held) ?? [];
    this.#waiters.delete(held);
    for (const resume of waiters) resume();
  }
}

interface Pending {
  readonly held: HeldRun;
  readonly segment: Segment;
}

/** Lazily, so that a segment holds what is there when it is sent. */
function* batchesOf(runs: readonly HeldRun[]): Iterable<readonly Pending[]> {
  let batch: Pending[] = [];
  let bytes = 0;
  for (const held of runs) {
    const segment = held.isOver ? undefined : held.tail();
    if (!segment) continue;
    batch.push({ held, segment });
    bytes += segment.events.length;
    if (batch.length < BATCH_COUNT_MAX && bytes < BATCH_BYTES_MAX) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
