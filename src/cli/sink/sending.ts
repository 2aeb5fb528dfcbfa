/** Rounds one after the other until somebody says stop: waits between them, and after what went wrong. */
import { type Cancel, type Clock, describeError, FleetqError } from '../../ground/index.ts';
import type { Forwarder, RoundAnswer, Sent } from '../../store/sink/forwarder.ts';

export interface SendingOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** After a failure: by then whatever was sent is over on the other side. */
  readonly retryMs: number;
  readonly isOnce: boolean;
  readonly forwarderWith: (onSent: (sent: Sent) => void) => Forwarder;
  readonly tell: (told: Readonly<Record<string, unknown>>) => void;
}

interface Counting {
  sent(sent: Sent): void;
  failed(code: string): void;
}

const HELD_LOOK_MS = 1_000;
const TELL_MS = 5_000;
/** A round that finds little has looked for it: no more than a tenth of the time is spent so. */
const IDLE_SHARE = 10;
const FEW_ROWS = 1_000;

export class Sending {
  metrics: Counting | undefined;
  readonly #options: SendingOptions;
  readonly #forwarder: Forwarder;
  #isStopped = false;
  #wake: (() => void) | undefined;
  #sum = { events: 0, tasks: 0 };
  #toldMs: number;
  #wasHeld = false;
  /** When the last look was taken up to which everything has been sent. */
  #lookedMs: number | undefined;

  constructor(options: SendingOptions) {
    this.#options = options;
    this.#toldMs = options.clock.monotonicMs();
    this.#forwarder = options.forwarderWith((sent) => this.#onSent(sent));
  }

  /** Since when the archive may lack something; undefined before a round has ended here. */
  get lagMs(): number | undefined {
    const { clock } = this.#options;
    return this.#lookedMs === undefined ? undefined : clock.monotonicMs() - this.#lookedMs;
  }

  stop(): void {
    this.#isStopped = true;
    this.#forwarder.stop();
    this.#wake?.();
  }

  async run(): Promise<void> {
    try {
      while (!this.#isStopped) {
        const waitMs = await this.#round();
        if (waitMs === undefined) return;
        await this.#pause(waitMs);
      }
    } finally {
      // Where that fails the lease runs out by itself.
      await this.#forwarder.free().catch(ignore);
    }
  }

  /** How long to wait before the next one; undefined where that was all. */
  async #round(): Promise<number | undefined> {
    const { clock, everyMs, isOnce } = this.#options;
    const begunMs = clock.monotonicMs();
    let answer: RoundAnswer;
    try {
      answer = await this.#forwarder.round();
    } catch (error) {
      return this.#onFailure(error);
    }
    if (answer.kind === 'stopped') return undefined;
    if (answer.kind === 'held') {
      if (!this.#wasHeld) this.#options.tell({ kind: 'held' });
      this.#wasHeld = true;
      return HELD_LOOK_MS;
    }
    this.#wasHeld = false;
    if (!answer.isResumed) this.#lookedMs = begunMs;
    this.#tell();
    if (answer.isResumed) return 0;
    if (isOnce) return undefined;
    const elapsedMs = clock.monotonicMs() - begunMs;
    return answer.rows < FEW_ROWS ? Math.max(everyMs, elapsedMs * IDLE_SHARE) : everyMs;
  }

  #onFailure(error: unknown): number {
    if (!(error instanceof FleetqError) || error.verdict !== 'retry') throw error;
    const { retryMs: againMs } = this.#options;
    const { message } = describeError(error);
    this.metrics?.failed(error.code);
    this.#options.tell({ kind: 'failed', code: error.code, message, againMs });
    return againMs;
  }

  #onSent(sent: Sent): void {
    this.metrics?.sent(sent);
    this.#sum.events += sent.events;
    if (sent.table === 'step_tracker') this.#sum.tasks += sent.rows;
    if (this.#options.clock.monotonicMs() - this.#toldMs >= TELL_MS) this.#tell();
  }

  #tell(): void {
    const { events, tasks } = this.#sum;
    this.#toldMs = this.#options.clock.monotonicMs();
    if (events + tasks === 0 && !this.#options.isOnce) return;
    this.#options.tell({ kind: 'sent', events, tasks, lagMs: this.lagMs });
    this.#sum = { events: 0, tasks: 0 };
  }

  #pause(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      let cancel: Cancel | undefined;
      this.#wake = () => {
        cancel?.();
        this.#wake = undefined;
        resolve();
      };
      cancel = this.#options.clock.after(ms, () => this.#wake?.());
    });
  }
}

function ignore(): void {}
