/** How much of a server a reader may have. */
import { StoreOptionsError } from '../errors.ts';
import type { ReaderOptions } from '../reader.ts';

const CONNECTIONS = 2;
const CONNECTIONS_MAX = 100;
const STATEMENT_MS = 5_000;
const STATEMENT_MS_MIN = 10;
const STATEMENT_MS_MAX = 600_000;

export interface ReadLimits {
  readonly url: string | undefined;
  readonly connectionsMax: number;
  readonly statementMs: number;
}

export function readLimits(options: ReaderOptions): ReadLimits {
  const { url, connectionsMax = CONNECTIONS, statementMs = STATEMENT_MS } = options;
  if (!isWhole(connectionsMax, 1, CONNECTIONS_MAX)) {
    throw new StoreOptionsError(
      `connectionsMax must be a whole number from 1 to ${CONNECTIONS_MAX}, got ${connectionsMax}`,
    );
  }
  if (!isWhole(statementMs, STATEMENT_MS_MIN, STATEMENT_MS_MAX)) {
    throw new StoreOptionsError(
      `statementMs must be from ${STATEMENT_MS_MIN} to ${STATEMENT_MS_MAX}, whole, got ${statementMs}`,
    );
  }
  return { url, connectionsMax, statementMs };
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}
