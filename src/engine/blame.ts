/**
 * Whose fault an error is. A run ends by what its input, its records, its definition or its handlers said.
 * Everything else is a fault of this pod, and ends no run: another pod, or a later try, may fare better.
 */
import { NotJsonError, SealBrokenError, TooLargeError } from '../ground/index.ts';
import { DamagedRunError } from '../journal/index.ts';
import { SchemaError } from '../machine/index.ts';

const OF_THE_RUN = [DamagedRunError, NotJsonError, SchemaError, SealBrokenError, TooLargeError];

export function isFaultOfRun(error: unknown): boolean {
  return OF_THE_RUN.some((kind) => error instanceof kind);
}
