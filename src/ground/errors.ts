/**
 * What every error of FleetQ has in common: a stable code for programs, a verdict for the engine,
 * and a hint for the person who has to do something about it.
 */
export type Verdict = 'retry' | 'abort';

export interface FleetqErrorOptions extends ErrorOptions {
  /** What to do next, as a sentence. */
  readonly hint?: string | undefined;
}

export abstract class FleetqError extends Error {
  abstract readonly code: `FLEETQ_${string}`;
  abstract readonly verdict: Verdict;
  readonly hint: string | undefined;

  constructor(message: string, options: FleetqErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** Something that cannot happen did: a defect of FleetQ, never of its user. */
export class AssertionError extends FleetqError {
  readonly code = 'FLEETQ_ASSERTION';
  readonly verdict = 'abort';
}

/** A failure as it is journaled, logged and shown: plain data, whatever was thrown. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly causes?: readonly string[];
}

const MESSAGE_LENGTH_MAX = 4_096;
const STACK_LENGTH_MAX = 8_192;
const CAUSE_COUNT_MAX = 5;

/** Reads anything that can be thrown, hostile getters included, and never throws itself. */
export function describeError(thrown: unknown): ErrorInfo {
  if (!(thrown instanceof Error)) {
    return { name: 'NonError', message: clip(`threw ${show(thrown)}`, MESSAGE_LENGTH_MAX) };
  }
  const code = read(thrown, 'code');
  const stack = read(thrown, 'stack');
  const causes = causesOf(thrown);
  return {
    name: clip(text(read(thrown, 'name'), 'Error'), 200),
    message: clip(text(read(thrown, 'message'), ''), MESSAGE_LENGTH_MAX),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: clip(`${code}`, 200) } : {}),
    ...(typeof stack === 'string' ? { stack: clip(stack, STACK_LENGTH_MAX) } : {}),
    ...(causes.length > 0 ? { causes } : {}),
  };
}

function causesOf(thrown: Error): string[] {
  const causes: string[] = [];
  let cause = read(thrown, 'cause');
  while (cause !== undefined && causes.length < CAUSE_COUNT_MAX) {
    causes.push(
      clip(cause instanceof Error ? text(read(cause, 'message'), '') : show(cause), 1_024),
    );
    cause = cause instanceof Error ? read(cause, 'cause') : undefined;
  }
  return causes;
}

/** A value as a person would write it, for messages. */
export function show(value: unknown): string {
  try {
    if (typeof value === 'string') return JSON.stringify(clip(value, 200));
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
    if (typeof value !== 'object' || value === null) return String(value);
    return clip(JSON.stringify(value) ?? Object.prototype.toString.call(value), 200);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function read(from: object, property: string): unknown {
  try {
    return (from as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function clip(value: string, lengthMax: number): string {
  return value.length <= lengthMax ? value : `${value.slice(0, lengthMax - 1)}…`;
}
