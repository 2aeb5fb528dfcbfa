/**
 * What every error of FleetQ has in common: a stable code for programs, a verdict for the engine,
 * and a hint for the person who has to do something about it.
 */
import { types } from 'node:util';

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
  if (!isError(thrown)) {
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
    causes.push(clip(isError(cause) ? summaryOf(cause) : show(cause), 1_024));
    cause = isError(cause) ? read(cause, 'cause') : undefined;
  }
  return causes;
}

/** A refused connection comes as an error without a message: then its code or name has to do. */
function summaryOf(error: Error): string {
  const said = ['message', 'code', 'name'].map((property) => text(read(error, property), ''));
  return said.find((words) => words !== '') ?? 'Error';
}

/** Also for errors of another realm, which are no instances of this one's Error. */
function isError(thrown: unknown): thrown is Error {
  try {
    return types.isNativeError(thrown) || thrown instanceof Error;
  } catch {
    return false;
  }
}

const SHOWN_LENGTH_MAX = 200;
const SHOWN_COUNT_MAX = 20;
const SHOWN_DEPTH_MAX = 3;

/** A value as a person would write it, for messages. Bounded, whatever the size of the value. */
export function show(value: unknown): string {
  try {
    return clip(sketch(value, 0), SHOWN_LENGTH_MAX);
  } catch {
    return `an unreadable ${typeof value}`;
  }
}

function sketch(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, SHOWN_LENGTH_MAX));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) {
    if (depth >= SHOWN_DEPTH_MAX) return '[…]';
    const items = value.slice(0, SHOWN_COUNT_MAX).map((item) => sketch(item, depth + 1));
    return `[${[...items, ...(value.length > SHOWN_COUNT_MAX ? ['…'] : [])].join(',')}]`;
  }
  if (isError(value)) return `${text(read(value, 'name'), 'Error')}: ${summaryOf(value)}`;
  const maker: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  if (typeof maker === 'string' && maker !== 'Object') return `an instance of ${maker}`;
  if (depth >= SHOWN_DEPTH_MAX) return '{…}';
  const properties: string[] = [];
  for (const key of Object.keys(value)) {
    if (properties.length === SHOWN_COUNT_MAX) {
      properties.push('…');
      break;
    }
    const property = (value as Record<string, unknown>)[key];
    properties.push(
      `${JSON.stringify(clip(key, SHOWN_LENGTH_MAX))}:${sketch(property, depth + 1)}`,
    );
  }
  return `{${properties.join(',')}}`;
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
