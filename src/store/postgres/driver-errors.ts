/** What an error of the driver means to us: unreachable, busy, the wrong tables, or refused. */
import { describeError, type FleetqError } from '../../ground/index.ts';
import {
  StoreBusyError,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../errors.ts';

/** Classes and codes of SQLSTATE, the longer first; the driver's own errors have none. */
const MEANINGS: readonly (readonly [RegExp, (message: string, cause: unknown) => FleetqError])[] = [
  // Serialisation, deadlock, a lock that was not to be waited for.
  [/^(40001|40P01|40003|55P03)$/, (message, cause) => new StoreBusyError(message, { cause })],
  // Disk full, out of memory: it may be over soon.
  [/^53(?!300)/, (message, cause) => new StoreBusyError(message, { cause })],
  // Its own time limit, a shutdown, a lost connection, a server that may no longer write.
  [/^(57|08|58|XX|25006)/, unreachable],
  [
    /^53300$/,
    (message, cause) =>
      new StoreUnreachableError(`Postgres has no connection left: ${message}`, {
        cause,
        hint: 'raise max_connections, give pods a smaller poolSize, or put a pooler in between',
      }),
  ],
  [
    /^(42P01|42703|42883|3F000)$/,
    (message, cause) =>
      new StoreSchemaError(`the tables are not as expected: ${message}`, {
        cause,
        hint: 'run: fleetq migrate up',
      }),
  ],
  [
    /^(28|3D000|42501)/,
    (message, cause) =>
      new StoreOptionsError(`Postgres does not let us in: ${message}`, {
        cause,
        hint: 'check user, password, database and grants',
      }),
  ],
];

export function meaningOf(thrown: unknown): FleetqError {
  if (thrown instanceof StoreUnreachableError) return thrown;
  const code = sqlStateOf(thrown);
  const { message } = describeError(thrown);
  if (/unsupported startup parameter/.test(message)) {
    return new StoreOptionsError(`a pooler is on the way to Postgres: ${message}`, {
      cause: thrown,
      hint: 'say so: postgres://…?pooled=true',
    });
  }
  // A migration has changed what a kept statement answers with: another connection asks anew.
  if (code === undefined || /cached plan/.test(message)) return unreachable(message, thrown);
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code))?.[1];
  if (meaning) return meaning(`${message} (${code})`, thrown);
  return new StoreRefusedError(`${message} (${code})`, { cause: thrown });
}

function unreachable(message: string, cause: unknown): StoreUnreachableError {
  return new StoreUnreachableError(`Postgres did not answer: ${message}`, { cause });
}

/** Five characters from the server; errors of sockets have codes of another form. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
    ? code
    : undefined;
}

/** What a row holds, or what the tables say of it, does not allow the statement. */
export function isBadRow(thrown: unknown): boolean {
  if (!(thrown instanceof StoreRefusedError)) return false;
  return /^(22|23|P0)/.test(sqlStateOf(thrown.cause) ?? '');
}

/** A value the tables cannot hold: one row of a batch is at fault, and not the others. */
export function isBadValue(thrown: unknown): boolean {
  if (!(thrown instanceof StoreRefusedError)) return false;
  return /^(22|23502|23514)/.test(sqlStateOf(thrown.cause) ?? '');
}
