/** What a tracer knows of one run in hand. */
import type { Context, Span } from '@opentelemetry/api';
import type { RunId } from '../../ground/index.ts';
import type { FleetqEvents, OfPhase, PastRecord } from '../events.ts';
import type { SpanWriter } from './span-writer.ts';
import type { Whose } from './words.ts';

export interface LiveAttempt {
  readonly of: OfPhase;
  readonly span: Span;
  /** The record it stands on. */
  readonly seq: number;
  readonly hash: string;
  readonly startAt: number;
  elapsedMs: number | undefined;
  eventCount: number;
}

type Begun = Pick<
  FleetqEvents['run.recorded'],
  'run' | 'generation' | 'epoch' | 'machine' | 'version'
>;

export class Course {
  readonly run: RunId;
  readonly generation: number;
  readonly isHeld: boolean;
  epoch: number;
  machine: string;
  version: number;
  pod: string | undefined;
  /** What was stored with the run by whoever wanted it. */
  trace: string | undefined;
  attempt: LiveAttempt | undefined;
  /** What it has been through, until its next phase begins: an interruption is told from that. */
  past: PastRecord[] = [];
  seenAt: number | undefined;
  hasEnded = false;
  /** The span of the attempt that crashed, for the one that goes on with it. */
  crashed: string | undefined;
  #parent: Context | undefined;

  constructor(e: Begun) {
    this.run = e.run;
    this.generation = e.generation ?? 1;
    this.isHeld = e.generation !== undefined;
    this.epoch = e.epoch;
    this.machine = e.machine;
    this.version = e.version;
  }

  /** Whether this is another claim on it than the one that is known. */
  isOfOther(epoch: number): boolean {
    return this.isHeld && this.epoch !== epoch;
  }

  whose(pod: string | undefined): Whose {
    const { run, generation, machine, version } = this;
    return { run, generation, machine, version, pod: this.pod ?? pod };
  }

  parent(writer: SpanWriter): Context {
    this.#parent ??= writer.parentOf(this.whose(undefined), this.trace);
    return this.#parent;
  }

  /** Takes a record to what it has been through, each once. */
  remember(records: readonly PastRecord[]): void {
    const known = new Set(this.past.map(({ seq }) => seq));
    this.past.push(...records.filter(({ seq }) => !known.has(seq)));
    this.past.sort((a, b) => a.seq - b.seq);
  }
}
