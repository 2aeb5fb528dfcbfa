/**
 * What spans say, and in which words: the one place that names attributes. Nothing of a payload, an
 * output or the text of an error is in it unless somebody asks for messages; what kind of error it was
 * is told by a name only where that is a name, since anything may be thrown.
 */
import type { Attributes } from '@opentelemetry/api';
import type { ErrorInfo, RunId } from '../../ground/index.ts';
import type { RunEvent } from '../../machine/index.ts';
import { codeOf } from '../fields.ts';

/** Whose span it is. */
export interface Whose {
  readonly run: RunId;
  readonly generation: number;
  readonly machine: string;
  readonly version: number;
  readonly pod: string | undefined;
}

export function ofWhose({ version, pod, ...of }: Whose): Attributes {
  return {
    ...ofRun(of),
    'fleetq.machine.version': version,
    ...(pod ? { 'fleetq.pod': pod } : {}),
  };
}

/** What is the same of a run whoever starts it. */
export function ofRun({
  run,
  generation,
  machine,
}: Pick<Whose, 'run' | 'generation' | 'machine'>): Attributes {
  return { 'fleetq.run.id': run, 'fleetq.generation': generation, 'fleetq.machine': machine };
}

/** What came of an attempt. */
export interface Verdict {
  readonly outcome: string;
  readonly isError: boolean;
  readonly error?: ErrorInfo | undefined;
  readonly dueAt?: number | undefined;
}

export const CRASH: Verdict = { outcome: 'crashed', isError: true };
/** Its process ended in order, and could not wait for it. */
export const ABANDONED: Verdict = { outcome: 'abandoned', isError: true };
const INTERRUPTED = 'FLEETQ_INTERRUPTED';

/** What a record says of the attempt it ends; undefined where it ends none. */
export function verdictOf(event: RunEvent): Verdict | undefined {
  switch (event.type) {
    case 'DONE':
    case 'PROBED':
      return { outcome: 'done', isError: false };
    case 'HANDED_OFF':
      return { outcome: 'handedOff', isError: false };
    case 'FAILED':
      return { outcome: 'retried', isError: true, error: event.error, dueAt: event.dueAt };
    case 'POSTPONED':
      return { outcome: 'postponed', isError: false, dueAt: event.dueAt };
    case 'INTERRUPTED':
      return event.isFree ? { outcome: 'released', isError: false } : CRASH;
    case 'EXHAUSTED':
      if (event.error.code === INTERRUPTED) return CRASH;
      return { outcome: 'exhausted', isError: true, error: event.error };
    case 'TIMED_OUT':
      return { outcome: 'timedOut', isError: true, error: event.error };
    case 'ABORTED':
      return { outcome: 'aborted', isError: true, error: { name: 'Abort', message: event.reason } };
    default:
      return undefined;
  }
}

/** How a run that has come to its end by this record has ended. */
export function endingBy(event: RunEvent): string {
  switch (event.type) {
    case 'DONE':
      return 'completed';
    case 'HANDED_OFF':
      return 'handedOff';
    case 'EXHAUSTED':
      return 'exhausted';
    case 'TIMED_OUT':
      return 'timedOut';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return 'aborted';
  }
}

export const POD_LOST = 'pod_lost';
/** As the conventions have it where nothing more can be said. */
const OTHER = '_OTHER';
const CLASS = /^(?:[A-Z][A-Za-z0-9]{0,59})?(?:Error|Exception|Abort)$/;

/** A few words that stay the same, never text: a code where it is one, else the error's class. */
export function errorTypeOf({ name, code }: ErrorInfo): string {
  return codeOf(code) ?? (CLASS.test(name) ? name : OTHER);
}

export function stepOf(state: string): string {
  const dot = state.lastIndexOf('.');
  return dot < 0 ? state : state.slice(0, dot);
}

export function phaseOf(state: string): string {
  return state.slice(state.lastIndexOf('.') + 1);
}
