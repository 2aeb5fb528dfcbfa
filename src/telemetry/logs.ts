/**
 * Log lines from named events. The engine says what happened and does not know who writes it down.
 *
 *   level  debug: a phase that went well, a start, a wait    info: a run that ended well or was cancelled
 *          warn:  a retry, a leak, a blocked loop            error: a dead letter, a damaged run, a full disk
 *
 * A healthy host executes many thousand phases a second, so that the end of a phase is a debug line
 * unless `phases` says info. The names of the fields are public: docs/reference/logs.md. Inputs and
 * outputs are never logged, and of errors no words unless `detail` is full; `fields` holds what a
 * handler gave to ctx.log itself, as it gave it.
 */

import {
  DEFAULTS,
  type LogPhases,
  namesOf,
  refuseUnknownOptions,
  type TelemetryDetail,
} from '../config/index.ts';
import { isoTime } from '../ground/index.ts';
import type { Outcome } from '../machine/index.ts';
import {
  type EventName,
  type FleetqEvents,
  listen,
  type OfPhase,
  type PhaseOutcome,
} from './events.ts';
import { type Level, type Lines, ofRun, toldBy } from './fields.ts';
import { FLEET_LINES } from './fleet-lines.ts';
import { type SpanIdOf, spanIdOf as tracedSpanIdOf } from './span-ids.ts';

/** The part of a pino logger that is used; any logger of that shape will do. */
export type Logger = Readonly<Record<Level, (fields: object, message: string) => void>> & {
  isLevelEnabled?(level: string): boolean;
};

export interface LogOptions {
  /** At which level the end of a phase is told that is not tried again; `debug` by default. */
  readonly phases?: LogPhases | undefined;
  /** `full` tells the messages and stacks of errors too, and keys; `safe` by default. */
  readonly detail?: TelemetryDetail | undefined;
  /** The span of a phase; where nothing is said, what `fleetq/otel` traces it as, if it does. */
  readonly spanIdOf?: SpanIdOf | undefined;
}

const LOG_NAMES = namesOf<LogOptions>({ phases: true, detail: true, spanIdOf: true });

const LEVEL_OF_OUTCOME: Record<Outcome, Level> = {
  completed: 'info',
  handedOff: 'info',
  cancelled: 'info',
  exhausted: 'error',
  aborted: 'error',
  timedOut: 'error',
};
const LINES: Lines = {
  ...FLEET_LINES,
  'engine.started': (e) => ({ level: 'info', message: 'engine started', fields: e }),
  'engine.draining': (e) => ({
    level: 'info',
    message: 'draining: no new runs, phases in hand may finish',
    fields: { budget_ms: e.budgetMs },
  }),
  'engine.drained': (e) => ({
    level: 'info',
    message: `drained: ${e.unfinished} runs go on in the next process`,
    fields: { unfinished: e.unfinished, interrupted: e.interrupted, duration_ms: ms(e.elapsedMs) },
  }),
  'machine.changed': (e) => ({
    level: 'warn',
    message: 'machine was changed without a new version: its earlier runs go on where they fit',
    fields: {
      machine: e.machine,
      machine_version: e.version,
      recorded: e.recorded,
      registered: e.registered,
    },
  }),
  'run.started': (e, told) => ({
    level: 'debug',
    message: 'run started',
    fields: { ...ofRun(e), key: told.words(e.key) },
  }),
  'run.resumed': (e) => ({
    level: 'info',
    message: `run resumed at ${e.state}${e.wasInterrupted ? ', which had been interrupted' : ''}`,
    fields: { ...ofRun(e), state: e.state, attempt: e.attempt, was_interrupted: e.wasInterrupted },
  }),
  'run.advanced': (e) => ({
    level: 'info',
    message: `run goes on at ${e.state} under version ${e.version}`,
    fields: { ...ofRun(e), from_version: e.from, state: e.state },
  }),
  'run.upgraded': (e) => ({
    level: 'info',
    message: `run was upgraded to version ${e.version}, and goes on at ${e.state}`,
    fields: { ...ofRun(e), from_version: e.from, state: e.state },
  }),
  'run.blocked': (e, told) => ({
    level: 'warn',
    message: 'run blocked',
    fields: { ...ofRun(e), state: e.state, reason: told.words(e.reason) },
  }),
  'run.quarantined': (e, told) => ({
    level: 'error',
    message: 'run quarantined',
    fields: { ...ofRun(e), reason: told.words(e.reason) },
  }),
  'run.waiting': (e) => ({
    level: 'debug',
    message: 'run waits',
    fields: { ...ofRun(e), state: e.state, due_at: isoTime(e.dueAt), reason: e.reason },
  }),
  'run.finished': (e, told) => ({
    level: LEVEL_OF_OUTCOME[e.outcome],
    message: `run ${e.outcome}`,
    fields: {
      ...ofRun(e),
      outcome: e.outcome,
      state: e.state,
      attempt: e.attempt,
      duration_ms: ms(e.elapsedMs),
      reason: told.words(e.reason),
      err: told.err(e.error),
      dead_letter: LEVEL_OF_OUTCOME[e.outcome] === 'error' || undefined,
    },
  }),
  'phase.ended': (e, told) => ({
    level: 'debug',
    message: `phase ${e.outcome}`,
    fields: {
      ...ofPhase(e),
      outcome: e.outcome,
      duration_ms: ms(e.elapsedMs),
      due_at: e.dueAt === undefined ? undefined : isoTime(e.dueAt),
      err: told.err(e.error),
    },
  }),
  'phase.leaked': (e) => ({
    level: 'warn',
    message: `handler goes on after its phase was given up (${e.why}): let it heed ctx.signal`,
    fields: ofPhase(e),
  }),
  'phase.blocked': (e) => ({
    level: 'warn',
    message: 'handler held the event loop: nothing else could happen meanwhile',
    fields: { ...ofPhase(e), duration_ms: ms(e.elapsedMs) },
  }),
  'log.said': (e) => ({
    level: e.level,
    message: e.message,
    fields: { ...ofPhase(e), fields: e.fields },
  }),
  'journal.stalled': (e, told) => ({
    level: 'error',
    message: 'journal cannot be written: runs stand still until it can',
    fields: { err: told.ownErr(e.error) },
  }),
  'journal.recovered': () => ({ level: 'info', message: 'journal can be written again' }),
  'journal.awaited': (e) => ({
    level: 'info',
    message: `everything is ready: waiting for ${e.holder} to let go of the data directory`,
    fields: { data_dir: e.dataDir },
  }),
  'journal.alarm': (e) => ({ level: 'error', message: e.message, fields: { alarm: e.kind } }),
  'journal.pruned': (e) => ({
    level: 'debug',
    message: 'journal pruned',
    fields: { runs: e.runs },
  }),
  'socket.failed': (e, told) => ({
    level: 'warn',
    message: 'no socket: runs go on, but the command line cannot reach this process',
    fields: { path: e.path, err: told.ownErr(e.error) },
  }),
  'admin.acted': (e) => ({
    level: 'info',
    message: `${e.who}: ${e.what}${e.run === undefined ? '' : ` ${e.run}`}`,
    fields: { who: e.who, by: e.by, what: e.what, run: e.run, request: e.request },
  }),
  'admin.refused': (e) => ({
    level: 'warn',
    message: 'somebody came with a token that nobody has here',
    fields: { address: e.address },
  }),
  'admin.failed': (e, told) => ({
    level: 'error',
    message: 'a request could not be answered',
    fields: { method: e.method, route: e.route, err: told.ownErr(e.error) },
  }),
  'process.signalled': (e) => ({
    level: e.count > 1 ? 'warn' : 'info',
    message: e.count > 1 ? `second ${e.signal}: ending at once` : `${e.signal}: ending`,
    fields: { signal: e.signal },
  }),
  'process.crashed': (e, told) => ({
    level: 'error',
    message: `nobody caught this ${e.origin}: ending, unfinished runs go on in the next process`,
    fields: { origin: e.origin, err: told.err(e.error) },
  }),
};

