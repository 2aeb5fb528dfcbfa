/**
 * Everything that happens, by name, on Node's diagnostics channels ('fleetq:run.started' …). Whoever
 * wants to know listens; whoever does not pays nothing: an event nobody hears is not even built.
 */
import { type Channel, channel } from 'node:diagnostics_channel';
import type { ErrorInfo, RunId } from '../ground/index.ts';
import type { Outcome, RunEvent } from '../machine/index.ts';
import type { OfPhase, OfRun, PastRecord, PhaseOutcome, Standing } from './event-parts.ts';
import type { FleetEvents } from './fleet-events.ts';

export type {
  OfPhase,
  PastRecord,
  PhaseOutcome,
  RescuedTask,
  StoreFailure,
  TouchedTask,
} from './event-parts.ts';

export interface FleetqEvents extends FleetEvents {
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
  /** Nobody can reach this process from outside; its runs go on all the same. */
  'socket.failed': { readonly path: string; readonly error: ErrorInfo };
  /** Somebody has changed something by the API, or was shown what is masked. */
  'admin.acted': {
    readonly who: string;
    readonly by: string | undefined;
    readonly what: string;
    readonly run: string | undefined;
    readonly request: string;
  };
  /** Somebody came with a token that is none. */
  'admin.refused': { readonly address: string };
  /** A request could not be answered, and not by a mistake of whoever asked. */
  'admin.failed': {
    readonly method: string;
    readonly route: string | undefined;
    readonly error: ErrorInfo;
  };
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
