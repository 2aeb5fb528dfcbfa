/**
 * What is known of a run when it is to be explained: gathered in one place, so that the explanation
 * itself is a pure function of it.
 */
import type { RunSummary } from '../../engine/index.ts';
import type { ErrorInfo, RunId } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import type { Gate, PodRow, TaskRow } from '../../store/index.ts';
import type { ThrottleView } from '../../throttle/index.ts';

/** Records that a former owner has written and that count for nothing. */
export interface Stray {
  readonly epoch: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Where they lead. */
  readonly states: readonly string[];
}

/** What a person did to it. */
export interface Done {
  readonly at: number;
  readonly who: string;
  readonly what: string;
}

export interface Facts {
  readonly id: RunId;
  /** The store's clock where there is a row, else that of this host. */
  readonly now: number;
  readonly row: TaskRow | undefined;
  /** What failed, as it is on the row. */
  readonly failure: unknown;
  /** The run as a journal here has it. */
  readonly run: RunSummary | undefined;
  /** Whether a process holds that journal. */
  readonly isHeld: boolean;
  /** Those that count, in order. */
  readonly records: readonly StoredRecord[];
  /** Why they could not be read. */
  readonly unread: ErrorInfo | undefined;
  readonly strays: readonly Stray[];
  /** Oldest first. */
  readonly pods: readonly PodRow[];
  /** After this silence a pod that gave none of its own is taken for dead. */
  readonly silentMs: number;
  /** Every route that the fleet has ever had. */
  readonly known: readonly string[];
  /** How many of its route are more urgent; looked for only where it is due. */
  readonly ahead: { readonly count: number; readonly isExact: boolean } | undefined;
  /** How APIs are; looked for only where it is due. */
  readonly throttles?: readonly ThrottleView[] | undefined;
  /** Those that other runs of its machine are parked for, the most first; looked for likewise. */
  readonly kin?: readonly string[] | undefined;
  /** What may be in its way besides itself; looked for only where nobody has it. */
  readonly gate: Gate | undefined;
  /** Newest first; none where whoever asks may not see them. */
  readonly deeds: readonly Done[];
  /** The store does not answer; for how long past its deadline this pod has been alone, if it is. */
  readonly away?: { readonly aloneMs: number | undefined } | undefined;
  /** Of the phase it is at, where its machine is known here. */
  readonly attemptMax: number | undefined;
}

/** Facts of a task of the fleet. */
export type TaskFacts = Facts & { readonly row: TaskRow };

export function isOfTask(facts: Facts): facts is TaskFacts {
  return facts.row !== undefined;
}
