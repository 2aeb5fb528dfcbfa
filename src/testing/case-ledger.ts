/**
 * The witness of a crash test: what really happened in the processes of one case, a line each, synced
 * before the process goes on. It lies outside the data directory, so that what the machine did is
 * told by something else than FleetQ's own tables.
 */
import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { ErrorInfo, Json } from '../ground/index.ts';
import type { EventType, Outcome, Phase } from '../machine/index.ts';

/** One call of a phase's function. */
export interface Call {
  readonly run: string;
  readonly step: string;
  /** `probe` where `check` was asked again before a phase is repeated. */
  readonly phase: Phase | 'probe';
  readonly attempt: number;
  /** As the handler got them. */
  readonly idempotencyKey: string;
  readonly fencingToken: number;
}
export interface KillPoint {
  readonly when: 'before' | 'after';
  /** Counts the records that the process writes, from 1. */
  readonly nth: number;
}
export interface RecordSeen {
  readonly nth: number;
  readonly event: EventType;
  /** The state that the record leads to. */
  readonly state: string;
}
export interface RecordTold extends Omit<RecordSeen, 'nth'> {
  readonly seq: number;
  readonly epoch: number;
}
/** How the run ended, as its own process tells it. */
export interface Ended {
  readonly run: string;
  /** The runs that the journal held when it was opened. */
  readonly found: readonly string[];
  readonly machine: string;
  /** The machine's phases and sleeps in their order, as states are called. */
  readonly places: readonly string[];
  readonly status: string;
  readonly outcome?: Outcome | undefined;
  readonly output?: Json | undefined;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly records: readonly RecordTold[];
}

/** `process` is 1 for the one that is to die, 2 for the one that goes on. */
export type Line = { readonly process: number } & (
  | ({ readonly at: 'entered' } & Call)
  | ({ readonly at: 'left'; readonly how: 'returned' | 'threw' } & Call)
  | ({ readonly at: 'recorded' } & RecordSeen)
  /** Nothing but a wait was left, so the clock was put forward; the next process goes on from here. */
  | { readonly at: 'leapt'; readonly aheadMs: number }
  | ({ readonly at: 'dying'; readonly when: KillPoint['when'] } & RecordSeen)
  | ({ readonly at: 'ended' } & Ended)
  | { readonly at: 'failed'; readonly error: ErrorInfo; readonly hint?: string | undefined }
);

type Unsigned<T> = T extends unknown ? Omit<T, 'process'> : never;

export class CaseLedger {
  readonly #fd: number;
  readonly #process: number;

  constructor(file: string, process: number) {
    this.#fd = openSync(file, 'a', 0o600);
    this.#process = process;
  }

  /** Durable when this returns. */
  write(line: Unsigned<Line>): void {
    writeSync(this.#fd, `${JSON.stringify({ process: this.#process, ...line })}\n`);
    fsyncSync(this.#fd);
  }
}

/** The whole lines; one that a kill cut short was never durable and says nothing. */
export function readLedger(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

export type LineAt<K extends Line['at']> = Extract<Line, { readonly at: K }>;

export function linesAt<K extends Line['at']>(lines: readonly Line[], at: K): LineAt<K>[] {
  return lines.filter((line): line is LineAt<K> => line.at === at);
}
