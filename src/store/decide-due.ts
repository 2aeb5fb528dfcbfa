/** When a task is due, and how long it has from then: what people may change about that. */
import { boundedSpan, boundedTime } from './bounds.ts';
import {
  already,
  type Decision,
  givenBack,
  hasEnded,
  type Refused,
  refused,
  type Subject,
} from './decision.ts';
import type { Due } from './tasks.ts';
import type { WaitFor } from './words.ts';

/** A sleep is part of what the machine does, and the rest wait for something else than time. */
const RETRIED: readonly (WaitFor | undefined)[] = [
  undefined,
  ...(['time', 'retry', 'throttle', 'version', 'key'] as const),
];

export function retry(task: Subject, now: number): Decision {
  const refusal = refusalOfTime(task, RETRIED);
  if (refusal) return refusal;
  if (task.isPaused) return refused('unfit', 'it is paused; resume it');
  return task.runAt <= now ? already : { kind: 'done', patch: { runAt: now } };
}

/** The others are woken by something else than time. What follows a run follows it no more then. */
const TIMED: readonly (WaitFor | undefined)[] = [
  undefined,
  ...(['time', 'retry', 'throttle', 'sleep', 'turn', 'run'] as const),
];

export function reschedule(task: Subject, due: Due, now: number): Decision {
  const refusal = refusalOfTime(task, TIMED);
  if (refusal) return refusal;
  const runAt = boundedTime(Math.ceil('at' in due ? due.at : now + boundedSpan(due.afterMs)));
  const isLater = runAt > now;
  // Its turn comes when it comes, however early it is due.
  const isQueued = task.waitFor === 'turn';
  // What is put off has as long as before once it is due, and no longer once it is brought forward
  // again; what the machine itself waits for takes nothing from it.
  const laterMs = Math.max(runAt, now) - Math.max(task.runAt, now);
  const putOffMs = Math.max(0, task.putOffMs + laterMs);
  return {
    kind: 'done',
    patch: {
      runAt,
      status: isLater || isQueued ? 'waiting' : 'pending',
      waitFor: isLater || isQueued ? waitsAs(task.waitFor) : undefined,
      ...(isLater ? givenBack(task) : {}),
      ...(task.deadlineAt === undefined
        ? {}
        : {
            deadlineAt: boundedTime(Math.ceil(task.deadlineAt + putOffMs - task.putOffMs)),
            putOffMs,
          }),
    },
  };
}

function waitsAs(waitFor: WaitFor | undefined): WaitFor {
  return waitFor === undefined || waitFor === 'run' ? 'time' : waitFor;
}

function refusalOfTime(
  task: Subject,
  waits: readonly (WaitFor | undefined)[],
): Refused | undefined {
  if (hasEnded(task)) return refused('ended', `it is ${task.status}`);
  if (task.status === 'claimed') return refused('held', `${task.claimedBy} is at it`);
  if (waits.includes(task.waitFor)) return undefined;
  return refused('unfit', `it waits for ${task.waitFor}`);
}

/** How long it may take from when it is due, as whoever enqueued it has said. */
export function spanOf({ deadlineAt, begunAt, putOffMs }: Subject): number | undefined {
  return deadlineAt === undefined ? undefined : deadlineAt - begunAt - putOffMs;
}
