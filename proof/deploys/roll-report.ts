/** What came of rolling a fleet, counted; and whether everything that had to come up did. */
import type { Fate, Fault, Rule } from './roll-judge.ts';
import type { EndedTask } from './roll-tables.ts';

export interface RollFigures {
  readonly rolls: number;
  readonly pods: number;
  readonly seconds: number;
  readonly runs: number;
  readonly leastInFlight: number;
  /** Runs of which phases were run from both directories of code, under one version. */
  readonly continued: number;
  readonly advanced: number;
  readonly upgraded: number;
  /** Runs that had to wait for a version at least once; all of them have gone on. */
  readonly blocked: number;
  readonly drains: number;
  readonly drainMsMax: number;
  readonly broken: Readonly<Record<Rule, number>>;
  /** Some of the faults, in words. */
  readonly faults: readonly string[];
  /** What never came up: then nothing was shown. */
  readonly missed: readonly string[];
}

interface Circumstances {
  readonly rolls: number;
  readonly pods: number;
  readonly seconds: number;
  readonly leastInFlight: number;
  readonly drainsMs: readonly number[];
}

const FAULT_COUNT_TOLD = 20;

export class RollTally {
  #runs = 0;
  readonly #kinds = { continued: 0, advanced: 0, upgraded: 0, blocked: 0 };
  readonly #broken: Record<Rule, number> = {
    lost: 0,
    repeated: 0,
    'wrong definition': 0,
    unrecorded: 0,
    punished: 0,
    drain: 0,
  };
  readonly #faults: string[] = [];

  add(_task: EndedTask, { moves, isOfBoth, faults }: Fate, wasBlocked: boolean): void {
    this.#runs += 1;
    if (isOfBoth && moves.length === 0) this.#kinds.continued += 1;
    if (moves.includes('ADVANCED')) this.#kinds.advanced += 1;
    if (moves.includes('UPGRADED')) this.#kinds.upgraded += 1;
    if (wasBlocked) this.#kinds.blocked += 1;
    for (const fault of faults) this.fault(fault);
  }

  fault({ rule, what }: Fault): void {
    this.#broken[rule] += 1;
    if (this.#faults.length < FAULT_COUNT_TOLD) this.#faults.push(`${rule}: ${what}`);
  }

  figures({ drainsMs, ...of }: Circumstances): RollFigures {
    const missed = Object.entries(this.#kinds).flatMap(([kind, count]) =>
      count === 0 ? [kind] : [],
    );
    return {
      ...of,
      runs: this.#runs,
      ...this.#kinds,
      drains: drainsMs.length,
      drainMsMax: Math.round(Math.max(0, ...drainsMs)),
      broken: this.#broken,
      faults: this.#faults,
      missed,
    };
  }
}

export function isGood({ broken }: RollFigures): boolean {
  return Object.values(broken).every((count) => count === 0);
}
