/**
 * Whether people were told the truth. Each call is held against what the witness saw of the row: an
 * answer is true if the row was as it says at some instant between question and answer, and what it
 * promises holds for the rest of that generation.
 *
 *   cancel done        it is cancelled, and nothing of that generation changes any more
 *   cancel requested   it was claimed; it ends where it is, and is given to nobody else
 *   reschedule done    it is claimed by nobody before its time
 *   redrive n          generation n began, for one of those who asked
 *   pause, resume      see the rules of pauses
 *
 * What has a deadline is not ended for it before it is over.
 */
import { isHopeless } from './aside-shapes.ts';
import type { StormCall, StormTask } from './storm.ts';
import { pauseFaults } from './storm-pauses.ts';
import { COMMIT_MS_MAX, isEnded, LATE_MS, ROUNDING_MS, wasToldBefore } from './storm-terms.ts';
import type { Change, TaskFile } from './witness.ts';

/** Whether the clock of the store was set then. */
type WasSet = (from: number, to: number) => boolean;
/** Not all processes of the server see it at once. */
const SET_MS_MAX = 3_000;

/** What a row was from one change to the next. */
interface Span {
  readonly status: string;
  readonly generation: number;
  readonly fromAt: number;
  readonly toAt: number;
}

export interface StormBook {
  readonly calls: readonly StormCall[];
  readonly tasks: readonly StormTask[];
}

/** In words, each with its task. */
export function judgeStorm(
  files: readonly TaskFile[],
  { calls, tasks }: StormBook,
  clockSetAt?: number,
): string[] {
  const wasSet: WasSet = (from, to) =>
    clockSetAt !== undefined && from <= clockSetAt + SET_MS_MAX && to >= clockSetAt;
  const callsOf = new Map<string, StormCall[]>(tasks.map(({ task }) => [task, []]));
  for (const call of calls) callsOf.get(call.task)?.push(call);
  const enqueued = new Map<string, StormTask>(tasks.map((each) => [each.task, each]));
  const seen = new Set<string>(files.map(({ row }) => row.task));
  const missing = tasks.filter(({ task }) => !seen.has(task));
  return files
    .flatMap((file) => {
      const { task } = file.row;
      const own = callsOf.get(task) ?? [];
      const words = [
        ...endFaults(file, enqueued.get(task)?.subject),
        ...deadlineFaults(file, enqueued.get(task), wasSet),
        ...changeFaults(file, own),
        ...own.flatMap((call) => callFaults(call, file, own, wasSet)),
        ...redriveFaults(own),
        ...pauseFaults(file, own),
      ];
      return words.map((word) => `${task}: ${word}`);
    })
    .concat(missing.map(({ task }) => `${task}: it was acknowledged, and is not in the store`));
}

function endFaults({ row }: TaskFile, subject: string | undefined): string[] {
  const { status, result } = row;
  if (subject === undefined) return ['nobody has enqueued it'];
  if (!isEnded(status)) return [`it is ${status} at the end`];
  if (status !== 'completed') return [];
  if (isHopeless(subject)) return ['it can only fail, and is completed'];
  const isOwn = result === JSON.stringify({ kept: subject });
  return isOwn ? [] : [`its result is ${result}, and it is of ${subject}`];
}

function deadlineFaults(
  { changes }: TaskFile,
  enqueued: StormTask | undefined,
  wasSet: WasSet,
): string[] {
  const { sentAt = 0, deadlineMs } = enqueued ?? {};
  let begunAt = sentAt;
  return changes.flatMap(({ at, generation, wasGeneration, outcome, wasOutcome }) => {
    if (generation !== wasGeneration) begunAt = at;
    if (outcome !== 'timedOut' || wasOutcome === 'timedOut') return [];
    if (deadlineMs === undefined) return ['it has no deadline, and was ended for it'];
    const tookMs = Math.round(at - begunAt);
    return tookMs + ROUNDING_MS >= deadlineMs || wasSet(begunAt, at)
      ? []
      : [`it had ${deadlineMs} ms, and was ended for its deadline after ${tookMs}`];
  });
}

