/**
 * Log lines from named events. The engine says what happened and does not know who writes it down.
 *
 *   level  debug: a phase that went well, a start, a wait    info: a run that ended well or was cancelled
 *          warn:  a retry, a leak, a blocked loop            error: a dead letter, a damaged run, a full disk
 *
 * A healthy host executes many thousand phases a second, so a phase that went well is a debug line.
 * The field names are public: event, run_id, machine, machine_version, step, phase, state, attempt,
 * outcome, duration_ms, due_at, reason, key, err { type, message, code, stack, cause[] }.
 * Inputs and outputs are never logged; `fields` holds what a handler gave to ctx.log itself.
 */
import { isoTime } from '../ground/index.ts';
import type { Outcome } from '../machine/index.ts';
import { type EventName, listen, type OfPhase, type PhaseOutcome } from './events.ts';
import { errOf, type Level, type Lines } from './fields.ts';
import { FLEET_LINES } from './fleet-lines.ts';

/** The part of a pino logger that is used; any logger of that shape will do. */
export type Logger = Readonly<Record<Level, (fields: object, message: string) => void>>;

const LEVEL_OF_OUTCOME: Record<Outcome, Level> = {
  completed: 'info',
  handedOff: 'info',
  cancelled: 'info',
  exhausted: 'error',
  aborted: 'error',
  timedOut: 'error',
};
/** How a phase ended; what ends its run as well is told by the run's own line. */
const LEVEL_OF_PHASE: Record<PhaseOutcome, Level> = {
  done: 'debug',
  handedOff: 'debug',
  postponed: 'debug',
  discarded: 'debug',
  retried: 'warn',
  exhausted: 'debug',
  aborted: 'debug',
  timedOut: 'debug',
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
  'run.started': (e) => ({
    level: 'debug',
    message: 'run started',
    fields: { ...ofRun(e), key: e.key },
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
  'run.blocked': (e) => ({
    level: 'warn',
    message: 'run blocked',
    fields: { ...ofRun(e), state: e.state, reason: e.reason },
  }),
  'run.quarantined': (e) => ({
    level: 'error',
    message: 'run quarantined',
    fields: { ...ofRun(e), reason: e.reason },
  }),
  'run.waiting': (e) => ({
    level: 'debug',
    message: 'run waits',
    fields: { ...ofRun(e), state: e.state, due_at: isoTime(e.dueAt), reason: e.reason },
  }),
  'run.finished': (e) => ({
    level: LEVEL_OF_OUTCOME[e.outcome],
    message: `run ${e.outcome}`,
    fields: {
      ...ofRun(e),
      outcome: e.outcome,
      state: e.state,
      attempt: e.attempt,
      duration_ms: ms(e.elapsedMs),
      reason: e.reason,
      err: errOf(e.error),
      dead_letter: LEVEL_OF_OUTCOME[e.outcome] === 'error' || undefined,
    },
  }),
  'phase.ended': (e) => ({
    level: LEVEL_OF_PHASE[e.outcome],
    message: `phase ${e.outcome}`,
    fields: {
      ...ofPhase(e),
      outcome: e.outcome,
      duration_ms: ms(e.elapsedMs),
      due_at: e.dueAt === undefined ? undefined : isoTime(e.dueAt),
      err: errOf(e.error),
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
  'journal.stalled': (e) => ({
    level: 'error',
    message: 'journal cannot be written: runs stand still until it can',
    fields: { err: errOf(e.error) },
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
  'socket.failed': (e) => ({
    level: 'warn',
    message: 'no socket: runs go on, but the command line cannot reach this process',
    fields: { path: e.path, err: errOf(e.error) },
  }),
  'process.signalled': (e) => ({
    level: e.count > 1 ? 'warn' : 'info',
    message: e.count > 1 ? `second ${e.signal}: ending at once` : `${e.signal}: ending`,
    fields: { signal: e.signal },
  }),
  'process.crashed': (e) => ({
    level: 'error',
    message: `nobody caught this ${e.origin}: ending, unfinished runs go on in the next process`,
    fields: { origin: e.origin, err: errOf(e.error) },
  }),
};

/** Writes a line for every event worth one; answers how to stop. */
export function writeLogs(logger: Logger): () => void {
  const stops = (Object.keys(LINES) as EventName[]).map((name) => writeEvent(logger, name));
  return () => {
    for (const stop of stops) stop();
  };
}

function writeEvent<N extends EventName>(logger: Logger, name: N): () => void {
  const lineOf = LINES[name]!;
  return listen(name, (event) => {
    const { level, message, fields } = lineOf(event);
    logger[level]({ event: name, ...fields }, message);
  });
}

function ofRun(e: { readonly run: string; readonly machine: string; readonly version: number }) {
  return { run_id: e.run, machine: e.machine, machine_version: e.version };
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
