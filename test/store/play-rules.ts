/** How a random settlement is made of numbers, and what may become of a row from one step to the next. */
import assert from 'node:assert/strict';
import { StoreRefusedError } from '../../src/store/errors.ts';
import type { Settlement, TaskRow } from '../../src/store/tasks.ts';
import type { Claim } from '../../src/store/words.ts';
import { cancelled, completed, failed, HOUR, parked, released, segment } from './factories.ts';

export function settlementOf(claim: Claim, a: number, c: number): Settlement {
  const options = {
    tail: c % 2 === 0 ? segment(claim, 0, c) : undefined,
    retriesAdd: c % 3,
    hasCompletedStep: c === 5,
  };
  const ways: readonly (() => Settlement)[] = [
    () => completed(claim, options),
    () => failed(claim, options),
    () => cancelled(claim, options),
    () => released(claim, { ...options, isUntouched: c === 4 }),
    () => parked(claim, 'retry', c * HOUR, options),
    () =>
      c === 1 ? parked(claim, 'version', 60_000, options) : parked(claim, 'sleep', 0, options),
  ];
  const settlement = ways[a % ways.length]!();
  return c === 6 ? { ...settlement, version: 2 } : settlement;
}

/** What may become of a row between two looks. */
export function compare(before: TaskRow | undefined, row: TaskRow): void {
  if (!before) return;
  assert.ok(row.epoch >= before.epoch, `the epoch of ${row.id} fell`);
  assert.ok(row.generation >= before.generation, `the generation of ${row.id} fell`);
  if (row.claimedBy !== before.claimedBy && row.claimedBy !== undefined) {
    assert.ok(row.epoch > before.epoch, `${row.id} has another owner under the same epoch`);
  }
  if (before.finishedAt !== undefined && row.generation === before.generation) {
    assert.deepEqual(endOf(row), endOf(before));
  }
}

/** A birth may be refused, for an id that had its life; every other failure is one. */
export function refusal(error: unknown): void {
  if (!(error instanceof StoreRefusedError)) throw error;
}

function endOf({ status, outcome, result, error, epoch }: TaskRow) {
  return { status, outcome, result, error, epoch };
}
