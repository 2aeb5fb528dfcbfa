/**
 * What Snowflake answers when it refuses, and which of its refusals a refusal of Postgres stands for.
 * Codes that its documentation or public reports name are used; the few that nobody has published
 * (deadlocks and lock conflicts of hybrid tables) are marked, and the store must not rest on them.
 */
import { DatabaseError } from 'pg';

export class SnowflakeError extends Error {
  readonly code: string;
  readonly sqlState: string;

  constructor(code: string, sqlState: string, message: string) {
    super(message);
    this.code = code;
    this.sqlState = sqlState;
  }

  static syntax(sql: string, at: number, found: string): SnowflakeError {
    const before = sql.slice(0, at).split('\n');
    const where = `line ${before.length} at position ${before.at(-1)!.length}`;
    return new SnowflakeError(
      '001003',
      '42000',
      `SQL compilation error:\nsyntax error ${where} unexpected '${found}'.`,
    );
  }

  static unsupported(what: string): SnowflakeError {
    return new SnowflakeError('000002', '0A000', `Unsupported feature '${what}'.`);
  }

  static unknownFunction(name: string): SnowflakeError {
    return new SnowflakeError(
      '002140',
      '42601',
      `SQL compilation error:\nUnknown function ${name}`,
    );
  }

  static invalid(what: string): SnowflakeError {
    return new SnowflakeError('001003', '42000', `SQL compilation error:\n${what}`);
  }
}

/** More statements wait for one table than Snowflake lets wait. */
export function tooManyWaiters(table: string, limit: number, queryId: string): SnowflakeError {
  return new SnowflakeError(
    '000625',
    '57014',
    `Statement '${queryId}' has locked table '${table}' in transaction 1 and this lock has not yet ` +
      'been released.\nYour statement was aborted because the number of waiters for this lock ' +
      `exceeds the ${limit} statements limit.`,
  );
}

export function lockWaitedTooLong(table: string, seconds: number): SnowflakeError {
  return new SnowflakeError(
    '000627',
    '57014',
    `Statement has locked table '${table}' in transaction 1 and this lock has not yet been ` +
      `released.\nYour statement was aborted because waiting for this lock is limited to ${seconds} s.`,
  );
}

const DOUBLE_ROW = /affect row a second time/;

type Meaning = readonly [code: string, sqlState: string, message: (error: DatabaseError) => string];

const MEANINGS: Readonly<Record<string, Meaning>> = {
  '42P01': [
    '002003',
    '42S02',
    ({ message }) =>
      `SQL compilation error:\nObject '${nameIn(message)}' does not exist or not authorized.`,
  ],
  '42703': [
    '000904',
    '42000',
    ({ message }) => `SQL compilation error:\ninvalid identifier '${nameIn(message)}'`,
  ],
  '42P07': [
    '002002',
    '42710',
    ({ message }) => `SQL compilation error:\nObject '${nameIn(message)}' already exists.`,
  ],
  '42601': ['001003', '42000', ({ message }) => `SQL compilation error:\n${message}`],
  '42883': ['002140', '42601', ({ message }) => `SQL compilation error:\nUnknown: ${message}`],
  '23505': ['200001', '22000', ({ constraint }) => doubled(constraint ?? '')],
  '23502': ['100072', '22000', () => 'NULL result in a non-nullable column'],
  '23514': ['200002', '22000', ({ message }) => `Check constraint was violated: ${message}`],
  '22P02': ['100038', '22018', ({ message }) => `Value is not recognized: ${message}`],
  '22003': ['100039', '22003', ({ message }) => `Numeric value out of range: ${message}`],
  '22001': ['100078', '22000', () => 'String is too long and would be truncated'],
  '22032': ['100069', '22P02', ({ message }) => `Error parsing JSON: ${message}`],
  '22012': ['100051', '22012', () => 'Division by zero'],
  '57014': ['000604', '57014', () => 'SQL execution canceled'],
  // The last two are not published for hybrid tables.
  '55P03': [
    '000627',
    '57014',
    () => 'Lock could not be acquired: waiting for this lock is limited',
  ],
  '40P01': ['200011', '40001', () => 'Deadlock detected, statement was aborted'],
};

function doubled(constraint: string): string {
  if (constraint.endsWith('_pkey')) return 'Primary key already exists';
  const index = `SYS_INDEX_${constraint.toUpperCase()}`;
  return `Duplicate key value violates unique constraint "${index}"`;
}

function nameIn(message: string): string {
  return (/"([^"]+)"/.exec(message)?.[1] ?? message).toUpperCase();
}

function isTimeout(message: string): boolean {
  return message.includes('statement timeout');
}

/** What a client of Snowflake would have seen instead of the error of Postgres. */
export function asSnowflakeError(error: unknown): SnowflakeError {
  if (error instanceof SnowflakeError) return error;
  if (!(error instanceof DatabaseError)) {
    return new SnowflakeError('370001', 'XX000', `Internal error: ${String(error)}`);
  }
  if (error.code === '57014' && isTimeout(error.message)) {
    return new SnowflakeError('000630', '57014', 'Statement reached its statement timeout');
  }
  if (error.code === '21000') {
    return DOUBLE_ROW.test(error.message)
      ? new SnowflakeError('100090', '42P18', 'Duplicate row detected during DML action')
      : new SnowflakeError('090150', '22000', 'Single-row subquery returns more than one row.');
  }
  const meaning = MEANINGS[error.code ?? ''];
  if (meaning === undefined) {
    return new SnowflakeError('370001', 'XX000', `${error.code}: ${error.message}`);
  }
  return new SnowflakeError(meaning[0], meaning[1], meaning[2](error));
}
