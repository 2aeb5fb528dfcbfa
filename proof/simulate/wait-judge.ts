/**
 * I31: no wait is cut short, be it a sleep, a backoff or a `retryAfter`, whoever goes on with the run.
 * The true time from the record that waits to what comes after it is held against the length that the
 * record gave, and that length against what the machine had asked for. Clocks that were set, or that
 * differ, decide by themselves: such a wait is counted, and not judged.
 *
 *   FAILED, dueAt ── TAKEN ── TAKEN ──▶ the next phase, or the end of the sleep
 *   └──────── at least dueAt - at ────┘
 */
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { Prepared } from '../../src/journal/record.ts';
import { BEGIN_MS, type Process } from './process.ts';
import { askedFor } from './shapes.ts';
import type { World } from './world.ts';

/** A clock that is right is shown in whole milliseconds. */
const ROUNDED_MS = 2;
/** What a monotonic clock may go wrong by, which decides over short waits. */
const DRIFT = 0.05;

interface Holder {
  readonly process: Process;
  /** How far its wall clock was from the true one. */
  readonly offMs: number;
}

interface Wait {
  readonly beganMs: number;
  /** When whoever waits was told how long the run has at most, by the store's clock. */
  readonly toldMs: number;
  readonly lengthMs: number;
  readonly isSleep: boolean;
  readonly holders: readonly Holder[];
}

/** A claim is on record so much later, at most. */
const CLAIM_MS = 1_000;

/** Events after which nobody may have been waiting any more. */
const ENDS_WAIT = ['DONE', 'INTERRUPTED'];

export class WaitJudge {
  readonly #world: World;
  /** By the hash of the record that waits, or of one that only says who goes on waiting. */
  readonly #waits = new Map<string, Wait>();
  /** By run: when its holder got it. */
  readonly #gotMs = new Map<string, number>();
  /** When somebody gave a task another time than its own. */
  readonly #rescheduled = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A record is on its way to the disk of this process; `run` as it was before. */
  appended(process: Process, run: LiveRun | undefined, { entry, hash }: Prepared): void {
    const { event, prevHash } = entry;
    const wait = this.#waits.get(prevHash);
    if (event.type === 'STARTED' || event.type === 'TAKEN') {
      this.#gotMs.set(entry.run, this.#world.nowMs);
    }
    if ('dueAt' in event) {
      const lengthMs = event.dueAt - entry.at;
      if (run) this.#asAsked(run, event.type, lengthMs, entry.at);
      const isSleep = event.type === 'ASLEEP';
      const holders = [this.#holder(process)];
      const beganMs = this.#world.nowMs;
      const toldMs = (this.#gotMs.get(entry.run) ?? beganMs) - CLAIM_MS;
      this.#waits.set(hash, { beganMs, toldMs, lengthMs, isSleep, holders });
    } else if (wait && (event.type === 'TAKEN' || event.type === 'ADVANCED')) {
      this.#waits.set(hash, { ...wait, holders: [...wait.holders, this.#holder(process)] });
    }
    const isOver = wait && (wait.isSleep || event.type === 'INTERRUPTED');
    if (isOver && ENDS_WAIT.includes(event.type)) this.#over(process, entry.run, wait, event.type);
  }

  /** A handler is called, and this is the run's last record. */
  begins(process: Process, run: string, lastHash: string, what: string): void {
    const wait = this.#waits.get(lastHash);
    if (wait) this.#over(process, run, wait, what);
  }

  rescheduled(task: string): void {
    this.#rescheduled.set(task, this.#world.nowMs);
  }

  #holder(process: Process): Holder {
    return { process, offMs: this.#offMs(process) };
  }

  #offMs(process: Process): number {
    return process.clock.now() - Math.floor(BEGIN_MS + this.#world.nowMs);
  }

  #over(process: Process, run: string, wait: Wait, what: string): void {
    const { beganMs, lengthMs } = wait;
    const elapsedMs = this.#world.nowMs - beganMs;
    if ((this.#rescheduled.get(run) ?? -1) >= beganMs) return;
    // What is parked waits by the store's clock, and no longer than its deadline by that.
    if (this.#world.storeSetMs >= wait.toldMs) return this.#world.count('waits by wrong clocks');
    if (!this.#isByOneClock(process, wait)) return this.#world.count('waits by wrong clocks');
    this.#world.count('judged waits');
    if (wait.holders.length > 1) this.#world.count('judged waits of several owners');
    if (elapsedMs >= lengthMs * (1 - DRIFT) - ROUNDED_MS) return;
    const how = `${process.name} went on with ${run} by ${what}`;
    const ms = `after ${elapsedMs.toFixed(0)} of ${lengthMs.toFixed(0)} ms`;
    this.#world.violate('I31', `${how} ${ms}`);
  }

  /** Whether everybody who has had a word in it had the same time, and has it still. */
  #isByOneClock(process: Process, { holders }: Wait): boolean {
    const ownMs = this.#offMs(process);
    const isNear = (offMs: number) => Math.abs(offMs - ownMs) <= ROUNDED_MS;
    return holders.every((holder) => isNear(holder.offMs) && isNear(this.#offMs(holder.process)));
  }

  /** What is recorded is what the machine asked for. */
  #asAsked({ plan, state, id }: LiveRun, type: string, lengthMs: number, at: number): void {
    const asked = askedFor(plan, state, type);
    if (!asked) return;
    this.#world.count('judged delays');
    const [minMs, maxMs] = asked;
    // Nobody waits beyond the run's deadline.
    const leftMs = (state.deadlineAt ?? Number.POSITIVE_INFINITY) - at;
    if (lengthMs >= Math.min(minMs, leftMs) && lengthMs <= maxMs + 1) return;
    const how = `asked for ${minMs} to ${maxMs} ms`;
    this.#world.violate('I31', `${id} ${how} in ${state.at}, and ${lengthMs} were recorded`);
  }
}