/** Every change has somebody who may have made it. */
function changeFaults({ changes }: TaskFile, calls: readonly StormCall[]): string[] {
  return changes.flatMap((change) => {
    const { wasStatus = '', status, generation, wasGeneration, epoch, wasEpoch, at } = change;
    const wasAsked = (what: StormCall['what']) =>
      calls.some((call) => call.what === what && call.begunAt <= at + ROUNDING_MS);
    if (epoch < wasEpoch) return [`its epoch fell from ${wasEpoch} to ${epoch}`];
    if (generation !== wasGeneration) {
      if (generation !== wasGeneration + 1 || !isEnded(wasStatus) || !wasAsked('redrive')) {
        return [`generation ${generation} began while it was ${wasStatus}`];
      }
      return [];
    }
    const isTouched = status !== wasStatus || epoch !== wasEpoch || change.hash !== change.wasHash;
    if (isEnded(wasStatus) && isTouched) return [`it was ${wasStatus}, and became ${status}`];
    const isCancelled = status === 'cancelled' && wasStatus !== 'cancelled';
    return isCancelled && !wasAsked('cancel') ? ['it is cancelled, and nobody has asked'] : [];
  });
}

function callFaults(
  call: StormCall,
  file: TaskFile,
  all: readonly StormCall[],
  wasSet: WasSet,
): string[] {
  const { what, answer, begunAt, endedAt } = call;
  const during = spansOf(file).filter(
    ({ fromAt, toAt }) => fromAt <= endedAt + ROUNDING_MS && toAt >= begunAt - COMMIT_MS_MAX,
  );
  const was = (...statuses: string[]) => during.some(({ status }) => statuses.includes(status));
  if (what === 'cancel' && answer === 'done' && !was('cancelled')) {
    return ['a cancel was done, and it was not cancelled'];
  }
  if (what === 'cancel' && answer === 'tooLate' && !was('completed', 'failed')) {
    return ['a cancel was too late, and it had not ended'];
  }
  if (what === 'cancel' && answer === 'requested') return requestFaults(call, file);
  if (what === 'reschedule' && answer === 'done') {
    return dueFaults(call, file, all, wasSet);
  }
  return [];
}

/** From the answer on it stays with whoever has it, or whoever opens the same disk, and ends. */
function requestFaults({ begunAt, endedAt }: StormCall, file: TaskFile): string[] {
  // By this call, or by an earlier one whose word was still standing.
  const asked = file.changes.find(({ at, status, control }, index) => {
    const untilAt = file.changes[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const wasThen = at <= endedAt + ROUNDING_MS && untilAt >= begunAt - COMMIT_MS_MAX;
    return status === 'claimed' && control === 'cancel' && wasThen;
  });
  if (!asked) return ['a cancel was requested, and nobody who had it was asked'];
  const given = file.changes.find(
    ({ status, generation, at }) =>
      at > asked.at &&
      generation === asked.generation &&
      (status === 'pending' || status === 'waiting'),
  );
  if (!given || wasToldBefore(given, file)) return [];
  return [`a cancel was requested, and it became ${given.status} after that`];
}

function dueFaults(
  call: StormCall,
  { changes }: TaskFile,
  all: readonly StormCall[],
  wasSet: WasSet,
): string[] {
  const { begunAt, endedAt, afterMs = 0 } = call;
  const early = changes.find(({ owner, wasOwner, at }) => {
    const isTaken = owner !== undefined && wasOwner === undefined;
    return isTaken && at > endedAt + ROUNDING_MS && at < begunAt + afterMs;
  });
  // By a clock that was set ahead its time had come.
  if (!early || wasSet(begunAt, early.at)) return [];
  // Somebody else may have changed their mind meanwhile, or may yet be heard late.
  const others = all.filter((other) => other !== call && other.begunAt <= early.at);
  const isContested = others.some(
    ({ endedAt: at, answer }) => at >= begunAt || (answer === 'away' && at >= begunAt - LATE_MS),
  );
  return isContested ? [] : [`it was put off by ${afterMs} ms, and claimed before`];
}

function redriveFaults(calls: readonly StormCall[]): string[] {
  const told = calls.flatMap(({ what, answer }) =>
    what === 'redrive' && typeof answer === 'number' ? answer : [],
  );
  const twice = told.filter((generation, index) => told.indexOf(generation) !== index);
  return twice.map((generation) => `generation ${generation} was given to two who asked`);
}

function spansOf({ row, changes }: TaskFile): Span[] {
  const first: Pick<Change, 'wasStatus' | 'wasGeneration'> | undefined = changes[0];
  const points = [
    {
      status: first?.wasStatus ?? row.status,
      generation: first?.wasGeneration ?? 0,
      at: Number.NEGATIVE_INFINITY,
    },
    ...changes,
  ];
  return points.map(({ status, generation, at }, index) => ({
    status,
    generation,
    fromAt: at,
    toAt: points[index + 1]?.at ?? Number.POSITIVE_INFINITY,
  }));
}
