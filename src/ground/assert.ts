/** For what cannot happen. What may happen is a return value or an error of its own. */
import { AssertionError, show } from './errors.ts';

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function assertNever(value: never): never {
  throw new AssertionError(`a case is missing for ${show(value)}`);
}
