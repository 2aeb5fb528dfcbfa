/** Takes the file of a task apart into its generations: each is a run of its own, with its own end. */

import type { StoredRecord } from '../../src/journal/index.ts';
import type { Plan } from '../../src/machine/index.ts';
import { type History, historyIn, readRecords } from './accepted-history.ts';
import type { Change, Effect, TaskFile } from './evidence.ts';
import type { Life, LifeEnd } from './rule.ts';

/** `known`: the records of its last generation, where they have been read. */
export function livesOf(
  file: TaskFile,
  plan: Plan,
  effects: readonly Effect[],
  known?: readonly StoredRecord[],
): Life[] {
  const { row, segments, changes } = file;
  const performed = effects
    .filter(({ phase }) => phase !== 'probe')
    .sort((one, other) => one.at - other.at);
  const starts = startsOf(changes);
  return Array.from({ length: row.generation }, (_, index) => {
    const generation = index + 1;
    const [from, to] = [starts.get(generation) ?? 0, starts.get(generation + 1)];
    const own = changes.filter((change) => change.generation === generation);
    const isLast = generation === row.generation;
    const ofLife = segments.filter((part) => part.generation === generation);
    const end = isLast
      ? { status: row.status, outcome: row.outcome, hash: row.lastHash }
      : endOf(own.at(-1));
    return {
      task: row.task,
      generation,
      row: isLast ? row : undefined,
      end,
      plan,
      changes: own,
      segments: ofLife,
      effects: performed.filter(
        ({ fencingToken }) => fencingToken >= from && (to === undefined || fencingToken < to),
      ),
      claims: claimsOf(own),
      ...historyOf(file, plan, () =>
        isLast && known ? known : readRecords(row.task, ofLife, end.hash),
      ),
    };
  });
}

/** The epoch under which each generation but the first began. */
function startsOf(changes: readonly Change[]): ReadonlyMap<number, number> {
  return new Map(
    changes.flatMap(({ generation, wasGeneration, epoch }) =>
      generation > wasGeneration ? [[generation, epoch] as const] : [],
    ),
  );
}

function endOf(last: Change | undefined): LifeEnd {
  return { status: last?.status ?? 'pending', outcome: last?.outcome, hash: last?.hash };
}

function claimsOf(changes: readonly Change[]): Life['claims'] {
  const claims = new Map<number, { at: number; owner: string }>();
  for (const { owner, epoch, at } of changes) {
    if (owner !== undefined && !claims.has(epoch)) claims.set(epoch, { at, owner });
  }
  return claims;
}

function historyOf(
  { row }: TaskFile,
  plan: Plan,
  read: () => readonly StoredRecord[],
): { readonly history: History | undefined; readonly broken: string | undefined } {
  try {
    return { history: historyIn(row.task, read(), plan), broken: undefined };
  } catch (error) {
    return { history: undefined, broken: (error as Error).message };
  }
}
