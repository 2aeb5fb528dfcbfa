/**
 * What an error of the driver means: another statement was in the way and this one did nothing; the
 * session is over before it did anything; nobody knows; or it is refused for what it says. Codes of
 * hybrid tables are not published, so their words are looked at, too.
 */
import { describeError, type FleetqError } from '../../ground/index.ts';
import {
  StoreBusyError,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../errors.ts';

/** The session is gone, and the statement with it, before it began: it may be sent on another. */
export class SessionOverError extends StoreBusyError {}

/** A key, or what is unique, is there already: whoever put it there was faster. */
export class DuplicateKeyError extends StoreBusyError {}

type Meaning = (message: string, cause: unknown) => FleetqError;

const over: Meaning = (message, cause) =>
  new SessionOverError(`the session is over: ${message}`, { cause });
const busy: Meaning = (message, cause) => new StoreBusyError(message, { cause });
const unknown: Meaning = (message, cause) =>
  new StoreUnreachableError(`Snowflake did not answer: ${message}`, { cause });

const CODES: Readonly<Record<string, Meaning>> = {
  // Too many wait for the lock of a table; waiting for one took too long.
  '000625': busy,
  '000627': busy,
  '200001': (message, cause) => new DuplicateKeyError(message, { cause }),
  // Cancelled, or over its time limit: the server has stopped, and it is not known before what.
  '000604': unknown,
  '000630': unknown,
  // Tokens of a session that has ended; the driver renews those that have only grown old.
  '390104': over,
  '390111': over,
  '390112': over,
  '390114': over,
  '401004': over,
  '407002': over,
  '390100': notLetIn,
  '390144': notLetIn,
  '390201': notLetIn,
  '391404': (message, cause) =>
    new StoreOptionsError(`this account has no hybrid tables: ${message}`, {
      cause,
      hint: 'use standard tables: snowflake://…?tables=standard',
    }),
  '002003': missing,
  '000904': missing,
};

function notLetIn(message: string, cause: unknown): FleetqError {
  return new StoreOptionsError(`Snowflake does not let us in: ${message}`, {
    cause,
    hint: 'check the account, the user and its key, role and warehouse',
  });
}

function missing(message: string, cause: unknown): FleetqError {
  return new StoreSchemaError(`the tables are not as expected: ${message}`, {
    cause,
    hint: 'run: fleetq migrate up; or the role may not see them',
  });
}

export function meaningOf(thrown: unknown): FleetqError {
  const { message } = describeError(thrown);
  const code = codeOf(thrown);
  const meaning = code === undefined ? undefined : CODES[code];
  const text = code === undefined ? message : `${message} (${code})`;
  if (meaning) return meaning(text, thrown);
  if (/duplicate key value|primary key already exists/i.test(message)) {
    return new DuplicateKeyError(text, { cause: thrown });
  }
  if (/deadlock|lock (wait )?time|number of waiters|could not obtain lock/i.test(message)) {
    return busy(text, thrown);
  }
  // Without the word of the server nobody knows whether the statement has come to it.
  return sqlStateOf(thrown) === undefined
    ? unknown(text, thrown)
    : new StoreRefusedError(text, { cause: thrown });
}

/** Of a login that the account has refused; undefined where it was something else. */
export function loginCodeOf(thrown: unknown): string | undefined {
  const code = codeOf(thrown);
  return code !== undefined && /^39[0145]\d{3}$/.test(code) ? code : undefined;
}

/** Six digits from the server, or from the driver about itself. */
function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string' && typeof code !== 'number') return undefined;
  const text = String(code);
  return /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : undefined;
}

function sqlStateOf(thrown: unknown): string | undefined {
  const state = (thrown as { sqlState?: unknown } | null | undefined)?.sqlState;
  return typeof state === 'string' && state !== '' ? state : undefined;
}
