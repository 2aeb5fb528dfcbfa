/** Runs as the engine would write them, record by record, for tests of the journal alone. */
import type { Clock, Json, RunId } from '../../src/ground/index.ts';
import { CHAIN_START, type Entry, type Journal } from '../../src/journal/index.ts';
import type { Ending, RunEvent } from '../../src/machine/index.ts';

/** The same ids, in the same order, in every process. */
export function runIdOf(index: number): RunId {
  return `01J${String(index).padStart(23, '0')}` as RunId;
}

/** Time stands where it is put; `soon` and `after` are the process's own. */
export function clockAt(now: number): Clock & { set(now: number): void } {
  let wall = now;
  return {
    now: () => wall,
    set: (to) => {
      wall = to;
    },
    monotonicMs: () => performance.now(),
    after(delayMs, act, options) {
      const timer = setTimeout(act, delayMs);
      if (options?.idle) timer.unref();
      return () => clearTimeout(timer);
    },
    soon: (act) => {
      setImmediate(act);
    },
  };
}

export interface RunOptions {
  readonly machine?: string;
  readonly key?: string;
  readonly input?: Json;
  readonly at?: number;
  /** Of a run that is held for a store. */
  readonly generation?: number;
  /** Of its claim, where it is held for a store. */
  readonly epoch?: number;
}

/** Writes one run's chain; each call resolves when its record is durable. */
export class RunWriter {
  readonly id: RunId;
  readonly #journal: Journal;
  readonly #options: RunOptions;
  readonly #startedAt: number;
  #seq = -1;
  #hash = CHAIN_START;

  constructor(journal: Journal, id: RunId, options: RunOptions = {}) {
    this.id = id;
    this.#journal = journal;
    this.#options = options;
    this.#startedAt = options.at ?? 1_000;
  }

  get seq(): number {
    return this.#seq;
  }

  start(): Promise<void> {
    const { machine = 'sample/one', key, input = { of: this.id }, generation } = this.#options;
    const opens = { machine, version: 1, key, generation };
    const event = {
      type: 'STARTED',
      ...opens,
      fingerprint: 'f0',
      input,
    } as const;
    return this.append(event, 'main.check', { opens });
  }

  done(state: string, output?: Json): Promise<void> {
    return this.append({ type: 'DONE', ...(output === undefined ? {} : { output }) }, state);
  }

  /** Fails and waits; with `hasTimer` a row in the journal's timers stands for the run. */
  fail(dueAt: number, hasTimer: boolean): Promise<void> {
    const error = { name: 'Error', message: `${this.id} failed` };
    const more = hasTimer ? { wakeAt: dueAt } : {};
    return this.append({ type: 'FAILED', error, dueAt }, 'main.work', more);
  }

  end(ending: Ending): Promise<void> {
    const { machine = 'sample/one', key, generation } = this.#options;
    const startedAt = this.#startedAt;
    const closes = { machine, version: 1, key, generation, startedAt, attempt: 2, ending };
    return this.append(eventOf(ending), ending.outcome, { closes, wakeAt: null });
  }

  async append(event: RunEvent, state: string, more: Partial<Entry> = {}): Promise<void> {
    const seq = ++this.#seq;
    const { hash } = await this.#journal.append({
      run: this.id,
      seq,
      at: this.#startedAt + seq,
      epoch: this.#options.epoch ?? this.#journal.boot,
      event,
      state,
      prevHash: this.#hash,
      ...more,
    });
    this.#hash = hash;
  }
}

function eventOf({ outcome, output, reason = '', kind = 'system', error }: Ending): RunEvent {
  const why = error ?? { name: 'Error', message: reason };
  switch (outcome) {
    case 'completed':
      return { type: 'DONE', output: output ?? null };
    case 'handedOff':
      return { type: 'HANDED_OFF', output: output ?? null, reason };
    case 'exhausted':
      return { type: 'EXHAUSTED', error: why };
    case 'timedOut':
      return { type: 'TIMED_OUT', error: why };
    case 'aborted':
      return { type: 'ABORTED', reason, kind };
    case 'cancelled':
      return { type: 'CANCELLED', reason };
  }
}
