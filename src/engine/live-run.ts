/** A run in memory: what its records add up to, and what is being done about it right now. */
import type { ErrorInfo, RunId } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import { CHAIN_START } from '../journal/index.ts';
import { advance, type Plan, type RunEvent, type RunState, startState } from '../machine/index.ts';

/** Why a phase is given up before its handler has answered. */
export type GiveUp = {
  readonly why: 'timeout' | 'deadline' | 'cancelled' | 'drained';
  readonly reason: Error;
};

export interface LiveRun {
  readonly id: RunId;
  readonly plan: Plan;
  readonly key: string | undefined;
  readonly epoch: number;
  state: RunState;
  seq: number;
  hash: string;
  /** A row in the journal's timers stands for it. */
  hasTimer: boolean;
  slot: number | undefined;
  /** A record of it is on its way to the disk; no other may be. */
  isAppending: boolean;
  /** The last failure, for people. */
  lastError: ErrorInfo | undefined;
  cancelReason: string | undefined;
  progress: { readonly fraction: number; readonly note: string | undefined } | undefined;
  /** Gives up the phase that is being executed, if any. */
  giveUp: ((why: GiveUp) => void) | undefined;
  /** Parsed input and outputs, where phases may share them. */
  view: RunView | undefined;
}

export interface RunView {
  readonly input: unknown;
  readonly state: Readonly<Record<string, unknown>>;
}

export function newLiveRun(of: Pick<LiveRun, 'id' | 'plan' | 'key' | 'epoch' | 'state'>): LiveRun {
  return {
    ...of,
    seq: -1,
    hash: CHAIN_START,
    hasTimer: false,
    slot: undefined,
    isAppending: false,
    lastError: undefined,
    cancelReason: undefined,
    progress: undefined,
    giveUp: undefined,
    view: undefined,
  };
}

/** Folds records into a run; answers in words why it cannot where the definition does not fit them. */
export function foldRun(
  plan: Plan,
  id: RunId,
  epoch: number,
  records: readonly StoredRecord[],
): LiveRun | string {
  const [first, ...rest] = records;
  if (first?.event.type !== 'STARTED') return 'its first record is not STARTED';
  let state = startState(plan, first.event, first.at);
  if (state.at !== first.state) {
    return `it starts at ${first.state}, and ${plan.name}@${plan.version} starts at ${state.at}`;
  }
  let lastError: ErrorInfo | undefined;
  for (const record of rest) {
    const next = advance(plan, state, record.event);
    if (next?.at !== record.state) {
      return (
        `record ${record.seq} leads to ${record.state} by ${record.event.type}, ` +
        `and ${plan.name}@${plan.version} leads from ${state.at} to ${next?.at ?? 'nowhere'}`
      );
    }
    lastError = errorOf(record.event) ?? lastError;
    state = next;
  }
  const run = newLiveRun({ id, plan, key: first.event.key, epoch, state });
  const last = records.at(-1)!;
  return Object.assign(run, { seq: last.seq, hash: last.hash, lastError });
}

export function errorOf(event: RunEvent): ErrorInfo | undefined {
  return 'error' in event ? event.error : undefined;
}
