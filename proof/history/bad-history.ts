/** How a good history is made bad: in one place, and nowhere else. */
import type { Change, Effect, EndRow, PodLife } from './evidence.ts';
import {
  DONE,
  EFFECTS,
  END,
  fileOf,
  INTERRUPTED,
  type Line,
  type Made,
  PODS,
  PROBED,
  STARTED,
  TAKEN_INSIDE,
} from './made-history.ts';

export interface BadHistory {
  readonly what: string;
  readonly made: () => Made;
}

/** By the name of the rule that must refuse them. */
export type BadHistories = Readonly<Record<string, readonly BadHistory[]>>;

export const STRANGER = '01J00000000000000000000009';
/** What the good history has of its first owner, and of its second. */
export const FIRST: Line[number] = [1, STARTED, DONE];
export const REST = [TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE, END] as const;

export function withRow(more: Partial<EndRow>): Made {
  return { file: fileOf(undefined, more) };
}

/** The good file with other changes than the last one. */
export function withChanges(act: (changes: readonly Change[]) => readonly Change[]): Made {
  const file = fileOf();
  return { file: { ...file, changes: act(file.changes) } };
}

/** The first owner ended by its own word, which counts nothing; the second goes on by these records. */
export function afterDrain(...records: Line[number][1][]): Made {
  const file = fileOf([FIRST, [3, ...records]]);
  const changes = file.changes.map((each) => ({ ...each, wasCrashes: 0, crashes: 0 }));
  return { file: { ...file, changes }, ...withPod('pod-1', { deadBy: 'pod-1' }) };
}

/** All effects as of first attempts. */
export const FIRST_ATTEMPTS = EFFECTS.map((each) => ({ ...each, attempt: 1, at: each.at + 200 }));

export function withPod(pod: string, more: Partial<PodLife>): Made {
  return { pods: PODS.map((each) => (each.pod === pod ? { ...each, ...more } : each)) };
}

/** The effects, with one of them changed or gone. */
export function withEffect(
  phase: string,
  token: number,
  act: (effect: Effect) => Effect | undefined,
): readonly Effect[] {
  return EFFECTS.flatMap((each) =>
    each.phase === phase && each.fencingToken === token ? (act(each) ?? []) : each,
  );
}
