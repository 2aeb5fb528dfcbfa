/** What the framework refuses by itself, in our words. */
import { describeError } from '../ground/index.ts';
import { RequestError } from './problem.ts';

export function describeFailure(error: unknown): unknown {
  const { code, statusCode } = Object(error) as { code?: unknown; statusCode?: unknown };
  const isTheirs = typeof code === 'string' && code.startsWith('FST_');
  if (!isTheirs || typeof statusCode !== 'number' || statusCode >= 500) return error;
  return new RequestError(statusCode, 'FLEETQ_BAD_REQUEST', describeError(error).message);
}
