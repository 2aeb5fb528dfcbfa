/**
 * The boundary between what handlers return and what is written down. JSON.stringify alone would
 * turn a Map into {}, NaN into null and drop functions without a word, so that a run would see other
 * values after a restart than before it. Here such a value is refused, with the path to it.
 */
import { FleetqError, show } from './errors.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A value that JSON would not give back as it was. */
export class NotJsonError extends FleetqError {
  readonly code = 'FLEETQ_NOT_JSON';
  readonly verdict = 'abort';
  constructor(what: string, path: string, reason: string) {
    super(`${what} cannot be journaled: at ${path || 'its top'}, ${reason}`, {
      hint: 'return plain JSON data; keep large or binary things elsewhere and return where they are',
    });
  }
}

/** A value larger than the limit for one record. */
export class TooLargeError extends FleetqError {
  readonly code = 'FLEETQ_TOO_LARGE';
  readonly verdict = 'abort';
  constructor(what: string, bytesMax: number) {
    super(`${what} is larger than the limit of ${bytesMax} bytes`, {
      hint: 'store large data elsewhere and return where it is, or raise resultBytesMax',
    });
  }
}

const DEPTH_MAX = 200;

/** `value` as JSON text, undefined standing for null; refuses what would not come back the same. */
export function encodeJson(value: unknown, what: string, bytesMax: number): string {
  if (value === undefined || value === null) return 'null';
  refuseUnfit(value, what, bytesMax);
  const text = JSON.stringify(value);
  // A character takes at most three bytes of UTF-8, so most texts need no count.
  if (text.length > bytesMax / 3 && Buffer.byteLength(text) > bytesMax) {
    throw new TooLargeError(what, bytesMax);
  }
  return text;
}

/** Walks `value` once, refuses what is not JSON, and stops early when it cannot fit. */
function refuseUnfit(value: unknown, what: string, bytesMax: number): void {
  const ancestors: object[] = [];
  const keys: (string | number)[] = [];
  // The fewest bytes that what was seen so far can take: never more than the text will have.
  let size = 0;

  const refuse = (reason: string) => new NotJsonError(what, pathOf(keys), reason);

  function visit(node: unknown): void {
    switch (typeof node) {
      case 'string':
        size += node.length + 2;
        break;
      case 'number':
        if (!Number.isFinite(node)) throw refuse(`${node} is not JSON: use null or a string`);
        size += 1;
        break;
      case 'boolean':
        size += 4;
        break;
      case 'object':
        if (node === null) size += 4;
        else visitObject(node);
        break;
      default:
        throw refuse(REASON[typeof node as keyof typeof REASON]);
    }
    if (size > bytesMax) throw new TooLargeError(what, bytesMax);
  }

  function visitObject(node: object): void {
    if (ancestors.includes(node)) throw refuse('it contains itself');
    if (ancestors.length >= DEPTH_MAX) throw refuse(`it is nested deeper than ${DEPTH_MAX} levels`);
    const reason = exoticReason(node);
    if (reason) throw refuse(reason);
    ancestors.push(node);
    size += 2;
    if (Array.isArray(node)) {
      for (let index = 0; index < node.length; index++) {
        keys.push(index);
        if (node[index] === undefined) {
          throw refuse('undefined in an array is not JSON: use null');
        }
        visit(node[index]);
        keys.pop();
      }
    } else {
      for (const key of Object.keys(node)) {
        const property = (node as Record<string, unknown>)[key];
        // A property that is undefined is dropped, as if it had never been there.
        if (property === undefined) continue;
        keys.push(key);
        size += key.length + 3;
        visit(property);
        keys.pop();
      }
    }
    ancestors.pop();
  }

  visit(value);
}

const PATH_LENGTH_MAX = 80;

function pathOf(keys: readonly (string | number)[]): string {
  const path = keys.reduce<string>(
    (path, key) =>
      typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    '',
  );
  return path.length <= PATH_LENGTH_MAX ? path : `${path.slice(0, PATH_LENGTH_MAX)}…`;
}

const REASON = {
  bigint: 'a bigint is not JSON: use a string',
  symbol: 'a symbol is not JSON: use plain data',
  function: 'a function is not JSON: use plain data',
} as const;

/** Why an object cannot be journaled; undefined where it is merely data, be it of a class. */
function exoticReason(node: object): string | undefined {
  const { toJSON, then } = node as { toJSON?: unknown; then?: unknown };
  const hasToJson = typeof toJSON === 'function';
  if (isPlain(node) && !hasToJson) return undefined;
  // The language's own kinds name themselves by a tag, in whichever realm they were made.
  const kind = Object.prototype.toString.call(node).slice('[object '.length, -1);
  if (kind === 'Date') return 'a Date is not JSON: use an ISO string';
  if (/^(Weak)?(Map|Set)$/.test(kind)) {
    return 'a Map or Set is not JSON: use an array or an object';
  }
  if (ArrayBuffer.isView(node) || kind.endsWith('ArrayBuffer')) {
    return 'binary data is not JSON: store it, and pass on where it is';
  }
  if (typeof then === 'function') return 'a promise is not JSON: await it';
  if (kind === 'Error' || node instanceof Error) return 'an Error is not JSON: return its message';
  if (hasToJson) {
    return `an object with toJSON (${show(node)}) would come back as something else: convert it first`;
  }
  return kind === 'Object' ? undefined : `a ${kind} is not JSON: use plain data`;
}

/** Parses JSON and freezes it, so that one phase cannot change what the next one sees. */
export function decodeJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  freezeDeep(value);
  return value;
}

/** Freezes plain data through and through; answers false where something could not be frozen. */
export function freezeDeep(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  // What is known to be underway is not entered again, so that cycles and shared parts end.
  const seen = new Set<object>([value]);
  let isAll = true;
  for (const node of seen) {
    if (!isPlain(node)) {
      isAll = false;
      continue;
    }
    Object.freeze(node);
    for (const key of Object.keys(node)) {
      const child = (node as Record<string, unknown>)[key];
      if (typeof child === 'function') isAll = false;
      else if (typeof child === 'object' && child !== null) seen.add(child);
    }
  }
  return isAll;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
