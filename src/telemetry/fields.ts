/** What log lines are made of. */
import type { ErrorInfo } from '../ground/index.ts';
import type { EventName, FleetqEvents } from './events.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Line {
  readonly level: Level;
  readonly message: string;
  readonly fields?: object | undefined;
}
export type Lines = { readonly [N in EventName]?: (event: FleetqEvents[N]) => Line };

/** Without a prototype: pino's own serializer would name its type after the class of this object. */
export function errOf(error: ErrorInfo | undefined): object | undefined {
  if (!error) return undefined;
  const { name, message, code, stack, causes } = error;
  const err: object = Object.assign(Object.create(null), { type: name, message, code, stack });
  if (causes) Object.assign(err, { cause: causes });
  return Object.defineProperty(err, 'name', { value: name, enumerable: false });
}