/** A healthy host has many thousand of these a second: they are not even put together in vain. */
const QUIET: ReadonlySet<EventName> = new Set<EventName>([
  'run.started',
  'run.waiting',
  'task.claimed',
  'task.settled',
  'task.blocked',
  'journal.pruned',
]);

/** Writes a line for every event worth one; answers how to stop. */
export function writeLogs(logger: Logger, options: LogOptions = {}): () => void {
  refuseUnknownOptions(options, LOG_NAMES, 'writeLogs');
  const { phases = DEFAULTS.logPhases, detail = DEFAULTS.telemetryDetail } = options;
  const { spanIdOf = tracedSpanIdOf } = options;
  const told = toldBy(detail);
  const isEnabled = (level: Level) => logger.isLevelEnabled?.(level) ?? true;
  const levelOf = ({ outcome }: { readonly outcome: PhaseOutcome }): Level =>
    outcome === 'retried' ? 'warn' : phases;
  const pods = new LocalPods();
  const write = <N extends EventName>(name: N): (() => void) => {
    const lineOf = LINES[name]!;
    const act = (event: FleetqEvents[N]) => {
      if (QUIET.has(name) && !isEnabled('debug')) return;
      const isPhase = name === 'phase.ended';
      if (isPhase && !isEnabled(levelOf(event as FleetqEvents['phase.ended']))) return;
      const { level: usual, message, fields } = lineOf(event, told);
      const level = isPhase ? levelOf(event as FleetqEvents['phase.ended']) : usual;
      const spanId = 'phase' in event ? spanIdOf(event as OfPhase) : undefined;
      const span = spanId === undefined ? undefined : { span_id: spanId };
      logger[level]({ event: name, ...pods.only, ...fields, ...span }, message);
    };
    return listen(name, (event) => {
      try {
        act(event);
      } catch {
        // Whoever tells would have it thrown where nobody catches: a line is lost, and no process.
      }
    });
  };
  const stops = [
    ...pods.follow(),
    ...(Object.keys(LINES) as EventName[]).map((name) => write(name)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Which pod this process is. Where it is several, as in tests, only their own lines can tell. */
class LocalPods {
  readonly #pods = new Set<string>();
  only: { readonly pod: string } | undefined;

  follow(): (() => void)[] {
    return [
      listen('pod.registered', ({ pod }) => this.#change(() => this.#pods.add(pod))),
      listen('pod.died', ({ pod }) => this.#change(() => this.#pods.delete(pod))),
    ];
  }

  #change(act: () => void): void {
    act();
    const [pod] = this.#pods;
    this.only = pod !== undefined && this.#pods.size === 1 ? { pod } : undefined;
  }
}

function ofPhase(e: OfPhase) {
  return {
    ...ofRun(e),
    state: `${e.step}.${e.phase}`,
    step: e.step,
    phase: e.phase,
    attempt: e.attempt,
  };
}

/** Whole microseconds: finer digits are noise. */
function ms(elapsedMs: number): number {
  return Math.round(elapsedMs * 1_000) / 1_000;
}
