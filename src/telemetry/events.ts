/**
 * Everything that happens, by name, on Node's diagnostics channels ('fleetq:run.started' …). Whoever
 * wants to know listens; whoever does not pays nothing: an event nobody hears is not even built.
 */
import { type Channel, channel } from 'node:diagnostics_channel';
import type { ErrorInfo, RunId } from '../ground/index.ts';
import type { Outcome, Phase, RunEvent } from '../machine/index.ts';

interface OfRun {
  readonly run: RunId;
  readonly machine: string;
  readonly version: number;
  /** Of the owner that does it; undefined where that is not known. */
  readonly epoch?: number | undefined;
}
export interface OfPhase extends OfRun {
  readonly step: string;
  readonly phase: Phase | 'probe';
  readonly attempt: number;
}
/** A record as the journal has it. */
export interface PastRecord {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly event: RunEvent;
  /** Where the run is after it. */
  readonly state: string;
  readonly hash: string;
}
/** Where a run stands, and in which of its lives; a run that was started here has no generation. */
interface Standing {
  readonly generation: number | undefined;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: string;
}
/** A task that something was done to, with its generation. */
export interface TouchedTask {
  readonly run: RunId;
  readonly generation: number;
}
export interface RescuedTask extends TouchedTask {
  readonly machine: string;
  readonly version: number;
  readonly status: string;
  readonly outcome: string | undefined;
}
export type PhaseOutcome =
  | 'done'
  | 'handedOff'
  | 'retried'
  | 'postponed'
  | 'exhausted'
  | 'aborted'
  | 'timedOut'
  | 'discarded';

/** What a call of the store came to, in a word: for figures, which know no messages. */
export type StoreFailure = 'unreachable' | 'busy' | 'refused' | 'schema' | 'options' | 'other';

