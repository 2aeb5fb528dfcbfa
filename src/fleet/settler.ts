/**
 * Ends, parks and releases runs in the store, many in one statement: whatever was handed in while one
 * batch was on its way goes with the next. A settlement is tried until the store has answered; the
 * claim's fence decides whether it still counts.
 */
import { type Cancel, type Clock, describeError, pause, type Random } from '../ground/index.ts';
import type { PodId, SettleAnswer, Settlement, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import { Ladder } from './ladder.ts';
import { tellPaused } from './tell-taken.ts';

const BATCH_COUNT_MAX = 500;
/** A statement of several megabytes is slow to send and to parse: a batch is cut before that. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** The longest rest of one that cannot be written for something in its own row. */
const REST_MS_MAX = 5_000;

export interface SettlerPorts {
  readonly store: Pick<Store, 'settle'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly pod: PodId;
  /** The store has said that it has this. */
  readonly onStood?: ((settlement: Settlement, held: HeldRun) => void) | undefined;
  /**
   * The store has answered: whatever the answer was, this is settled no more. `lost` are those of them
   * whose claim did not stand.
   */
  readonly onOver: (held: readonly HeldRun[], lost: ReadonlySet<HeldRun>) => void;
}

interface Waiting {
  readonly held: HeldRun;
  readonly settlement: Settlement;
  /** It stands for one that the store could not hold. */
  readonly isInstead?: boolean;
  /** How long it rests before it is sent again; undefined where it never had to. */
  ladder?: Ladder;
}

export class Settler {
  readonly #ports: SettlerPorts;
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;
  /** Those whose rows cannot be written just now, each with its timer: the others go on meanwhile. */
  readonly #resting = new Map<Waiting, Cancel>();
  #onRested: (() => void)[] = [];
  #isStopped = false;

  constructor(ports: SettlerPorts) {
    this.#ports = ports;
  }

  get waiting(): number {
    return this.#waiting.length + this.#resting.size;
  }

  push(held: HeldRun, settlement: Settlement): void {
    this.#push({ held, settlement });
  }

  #push(waiting: Waiting): void {
    if (this.#isStopped) return;
    this.#waiting.push(waiting);
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when everything handed in so far has been answered, or this was stopped. */
  async idle(): Promise<void> {
    while (this.#sending || this.#resting.size > 0) {
      await (this.#sending ?? new Promise<void>((resolve) => this.#onRested.push(resolve)));
    }
  }

  /** Nothing is sent any more: the pod has been taken for dead, or its process ends. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
    for (const cancel of this.#resting.values()) cancel();
    this.#resting.clear();
    this.#tellRested();
  }

  #tellRested(): void {
    for (const resolve of this.#onRested.splice(0)) resolve();
  }

  /** Sends it again after a while that grows. */
  #rest(waiting: Waiting): void {
    const { clock, random } = this.#ports;
    waiting.ladder ??= new Ladder(REST_MS_MAX);
    const restMs = waiting.ladder.next(() => random.fraction());
    const cancel = clock.after(restMs, () => {
      this.#resting.delete(waiting);
      this.#push(waiting);
      this.#tellRested();
    });
    this.#resting.set(waiting, cancel);
  }

  async #sendAll(): Promise<void> {
    const { clock, random } = this.#ports;
    const ladder = new Ladder();
    // What ends in the same turn of the loop goes together.
    await new Promise<void>((resolve) => clock.soon(resolve));
    while (this.#waiting.length > 0 && !this.#isStopped) {
      const batch = this.#nextBatch();
      const sentMs = clock.monotonicMs();
      let answers: readonly SettleAnswer[];
      try {
        answers = await this.#ports.store.settle(
          this.#ports.pod,
          batch.map(({ settlement }) => settlement),
        );
      } catch (error) {
        tell('store.failed', () => ({ what: 'settle', error: describeError(error) }));
        await pause(
          clock,
          ladder.next(() => random.fraction()),
        );
        continue;
      }
      ladder.reset();
      const elapsedMs = clock.monotonicMs() - sentMs;
      tell('settle.answered', () => ({ tasks: batch.length, elapsedMs }));
      if (!this.#isStopped) this.#answered(batch, answers);
    }
    this.#sending = undefined;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    const cut = this.#waiting.findIndex(({ settlement }, index) => {
      bytes += sizeOf(settlement);
      return index > 0 && (index >= BATCH_COUNT_MAX || bytes > BATCH_BYTES_MAX);
    });
    return cut < 0 ? this.#waiting.slice() : this.#waiting.slice(0, cut);
  }

  #answered(batch: readonly Waiting[], answers: readonly SettleAnswer[]): void {
    this.#waiting = this.#waiting.slice(batch.length);
    const byTask = new Map(answers.map((answer) => [answer.task, answer]));
    const over: HeldRun[] = [];
    const lost = new Set<HeldRun>();
    for (const waiting of batch) {
      const { held, settlement } = waiting;
      const answer = byTask.get(held.claim.task);
      if (answer?.kind === 'refused') {
        this.#refused(waiting, answer.reason);
        continue;
      }
      if (answer?.kind === 'locked') {
        this.#rest(waiting);
        continue;
      }
      if (answer?.kind !== 'stood' && answer?.kind !== 'done') {
        lost.add(held);
        tell('claim.lost', () => ({ ...held.claim, run: held.claim.task, what: settlement.to }));
      } else {
        this.#orReport(() => this.#ports.onStood?.(settlement, held));
        const { task: run, ...of } = held.claim;
        tell('task.settled', () => ({ run, ...of, to: settlement.to }));
        if (held.isPausing && !('outcome' in settlement)) tellPaused(run);
      }
      over.push(held);
    }
    if (over.length > 0) this.#orReport(() => this.#ports.onOver(over, lost));
  }

  /** The store has answered for all of a batch: a defect over one of them must not lose the rest. */
  #orReport(act: () => void): void {
    try {
      act();
    } catch (error) {
      const { pod } = this.#ports;
      tell('pod.faulted', () => ({ pod, what: 'settle', error: describeError(error) }));
    }
  }

  /** The store cannot hold what the run put out: then that is how the task ends. */
  #refused(waiting: Waiting, reason: string): void {
    const { held, settlement } = waiting;
    const refusal = { name: 'StoreRefusedError', code: 'FLEETQ_STORE_REFUSED' };
    if (waiting.isInstead) {
      // Nothing is left to leave out, so the row itself is at fault: somebody has to look at it.
      const message = `task ${held.claim.task} cannot be settled: ${reason}`;
      tell('store.failed', () => ({ what: 'settle', error: { ...refusal, message } }));
      return this.#rest(waiting);
    }
    const message = `the store refused what the run put out: ${reason}`;
    const error = { ...refusal, message };
    const { tail } = settlement;
    // The history ends where the store has it: the rest may be what it cannot hold.
    const stored = tail && { lastSeq: tail.firstSeq - 1, lastHash: tail.prevHash };
    this.#push({
      held,
      settlement: {
        ...settlement,
        to: 'failed',
        outcome: 'aborted',
        result: undefined,
        error: JSON.stringify(error),
        ...stored,
        tail: undefined,
      },
      isInstead: true,
    });
  }
}

function sizeOf(settlement: Settlement): number {
  const result = 'result' in settlement ? (settlement.result?.length ?? 0) : 0;
  return 300 + result + (settlement.tail?.events.length ?? 0);
}
