/** Reads one step, or one sleep, of a definition into its plan. */
import { type Backoff, DURATION_WANTED, exponential, parseDuration } from '../ground/index.ts';
import { PHASES } from './chart.ts';
import type { PhaseFunction, PhasePolicy, SleepPlan, StepPlan } from './plan.ts';
import type { Reader } from './reader.ts';
import type { PersistIn, Phase } from './types.ts';

export const MACHINE_PROPERTIES = [
  'name',
  'version',
  'input',
  'retry',
  'timeout',
  'autonomous',
  'flush',
  'steps',
  'upgrade',
];
export const STEP_PROPERTIES = ['check', 'work', 'validate', 'persist', 'output', 'persistIn'];

const ATTEMPT_MAX_DEFAULT = 5;
const BACKOFF_DEFAULT: Backoff = exponential('200ms', { max: '30s' });

/** A machine's own rules, which its steps may narrow. */
export interface Inherited {
  readonly retry: Reader | undefined;
  readonly timeout: Reader | undefined;
  readonly flush: Reader | undefined;
}

/** Reads one step; without `inherited`, the reader is a machine of one step, with its own rules. */
export function readStep(reader: Reader, name: string, inherited?: Inherited): StepPlan {
  const output = reader.schema('output');
  const persistIn = readPersistIn(reader);
  const own = readRules(reader, inherited ? PHASES : [...PHASES, 'run']);
  return Object.freeze({
    kind: 'step',
    name,
    functions: Object.freeze(readFunctions(reader)),
    persistIn,
    output,
    policy: Object.freeze(
      Object.fromEntries(
        PHASES.map((phase) => [
          phase,
          policyOf(
            phase,
            [own.retry, inherited?.retry],
            own.timeout?.limit(phase) ?? inherited?.timeout?.limit(phase),
            firstOf([own.flush, inherited?.flush], (flush) => readFlush(flush, phase)) ?? false,
          ),
        ]),
      ) as Record<Phase, PhasePolicy>,
    ),
  });
}

export function readRules(reader: Reader, timeouts: readonly string[]): Inherited {
  const retry = reader.child('retry');
  const timeout = reader.child('timeout');
  const flush = reader.child('flush');
  flush?.allowOnly(PHASES);
  retry?.allowOnly(['attemptMax', 'backoff', ...PHASES]);
  timeout?.allowOnly(timeouts);
  for (const name of timeouts) timeout?.limit(name);
  for (const phase of PHASES) retry?.child(phase)?.allowOnly(['attemptMax', 'backoff']);
  return { retry, timeout, flush };
}

function readFunctions(reader: Reader): { [K in Phase]?: PhaseFunction } {
  const functions: { [K in Phase]?: PhaseFunction } = {};
  for (const phase of PHASES) {
    const value = reader.get(phase);
    if (phase === 'check' && value === 'none') continue;
    if (value === undefined && (phase === 'validate' || phase === 'persist')) continue;
    if (typeof value !== 'function') {
      const wanted = phase === 'check' ? "a function, or 'none' to leave it out" : 'a function';
      throw reader.fault(phase, wanted, value);
    }
    functions[phase] = value as PhaseFunction;
  }
  return functions;
}

function readPersistIn(reader: Reader): PersistIn {
  const persistIn = reader.get('persistIn');
  if (persistIn === undefined || persistIn === 'journal') return 'journal';
  if (persistIn !== 'store') {
    throw reader.fault('persistIn', "'store' or 'journal' (the default)", persistIn);
  }
  if (reader.get('persist') !== undefined) return 'store';
  throw reader.fault('persist', "a function, since persistIn is 'store'", undefined);
}

/** The nearest rule wins: this phase of the step, the step, this phase of the machine, the machine. */
function policyOf(
  phase: Phase,
  rules: readonly (Reader | undefined)[],
  timeoutMs: number | undefined,
  isSync: boolean,
): PhasePolicy {
  const nearest = rules.flatMap((rule) => [rule?.child(phase), rule]);
  return Object.freeze({
    attemptMax: firstOf(nearest, readAttemptMax) ?? ATTEMPT_MAX_DEFAULT,
    backoff: firstOf(nearest, readBackoff) ?? BACKOFF_DEFAULT,
    timeoutMs,
    isSync,
  });
}

function firstOf<T>(
  readers: readonly (Reader | undefined)[],
  read: (reader: Reader) => T | undefined,
): T | undefined {
  // Every rule is read, so that a fault in one that does not win is found all the same.
  return readers.map((reader) => reader && read(reader)).find((value) => value !== undefined);
}

function readAttemptMax(reader: Reader): number | undefined {
  const value = reader.get('attemptMax');
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw reader.fault('attemptMax', 'a whole number of at least 1', value);
  }
  return value as number;
}

function readFlush(reader: Reader, phase: Phase): boolean | undefined {
  const value = reader.get(phase);
  if (value === undefined) return undefined;
  if (value === 'sync' || value === 'behind') return value === 'sync';
  throw reader.fault(phase, "'sync' or 'behind' (the default)", value);
}

function readBackoff(reader: Reader): Backoff | undefined {
  const value = reader.get('backoff');
  if (value === undefined || typeof value === 'function') return value as Backoff | undefined;
  throw reader.fault('backoff', "a function such as exponential('200ms', { max: '30s' })", value);
}

export function readSleep(reader: Reader, name: string, delay: unknown): SleepPlan {
  if (typeof delay !== 'function' && parseDuration(delay) === undefined) {
    throw reader.fault(`steps.${name}`, `${DURATION_WANTED}, or a function that gives one`, delay);
  }
  return Object.freeze({ kind: 'sleep', name, delay: delay as SleepPlan['delay'] });
}
