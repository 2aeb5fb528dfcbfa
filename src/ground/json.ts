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
  const size = measure(value, what, bytesMax);
  const text = JSON.stringify(value);
  // A character takes at most six bytes of JSON, so most values need no second count.
  if (size > bytesMax / 6 && Buffer.byteLength(text) > bytesMax) {
    throw new TooLargeError(what, bytesMax);
  }
  return text;
}

/** Walks `value` once, refuses what is not JSON, and stops early when it cannot fit. */
function measure(value: unknown, what: string, bytesMax: number): number {
  const ancestors: object[] = [];
  const keys: (string | number)[] = [];
  let size = 0;

  const refuse = (reason: string) => new NotJsonError(what, pathOf(keys), reason);

  function visit(node: unknown): void {
    switch (typeof node) {
      case 'string':
        size += node.length + 2;
        break;
      case 'number':
        if (!Number.isFinite(node)) throw refuse(`${node} is not JSON`);
        size += 4;
        break;
      case 'boolean':
        size += 4;
        break;
      case 'undefined':
        // A property that is undefined is dropped, as if it had never been there.
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
      const reason = exoticReason(node);
      if (reason) throw refuse(reason);
      for (const key of Object.keys(node)) {
        keys.push(key);
        size += key.length + 3;
        visit((node as Record<string, unknown>)[key]);
        keys.pop();
      }
    }
    ancestors.pop();
  }

  visit(value);
  return size;
}

function pathOf(keys: readonly (string | number)[]): string {
  return keys.reduce<string>(
    (path, key) =>
      typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    '',
  );
}

const REASON = {
  bigint: 'a bigint is not JSON: use a string',
  symbol: 'a symbol is not JSON: use plain data',
  function: 'a function is not JSON: use plain data',
} as const;

/** Why an object of a class of its own cannot be journaled; undefined where it is merely data. */
function exoticReason(node: object): string | undefined {
  if (isPlain(node) && typeof (node as { toJSON?: unknown }).toJSON !== 'function')
    return undefined;
  if (node instanceof Date) return 'a Date is not JSON: use an ISO string';
  if (
    node instanceof Map ||
    node instanceof Set ||
    node instanceof WeakMap ||
    node instanceof WeakSet
  ) {
    return 'a Map or Set is not JSON: use an array or an object';
  }
  if (
    ArrayBuffer.isView(node) ||
    node instanceof ArrayBuffer ||
    node instanceof SharedArrayBuffer
  ) {
    return 'binary data is not JSON: store it, and pass on where it is';
  }
  if (node instanceof Promise) return 'a promise is not JSON: await it';
  if (node instanceof Error) return 'an Error is not JSON: return its message';
  if (typeof (node as { toJSON?: unknown }).toJSON === 'function') {
    return `an object with toJSON (${show(node.constructor?.name)}) would come back as something else: convert it first`;
  }
  return undefined;
}

/** Parses JSON and freezes it, so that one phase cannot change what the next one sees. */
export function decodeJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  freezeDeep(value);
  return value;
}

/** Freezes plain data through and through; answers false where something could not be frozen. */
export function freezeDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (depth > DEPTH_MAX || !isPlain(value)) return false;
  Object.freeze(value);
  let isAll = true;
  for (const key of Object.keys(value)) {
    isAll = freezeDeep((value as Record<string, unknown>)[key], depth + 1) && isAll;
  }
  return isAll;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
