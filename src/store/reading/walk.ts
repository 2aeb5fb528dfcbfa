/**
 * Looks back through a list, slice by slice, until it has what it wants or its time is over. Slices
 * grow while they are quick and shrink when they are slow: so a rare word is found soon where rows are
 * cheap to look at, and no single statement is felt by anybody else.
 */
import type { Clock } from '../../ground/index.ts';
import type { Position } from './cursor.ts';
import type { Question } from './question.ts';
import { type End, type Found, HOOKED_MAX, type TaskSource } from './source.ts';

export const BUDGET_MS = 1_000;
const GROWTH = 4;
const SLICES_MAX = 100_000;

export interface Walk {
  readonly source: TaskSource;
  readonly clock: Clock;
  readonly question: Question;
  readonly budgetMs: number;
}

/** Where it stopped: at the end of the list, or here, for want of time or of interest. */
export interface Stop {
  readonly end: End | undefined;
  readonly isOutOfTime: boolean;
}

/** Calls `look` for each slice until it says that it is done, there is nothing left, or no time. */
export async function walkBack(
  { source, clock, budgetMs }: Omit<Walk, 'question'>,
  after: Position | undefined,
  rowsFirst: number,
  look: (
    after: Position | undefined,
    rowsMax: number,
  ) => Promise<{ end: End | undefined; isDone: boolean }>,
): Promise<Stop> {
  const { rowsMax, sliceMs } = source.pace;
  const untilMs = clock.monotonicMs() + budgetMs;
  let rows = Math.min(rowsFirst, rowsMax);
  let place = after;
  for (let slices = 1; ; slices += 1) {
    const begunMs = clock.monotonicMs();
    const { end, isDone } = await look(place, rows);
    const nowMs = clock.monotonicMs();
    if (isDone || end === undefined) return { end, isOutOfTime: false };
    if (nowMs >= untilMs || slices >= SLICES_MAX) return { end, isOutOfTime: true };
    place = end;
    const elapsedMs = nowMs - begunMs;
    if (elapsedMs < sliceMs / 2) rows = Math.min(rows * GROWTH, rowsMax);
    else if (elapsedMs > sliceMs * 2) rows = Math.max(Math.ceil(rows / GROWTH), 1);
  }
}

/** The few rows that an index finds at once, where the question names such; undefined otherwise. */
export async function gathered(
  { source, question }: Pick<Walk, 'source' | 'question'>,
  after: Position | undefined,
  foundMax: number,
): Promise<readonly Found[] | undefined> {
  for (const hook of question.hooks) {
    const ids = await source.gather(hook);
    if (ids === undefined) continue;
    if (ids.length === 0) return [];
    const found = await source.among(ids, { question, after }, HOOKED_MAX);
    return found.filter(({ task }) => question.fits(task)).slice(0, foundMax);
  }
  return undefined;
}
