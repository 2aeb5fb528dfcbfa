/** Options by their names: one that is mistyped is told, and not left out without a word. */
import { nearest, show } from '../ground/index.ts';

/** Every name of `T`, and no other: the compiler sees to that. */
export type OptionNames<T> = Readonly<Record<keyof T & string, true>>;

export function namesOf<T>(names: OptionNames<T>): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/** The first that is not known, in words. Asked of every task that is enqueued: it has to be cheap. */
export function faultOfOptions(given: unknown, known: ReadonlySet<string>): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return `takes an object, got ${show(given)}`;
  }
  for (const name of Object.keys(given)) {
    // As the types have it: one that is undefined is one that is not there.
    if (known.has(name) || (given as Record<string, unknown>)[name] === undefined) continue;
    const near = nearest(name, [...known]);
    const meant = near === undefined ? '' : `did you mean ${near}? `;
    return `has no option ${show(name)}: ${meant}there are: ${[...known].join(', ')}`;
  }
  return undefined;
}

export function refuseUnknownOptions(
  given: unknown,
  known: ReadonlySet<string>,
  what: string,
): void {
  const fault = faultOfOptions(given, known);
  if (fault !== undefined) throw new TypeError(`${what} ${fault}`);
}
