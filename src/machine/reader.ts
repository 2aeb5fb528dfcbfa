/** Reads an author's object property by property, and says where it went wrong. */
import { DURATION_WANTED, parseDuration } from '../ground/index.ts';
import { DefinitionError } from './errors.ts';

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
      const error = this.fault(property, 'readable', 'a getter that throws');
      error.cause = cause;
      throw error;
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

  duration(property: string): number | undefined {
    const value = this.get(property);
    if (value === undefined) return undefined;
    const ms = parseDuration(value);
    if (ms === undefined) throw this.fault(property, DURATION_WANTED, value);
    return ms;
  }

  allowOnly(properties: readonly string[]): void {
    for (const property of Object.keys(this.#from)) {
      if (properties.includes(property)) continue;
      const near = properties.find((known) => isNear(known, property));
      throw this.fault(
        property,
        `left out: only ${properties.join(', ')} are known here`,
        this.get(property),
        near ? `did you mean '${near}'?` : undefined,
      );
    }
  }

  fault(property: string, wanted: string, got: unknown, hint?: string): DefinitionError {
    return new DefinitionError(this.machine, this.#at(property), wanted, got, hint);
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
