/**
 * What a live view asks of the shared tables, all in one question, however many people look. Tasks
 * that somebody follows come with how far the store has their records; with `sinceMs` come those that
 * have changed.
 */
import type { RunId } from '../ground/index.ts';
import type { TaskGlance } from './reader.ts';
import type { Head } from './store.ts';

export interface WatchQuery {
  /** Told whether they have changed or not, with their heads. */
  readonly followed: readonly RunId[];
  /** Told if they have changed since: tasks that were claimed when the last question was asked. */
  readonly others: readonly RunId[];
  /** By the store's clock; undefined: nothing but those that are followed. */
  readonly sinceMs: number | undefined;
  /** Of the last answer: what was not committed then is told now, whatever time it bears. */
  readonly mark?: string | undefined;
  readonly countMax: number;
}

export interface Watch {
  /** The store's clock, before anything was looked at. */
  readonly nowMs: number;
  /**
   * The tasks that are followed, and those that were made, claimed, written about while claimed, ended
   * or changed by people since then. One that changes otherwise while it waits is among them if it is
   * asked for by its id.
   */
  readonly tasks: readonly TaskGlance[];
  /** Of the present generation of those that are followed. */
  readonly heads: readonly Head[];
  /** More have changed than are told. */
  readonly hasMore: boolean;
  /** How far this answer goes, for the next question; opaque. */
  readonly mark: string | undefined;
}

/** A row without what is large; `hasMore` where more than `countMax` of them are not followed. */
export function watchOf(
  { followed, countMax }: WatchQuery,
  nowMs: number,
  tasks: readonly TaskGlance[],
  heads: readonly Head[],
  mark?: string,
): Watch {
  const wanted = new Set(followed);
  let room = countMax;
  const kept = tasks.filter(({ id }) => wanted.has(id) || room-- > 0);
  return { nowMs, tasks: kept, heads, hasMore: kept.length < tasks.length, mark };
}

export function glanceOf<Row extends TaskGlance>(row: Row): TaskGlance {
  const {
    payload: _payload,
    result: _result,
    ...glance
  } = row as Row & {
    payload?: unknown;
    result?: unknown;
  };
  return glance as unknown as TaskGlance;
}
