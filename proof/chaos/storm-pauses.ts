/**
 * Whether a pause was one. By the rows:
 *
 *   what is paused is given to nobody
 *   whoever was asked to pause it ends it, or gives it back paused; nobody else gets it before that,
 *   but for saying the end that its records told already
 *
 * and by the calls: one that was done was so at some instant between question and answer.
 */
import type { StormCall } from './storm.ts';
import { COMMIT_MS_MAX, isEnded, LATE_MS, ROUNDING_MS, wasToldBefore } from './storm-terms.ts';
import type { Change, TaskFile } from './witness.ts';

export function pauseFaults(file: TaskFile, calls: readonly StormCall[]): string[] {
  const { changes } = file;
  return [
    ...changes.flatMap((change) => givenFaults(change)),
    ...changes.flatMap((change, index) => askedFaults(change, index, file, calls)),
    ...calls.flatMap((call) => callFaults(call, changes)),
  ];
}

function givenFaults({ wasPaused, owner, wasOwner }: Change): string[] {
  return wasPaused && owner !== undefined && owner !== wasOwner
    ? [`it was paused, and given to ${owner}`]
    : [];
}

function askedFaults(
  asked: Change,
  index: number,
  file: TaskFile,
  calls: readonly StormCall[],
): string[] {
  if (asked.control !== 'pause' || asked.wasControl === 'pause') return [];
  const next = file.changes
    .slice(index + 1)
    .find(({ owner, control }) => owner !== asked.owner || control !== asked.control);
  // It went on in the same hands until it was asked for something else, or nothing more came.
  if (!next || next.owner === asked.owner) return [];
  if (wasToldBefore(next, file)) return [];
  if (next.owner !== undefined) return [`its owner was to pause it, and ${next.owner} got it`];
  if (isEnded(next.status) || next.isPaused || wasAskedBetween('resume', asked, next, calls))
    return [];
  return [`its owner was to pause it, and gave it back as ${next.status}`];
}

/** Or may have been: what nobody has answered may be carried out late. */
function wasAskedBetween(
  what: StormCall['what'],
  from: Change,
  to: Change,
  calls: readonly StormCall[],
): boolean {
  return calls.some(
    (call) =>
      call.what === what &&
      call.begunAt <= to.at + ROUNDING_MS &&
      call.endedAt + (call.answer === 'away' ? LATE_MS : 0) >= from.at - COMMIT_MS_MAX,
  );
}

function callFaults(
  { what, answer, begunAt, endedAt }: StormCall,
  changes: readonly Change[],
): string[] {
  if ((what !== 'pause' && what !== 'resume') || answer !== 'done') return [];
  const wanted = what === 'pause';
  const isSo = changes.some((change, index) => {
    const untilAt = changes[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const isThen = change.at <= endedAt + ROUNDING_MS && untilAt >= begunAt - COMMIT_MS_MAX;
    return isThen && (change.isPaused === true || change.control === 'pause') === wanted;
  });
  const wasAlwaysFree = !wanted && (changes[0]?.at ?? Number.POSITIVE_INFINITY) >= begunAt;
  return isSo || wasAlwaysFree ? [] : [`a ${what} was done, and it was not so`];
}
