/**
 * Ends, parks and releases runs in the store, many in one statement: whatever was handed in while one
 * batch was on its way goes with the next. A settlement is tried until the store has answered; the
 * claim's fence decides whether it still counts.
 */
import { type Clock, describeError, pause, type Random } from '../ground/index.ts';
import type { PodId, SettleAnswer, Settlement, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import { Ladder } from './ladder.ts';

const BATCH_COUNT_MAX = 500;
/** A statement of several megabytes is slow to send and to parse: a batch is cut before that. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;

export interface SettlerPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly pod: PodId;
  /**
   * The store has answered: whatever the answer was, this is settled no more. `lost` are those of them
   * whose claim did not stand.
   */
  readonly onOver: (held: readonly HeldRun[], lost: ReadonlySet<HeldRun>) => void;
}

interface Waiting {
  readonly held: HeldRun;
  readonly settlement: Settlement;
}

export class Settler {
  readonly #ports: SettlerPorts;
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;
  #isStopped = false;

  constructor(ports: SettlerPorts) {
    this.#ports = ports;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  push(held: HeldRun, settlement: Settlement): void {
    if (this.#isStopped) return;
    this.#waiting.push({ held, settlement });
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when everything handed in so far has been answered, or this was stopped. */
  async idle(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  /** Nothing is sent any more: the pod has been taken for dead, or its process ends. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  async #sendAll(): Promise<void> {
    const { clock, random } = this.#ports;
    const ladder = new Ladder();
    // What ends in the same turn of the loop goes together.
    await new Promise<void>((resolve) => clock.soon(resolve));
    while (this.#waiting.length > 0 && !this.#isStopped) {
      const batch = this.#nextBatch();
      try {
        const answers = await this.#ports.store.settle(
          this.#ports.pod,
          batch.map(({ settlement }) => settlement),
        );
        ladder.reset();
        if (!this.#isStopped) this.#answered(batch, answers);
      } catch (error) {
        tell('store.failed', () => ({ what: 'settle', error: describeError(error) }));
        await pause(
          clock,
          ladder.next(() => random.fraction()),
        );
      }
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
    for (const { held, settlement } of batch) {
      const answer = byTask.get(held.claim.task);
      if (answer?.kind === 'refused') {
        this.#failInstead(held, settlement, answer.reason);
        continue;
      }
      if (answer?.kind !== 'stood' && answer?.kind !== 'done') {
        lost.add(held);
        tell('claim.lost', () => ({ ...held.claim, run: held.claim.task, what: settlement.to }));
      } else {
        tell('task.settled', () => ({ run: held.claim.task, to: settlement.to }));
      }
      over.push(held);
    }
    if (over.length > 0) this.#ports.onOver(over, lost);
  }

  /** The store cannot hold what the run put out: then that is how the task ends. */
  #failInstead(held: HeldRun, settlement: Settlement, reason: string): void {
    const message = `the store refused what the run put out: ${reason}`;
    const error = { name: 'StoreRefusedError', code: 'FLEETQ_STORE_REFUSED', message };
    const { tail } = settlement;
    // The history ends where the store has it: the rest may be what it cannot hold.
    const stored = tail && { lastSeq: tail.firstSeq - 1, lastHash: tail.prevHash };
    this.push(held, {
      ...settlement,
      to: 'failed',
      outcome: 'aborted',
      result: undefined,
      error: JSON.stringify(error),
      ...stored,
      tail: undefined,
    });
  }
}

function sizeOf(settlement: Settlement): number {
  const result = 'result' in settlement ? (settlement.result?.length ?? 0) : 0;
  return 300 + result + (settlement.tail?.events.length ?? 0);
}
