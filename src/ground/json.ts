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
  return JSON.stringify(settleJson(value, what, bytesMax));
}

/**
 * `value` as it will be read back: a copy of its own, undefined standing for null. Whoever goes on
 * with this sees what the next process would see.
 */
export function settleJson(value: unknown, what: string, bytesMax: number): Json {
  if (value === undefined || value === null) return null;
  const copier = new Copier(what, bytesMax);
  const copy = copier.copy(value);
  // Most values are so small that their text need not be made to know that it fits.
  const mayBeLarge = copier.size > bytesMax / BYTES_OF_ONE_MAX;
  if (mayBeLarge && Buffer.byteLength(JSON.stringify(copy)) > bytesMax) {
    throw new TooLargeError(what, bytesMax);
  }
  return copy;
}

/** The most bytes of text for what is counted as one: a number such as -1.2345678901234567e-123. */
const BYTES_OF_ONE_MAX = 24;

/**
 * Walks a value once, refuses what is not JSON, and stops early when it cannot fit. Makes a copy: a
 * getter or a proxy that is asked a second time may answer with something that was not looked at.
 */
class Copier {
  readonly #what: string;
  readonly #bytesMax: number;
  readonly #ancestors: object[] = [];
  readonly #keys: (string | number)[] = [];
  /** The fewest bytes that what was seen so far can take: never more than the text will have. */
  size = 0;

  constructor(what: string, bytesMax: number) {
    this.#what = what;
    this.#bytesMax = bytesMax;
  }

  copy(node: unknown): Json {
    switch (typeof node) {
      case 'string':
        this.#count(node.length + 2);
        return node;
      case 'number':
        if (!Number.isFinite(node)) {
          throw this.#refusal(`${node} is not JSON: use null or a string`);
        }
        this.#count(1);
        // Minus zero is the one number that JSON gives back as another.
        return node === 0 ? 0 : node;
      case 'boolean':
        this.#count(4);
        return node;
      case 'object':
        if (node !== null) return this.#copyObject(node);
        this.#count(4);
        return node;
      default:
        throw this.#refusal(REASON[typeof node as keyof typeof REASON]);
    }
  }

  #copyObject(node: object): Json {
    if (this.#ancestors.includes(node)) throw this.#refusal('it contains itself');
    if (this.#ancestors.length >= DEPTH_MAX) {
      throw this.#refusal(`it is nested deeper than ${DEPTH_MAX} levels`);
    }
    const reason = exoticReason(node);
    if (reason) throw this.#refusal(reason);
    this.#count(2);
    this.#ancestors.push(node);
    const copy = Array.isArray(node) ? this.#copyItems(node) : this.#copyProperties(node);
    this.#ancestors.pop();
    return copy;
  }

  #copyItems(node: readonly unknown[]): Json[] {
    const copy: Json[] = [];
    for (let index = 0; index < node.length; index++) {
      const item = node[index];
      this.#keys.push(index);
      if (item === undefined) throw this.#refusal('undefined in an array is not JSON: use null');
      copy.push(this.copy(item));
      this.#keys.pop();
    }
    return copy;
  }

  #copyProperties(node: object): JsonObject {
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(node)) {
      const property = (node as Record<string, unknown>)[key];
      // A property that is undefined is dropped, as if it had never been there.
      if (property === undefined) continue;
      this.#keys.push(key);
      this.#count(key.length + 3);
      put(copy, key, this.copy(property));
      this.#keys.pop();
    }
    return copy;
  }

  #count(bytes: number): void {
    this.size += bytes;
    if (this.size > this.#bytesMax) throw new TooLargeError(this.#what, this.#bytesMax);
  }

  #refusal(reason: string): NotJsonError {
    return new NotJsonError(this.#what, pathOf(this.#keys), reason);
  }
}

/** Assigned, this one name would set the prototype instead. */
function put(copy: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true });
  else copy[key] = value;
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
  if (isFlat(value)) {
    Object.freeze(value);
    return true;
  }
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

/** Most of what phases pass on: an object of nothing but words and numbers. */
function isFlat(value: object): boolean {
  if (!isPlain(value)) return false;
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key];
    if (typeof child === 'function' || (typeof child === 'object' && child !== null)) return false;
  }
  return true;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const NUMBER = /[0-9.eE+-]+/y;

/**
 * The first whole number of a JSON text that would come back with other digits than it was written
 * with: JSON.parse rounds beyond 2^53 without a word, and an id would become another one.
 */
export function roundedIn(text: string): string | undefined {
  // Hardly any text has so many digits in a row.
  if (!/\d{16}/.test(text)) return undefined;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (isText && sign === '\\') at++;
    else if (sign === '"') isText = !isText;
    else if (!isText && sign >= '0' && sign <= '9') {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(text)!;
      if (/^\d{16,}$/.test(number) && `${Number(number)}` !== number) return number;
      at += number.length - 1;
    }
  }
  return undefined;
}
