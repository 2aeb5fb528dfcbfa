/**
 * What a rule of the history checker is: a name, the promise in words, which invariants it shows, and
 * a look that counts what it looked at. A rule that has looked at nothing has shown nothing.
 */
import type { RunId } from '../../src/ground/index.ts';
import type { Plan } from '../../src/machine/index.ts';
import type { History } from './accepted-history.ts';
import type { Calm } from './calm.ts';
import type {
  Acknowledgement,
  CancelCall,
  Change,
  Effect,
  EndRow,
  PodLife,
  StoreCall,
  TimedSegment,
} from './evidence.ts';
import type { EvidenceBook } from './evidence-book.ts';

/** Under which count a broken rule is told. */
export type Weight = 'lost' | 'doubled' | 'zombieWrites' | 'stuck' | 'violations';

/** How long things may take. */
export interface Limits {
  readonly silenceMs: number;
  readonly heartbeatMs: number;
  /** What a busy machine, the sweep and its jitter may add to that. */
  readonly boundMs: number;
}

/** One generation of a task, with all that is known of it. */
export interface Life {
  readonly task: RunId;
  readonly generation: number;
  /** The last one, whose end the row has. */
  readonly row: EndRow | undefined;
  readonly end: LifeEnd;
  readonly plan: Plan;
  readonly changes: readonly Change[];
  readonly segments: readonly TimedSegment[];
  /** Without probes, in the order of their times. */
  readonly effects: readonly Effect[];
  /** Undefined where nothing was recorded, or what was cannot be read. */
  readonly history: History | undefined;
  readonly broken: string | undefined;
  /** When the claim of each epoch was given, and to whom. */
  readonly claims: ReadonlyMap<number, { readonly at: number; readonly owner: string }>;
}

export interface LifeEnd {
  readonly status: string;
  readonly outcome: string | undefined;
  readonly hash: string | undefined;
}

/** What is known beside the task that is looked at. */
export interface Around {
  readonly pods: ReadonlyMap<string, PodLife>;
  readonly limits: Limits;
  readonly calm: Calm;
  readonly wasSkewed: (pod: string, from: number, to: number) => boolean;
  /** Machines some of whose tasks fail, as they are made to. */
  readonly mayFail: ReadonlySet<string>;
  readonly acknowledged: readonly Acknowledgement[];
  readonly cancels: readonly CancelCall[];
  /** Of all generations of the task. */
  readonly changes: readonly Change[];
  /** Of sampled tasks only. */
  readonly calls: readonly StoreCall[] | undefined;
}

export interface Finding {
  readonly looked: number;
  /** In words. */
  readonly faults: readonly string[];
  /** What could not be looked at to the end. */
  readonly undecided?: number | undefined;
}

export interface Rule {
  readonly name: string;
  readonly says: string;
  readonly proves: readonly string[];
  readonly weight: Weight;
  readonly ofLife?: ((life: Life, around: Around) => Finding) | undefined;
  /** Once all tasks were seen. */
  readonly ofAll?: ((book: EvidenceBook) => Finding) | undefined;
}

export interface RuleReport {
  readonly name: string;
  readonly proves: readonly string[];
  readonly looked: number;
  readonly broken: number;
  readonly undecided: number;
}

const ENDED = ['completed', 'failed', 'cancelled'];

export function isEnded(status: string | undefined): boolean {
  return status !== undefined && ENDED.includes(status);
}

/** Looks at each of these; a fault is what `look` has to say against it. */
export function lookAtEach<T>(
  things: Iterable<T>,
  look: (thing: T) => string | undefined,
): Finding {
  let looked = 0;
  const faults: string[] = [];
  for (const thing of things) {
    looked += 1;
    const fault = look(thing);
    if (fault !== undefined) faults.push(fault);
  }
  return { looked, faults };
}

export function together(...findings: readonly Finding[]): Finding {
  return {
    looked: findings.reduce((sum, { looked }) => sum + looked, 0),
    faults: findings.flatMap(({ faults }) => faults),
  };
}

/** A settlement: only one moves the end of the history. */
export function isSettlement({ hash, wasHash, wasStatus }: Change): boolean {
  return hash !== wasHash && hash !== undefined && wasStatus === 'claimed';
}
