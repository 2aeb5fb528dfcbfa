/**
 * What a store with a query language has to answer so that questions can be put to it: a part of an
 * index at a time, each at a cost that is known before.
 */
import type { TaskGlance } from '../reader.ts';
import type { TaskStatus } from '../words.ts';
import type { Position } from './cursor.ts';
import type { Hook, Question } from './question.ts';

export interface Found extends Position {
  readonly task: TaskGlance;
}

/** The last row that was looked at. */
export interface End extends Position {
  readonly createdMs: number;
}

export interface Slice {
  /** Rows that hold the conditions, newest first. */
  readonly found: readonly Found[];
  /** Undefined where nothing older is left. */
  readonly end: End | undefined;
}

/** Parts of equal length; the last one may be cut short. */
export interface Parts {
  readonly fromMs: number;
  readonly widthMs: number;
}

export interface Tally {
  readonly counts: readonly {
    readonly part: number;
    readonly status: TaskStatus;
    readonly count: number;
  }[];
  readonly end: End | undefined;
}

export interface Reach {
  readonly question: Question;
  /** Only what is older. */
  readonly after: Position | undefined;
  /** No more rows than these are looked at. */
  readonly rowsMax: number;
}

export interface TaskSource {
  now(): Promise<number>;
  liveRoutes(): Promise<readonly string[]>;
  /** Ends early where `foundMax` were found; then its end is of no meaning. */
  slice(reach: Reach, foundMax: number): Promise<Slice>;
  /** Only where the question is exact. */
  tally(reach: Reach, parts: Parts): Promise<Tally>;
  /** The ids that an index finds; undefined where they are more than `HOOKED_MAX`. */
  gather(hook: Hook): Promise<readonly string[] | undefined>;
  /** The same as a slice of these alone, without an end. */
  among(
    ids: readonly string[],
    reach: Omit<Reach, 'rowsMax'>,
    foundMax: number,
  ): Promise<readonly Found[]>;
  /** Whether a text can be the time of a position. */
  isAt(text: string): boolean;
  /** How many rows one statement looks at: at first, at most, and for how long it should take. */
  readonly pace: { readonly rowsFirst: number; readonly rowsMax: number; readonly sliceMs: number };
}

/** More than these are walked to rather than gathered. */
export const HOOKED_MAX = 1_000;
