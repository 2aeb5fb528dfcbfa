/**
 * What comes with the first look at it. Its file has a name that changes with what is in it: a tab that
 * was opened before a deploy asks for one that is no longer there, and has to begin anew.
 */
import { type ComponentType, lazy } from 'react';

export class NotLoadedError extends Error {
  constructor(cause: unknown) {
    super('The server does not answer, or has newer pages than this tab.', { cause });
  }
}

export async function loadLater<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new NotLoadedError(cause);
  }
}

export function later<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => ({ default: await loadLater(load) }));
}
