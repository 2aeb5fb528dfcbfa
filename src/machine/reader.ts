/** Reads an author's object property by property, and says where it went wrong. */
import { DURATION_WANTED, type FleetqErrorOptions, parseDuration, show } from '../ground/index.ts';
import { DefinitionError } from './errors.ts';
import { isSchema } from './schema.ts';
import type { AnySchema } from './types.ts';

export const SCHEMA_WANTED = 'a Standard Schema (zod, valibot, arktype …)';

export class Reader {
  readonly machine: string;
  readonly #from: object;
  readonly #path: string;

  constructor(machine: string, from: object, path: string) {
    this.machine = machine;
    this.#from = from;
    this.#path = path;
  }

  get(property: string): unknown {
    try {
      return (this.#from as Record<string, unknown>)[property];
    } catch (cause) {
      throw this.faultOf(property, 'readable', 'a property that throws', { cause });
    }
  }

  /** A reader for a property that is an object; undefined where the property is left out. */
  child(property: string): Reader | undefined {
    const value = this.get(property);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.fault(property, 'an object', value);
    }
    return new Reader(this.machine, value, this.#at(property));
  }

  /** A time limit: a duration, but not of nothing, for then nothing could ever be done in it. */
  limit(property: string): number | undefined {
    const value = this.get(property);
    if (value === undefined) return undefined;
    const ms = parseDuration(value);
    if (!ms) throw this.fault(property, `${DURATION_WANTED}, and more than none`, value);
    return ms;
  }

  /** A schema, where the property is there at all. */
  schema(property: string): AnySchema | undefined {
    const value = this.get(property);
    if (value === undefined) return undefined;
    try {
      if (isSchema(value)) return value;
    } catch (cause) {
      throw this.faultOf(property, SCHEMA_WANTED, 'something unreadable', { cause });
    }
    throw this.fault(property, SCHEMA_WANTED, value);
  }

  allowOnly(properties: readonly string[]): void {
    for (const property of Object.keys(this.#from)) {
      if (properties.includes(property)) continue;
      const value = this.get(property);
      // As the types have it: a property that is undefined is one that is not there.
      if (value === undefined) continue;
      const near = properties.find((known) => isNear(known, property));
      throw this.fault(
        property,
        `left out: only ${properties.join(', ')} are known here`,
        value,
        near && `did you mean '${near}'?`,
      );
    }
  }

  /** The error for a property that has a value it may not have. */
  fault(property: string, wanted: string, got: unknown, hint?: string): DefinitionError {
    return this.faultOf(property, wanted, show(got), { hint });
  }

  /** The same where what came is told in words. */
  faultOf(
    property: string,
    wanted: string,
    got: string,
    options?: FleetqErrorOptions,
  ): DefinitionError {
    return new DefinitionError(this.machine, this.#at(property), wanted, got, options);
  }

  #at(property: string): string {
    return this.#path ? `${this.#path}.${property}` : property;
  }
}

/** Whether two words differ by one letter more, less, changed, or swapped with its neighbour. */
function isNear(known: string, typed: string): boolean {
  if (Math.abs(known.length - typed.length) > 1) return false;
  const differing = [...known].filter((letter, index) => typed[index] !== letter).length;
  const isSwapped = [...known].sort().join('') === [...typed].sort().join('');
  return differing <= 1 || (isSwapped && differing <= 2) || isOneMore(known, typed);
}

function isOneMore(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (long.length !== short.length + 1) return false;
  return [...long].some((_, index) => long.slice(0, index) + long.slice(index + 1) === short);
}