export interface FleetqEvents {
  'engine.started': { readonly journal: string; readonly boot: number; readonly slots: number };
  'engine.draining': { readonly budgetMs: number };
  'engine.drained': {
    readonly unfinished: number;
    readonly interrupted: number;
    readonly elapsedMs: number;
  };
  /** Under an unchanged version a machine is not what it was when runs of it were started. */
  'machine.changed': {
    readonly machine: string;
    readonly version: number;
    /** The fingerprint that such a run has in its first record, and the one that is registered. */
    readonly recorded: string;
    readonly registered: string;
  };
  'run.started': OfRun & { readonly key: string | undefined };
  'run.resumed': OfRun & {
    readonly state: string;
    readonly attempt: number;
    readonly wasInterrupted: boolean;
    readonly generation: number | undefined;
    /** What it has been through before this process took it up. */
    readonly records: readonly PastRecord[];
    /** The last sign of life of whoever had it before, where that is known. */
    readonly seenAt: number | undefined;
  };
  /** A record of it is durable here, and the run has moved on by it. */
  'run.recorded': OfRun &
    Standing & {
      readonly at: number;
      readonly event: RunEvent;
      /** Of the record before it. */
      readonly prevHash: string;
      readonly from: string;
      readonly state: string;
      readonly startedAt: number;
      /** Of the step it was at. */
      readonly attempt: number;
    };
  /** The store has its records up to this one for good: whoever takes it over goes on from there. */
  'run.archived': { readonly run: RunId; readonly generation: number; readonly seq: number };
  /** Whoever had it has died, and may not have told what became of it since then. */
  'run.left': {
    readonly run: RunId;
    readonly generation: number | undefined;
    readonly records: readonly PastRecord[];
    readonly since: number;
  };
  /** Whoever had it has died, and left nothing of it behind: it is begun anew. */
  'run.lost': OfRun & { readonly generation: number | undefined; readonly epoch: number };
  /** A newer version goes on with it, since its line begins with what is recorded. */
  'run.advanced': OfRun & { readonly from: number; readonly state: string };
  /** A newer version has carried it over by its `upgrade`, and goes on with it at this state. */
  'run.upgraded': OfRun & { readonly from: number; readonly state: string };
  'run.blocked': OfRun & { readonly state: string; readonly reason: string };
  'run.quarantined': OfRun & { readonly reason: string };
  'run.waiting': OfRun & {
    readonly state: string;
    readonly dueAt: number;
    readonly reason: 'sleep' | 'retry';
  };
  /** A handler had to wait for leave to call an API, and is let in, or gives up. */
  'throttle.waited': OfPhase & { readonly api: string; readonly elapsedMs: number };
  'run.progressed': OfRun & { readonly fraction: number; readonly note: string | undefined };
  'run.finished': OfRun & {
    readonly outcome: Outcome;
    readonly state: string;
    readonly reason: string | undefined;
    readonly error: ErrorInfo | undefined;
    readonly attempt: number;
    readonly elapsedMs: number;
  };
  'phase.started': OfPhase & Standing & { readonly at: number };
  'phase.ended': OfPhase & {
    readonly outcome: PhaseOutcome;
    readonly elapsedMs: number;
    readonly error: ErrorInfo | undefined;
    readonly dueAt: number | undefined;
  };
  /** A handler went on after its phase was given up: what it did then counts for nothing. */
  'phase.leaked': OfPhase & { readonly why: string };
  /** A handler held the loop: nothing else could happen meanwhile. */
  'phase.blocked': OfPhase & { readonly elapsedMs: number };
  'log.said': OfPhase & {
    readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly message: string;
    readonly fields: object | undefined;
  };
  /** `syncMs` is the part of it in which the transaction was put on disk: writes and their fsync. */
  'journal.committed': {
    readonly records: number;
    readonly elapsedMs: number;
    readonly syncMs: number;
  };
  'journal.stalled': { readonly error: ErrorInfo };
  'journal.recovered': Record<string, never>;
  /** Another process holds the data directory, and was asked to drain; this one is the next. */
  'journal.awaited': { readonly dataDir: string; readonly holder: string };
  'journal.alarm': { readonly kind: string; readonly message: string };
  'journal.pruned': { readonly runs: number };
  /** By this process. */
  'task.enqueued': { readonly machine: string; readonly version: number; readonly count: number };
  'task.claimed': OfRun & {
    readonly epoch: number;
    readonly records: number;
    /** How long it had been due, by the store's clock. */
    readonly waitedMs: number | undefined;
  };
  /** A row that made no sense: it is a dead letter now. */
  'task.refused': { readonly run: RunId; readonly machine: string; readonly reason: string };
  /** No version that is here goes on with the task: it is left to pods that have one which does. */
  'task.blocked': { readonly run: RunId; readonly reason: string };
  /** It has failed without a run: its owners died too often, or nobody could ever run it. */
  'task.failed': { readonly run: RunId; readonly machine: string; readonly outcome: string };
  'task.settled': {
    readonly run: RunId;
    readonly generation: number;
    readonly epoch: number;
    readonly to: string;
  };
  /** Somebody else has the task: what this process did with it since counts for nothing. */
  'claim.lost': {
    readonly run: RunId;
    readonly generation: number;
    readonly epoch: number;
    readonly what: string;
  };
  'claim.answered': { readonly asked: number; readonly got: number; readonly elapsedMs: number };
  /** Nothing was there, or the store failed: the next look waits. */
  'claim.backedOff': { readonly waitMs: number };
  /** One statement, whatever came of each of its settlements. */
  'settle.answered': { readonly tasks: number; readonly elapsedMs: number };
  'archive.flushed': {
    readonly runs: number;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** Any call of the store by this process but its heartbeats; `failure` where it threw. */
  'store.answered': {
    readonly call: string;
    readonly elapsedMs: number;
    readonly failure: StoreFailure | undefined;
  };
  'store.failed': { readonly what: string; readonly error: ErrorInfo };
  /** Another server of the database has taken over. */
  'store.failedOver': { readonly from: string; readonly to: string };
  'pod.registered': {
    readonly pod: string;
    readonly name: string;
    readonly journal: string;
    readonly boot: number;
  };
  /** Times are by the monotonic clock of this process. */
  'pod.beat': {
    readonly pod: string;
    readonly result: 'taken' | 'refused' | 'failed';
    readonly sentMs: number;
    readonly heardMs: number;
    /** Until when phases of claimed runs may begin by this answer; undefined where it gives no time. */
    readonly deadlineMs: number | undefined;
    readonly failure: StoreFailure | undefined;
  };
  'pod.adopted': {
    readonly pod: string;
    readonly pods: number;
    readonly runs: number;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** A recovery has given these tasks another status: back to the fleet, or a dead letter. */
  'tasks.rescued': { readonly tasks: readonly RescuedTask[] };
  /** The pod has told the store all it will tell; `tasks` are those it had in hand when it began to. */
  'pod.drained': {
    readonly pod: string;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** The deadline has passed without an answer: no phase of a claimed run begins. */
  'pod.alone': { readonly pod: string; readonly run: RunId };
  'pod.died': { readonly pod: string; readonly why: string };
  /** This pod has declared another one dead, which was last heard of so long ago by the store's clock. */
  'pod.fenced': { readonly pod: string; readonly by: string; readonly silentMs: number };
  /** This pod has taken tasks of a pod that is no more, and given them back to the fleet. */
  'sweep.took': {
    readonly pod: string;
    readonly by: string;
    readonly why: 'silent' | 'dead' | 'gone' | 'left';
    readonly runs: readonly RunId[];
  };
  /** A process of its own was started for tasks that have outlived two owners. */
  'suspects.started': Record<string, never>;
  /** Such tasks are due, and this program cannot start a process that has its machines. */
  'suspects.unattended': Record<string, never>;
  'leader.changed': {
    readonly pod: string;
    readonly isLeader: boolean;
    readonly leader: string | undefined;
  };
  /** More than half of the fleet is missing: that is an outage, and counts as nobody's crash. */
  'fleet.outage': { readonly missing: number; readonly pods: number };
  'recovery.failed': { readonly chore: string; readonly error: ErrorInfo };
  /** Nobody takes the spans of this process; said once, until somebody does again. */
  'traces.failed': { readonly error: ErrorInfo };
  'pod.draining': { readonly pod: string; readonly budgetMs: number };
  /** Nobody can reach this process from outside; its runs go on all the same. */
  'socket.failed': { readonly path: string; readonly error: ErrorInfo };
  /** Somebody wants the process to end: `count` is 1 for "when it suits", more for "now". */
  'process.signalled': { readonly signal: string; readonly count: number };
  /** Something was thrown that nobody caught: the process ends, its runs go on in the next one. */
  'process.crashed': { readonly origin: string; readonly error: ErrorInfo };
}

export type EventName = keyof FleetqEvents;

const channels = new Map<EventName, Channel>();

function channelOf(name: EventName): Channel {
  let found = channels.get(name);
  if (!found) {
    found = channel(`fleetq:${name}`);
    channels.set(name, found);
  }
  return found;
}

/** Says that something happened; `build` is called only if somebody listens. */
export function tell<N extends EventName>(name: N, build: () => FleetqEvents[N]): void {
  const to = channelOf(name);
  if (to.hasSubscribers) to.publish(build());
}

/** Whether anybody listens to this event. */
export function isHeard(name: EventName): boolean {
  return channelOf(name).hasSubscribers;
}

/** Listens to one event; answers how to stop. */
export function listen<N extends EventName>(
  name: N,
  act: (event: FleetqEvents[N]) => void,
): () => void {
  const from = channelOf(name);
  const onMessage = (message: unknown) => act(message as FleetqEvents[N]);
  from.subscribe(onMessage);
  return () => from.unsubscribe(onMessage);
}
