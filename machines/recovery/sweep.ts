/**
 * Gives back to the fleet what dead pods left behind. Every phase is safe to repeat, by this pod or by
 * any other: the fence comes first and is never taken back, each task is released once per epoch, and
 * the next sweep looks at whatever is left.
 */
import { defineMachine, handoff, type Recovery } from 'fleetq';
import * as z from 'zod';

/** How many of the rescued tasks a record names; the rest it counts. */
const NAMED_COUNT_MAX = 1_000;
/** Not a failure: whoever is at them ends them, or the next sweep does. */
const SHARED = 'others are at its tasks';

type Swept = {
  readonly pod: string;
  readonly why: string;
  readonly requeued: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly waitingForHost: number;
  readonly tasks: readonly string[];
  /** Why it could not be swept to the end: the next sweep tries again. */
  readonly error?: string;
};

export const sweep = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/sweep',
    version: 1,
    input: z.object({ pod: z.string() }),
    retry: { attemptMax: 3 },
    timeout: { run: '10m' },
    check: async () => {
      const nothing = { pods: [] as Swept[], isOutage: false };
      const standing = recovery.standing();
      if (!standing?.maySweep) return handoff(nothing, 'it is for another pod to sweep');
      if (!standing.isSteady) return handoff(nothing, 'this pod was not heard for long enough');
      const { pods } = await recovery.worklist();
      return pods.length > 0 ? undefined : handoff(nothing, 'nobody is missing');
    },
    work: async ({ progress, signal }) => {
      const { pods, isOutage } = await recovery.worklist();
      const swept: Swept[] = [];
      for (const { pod, why, wasWilling } of pods) {
        signal.throwIfAborted();
        if (why === 'silent' && !(await recovery.fence(pod))) continue;
        const one = await takeAll(recovery, pod, why, !isOutage && !wasWilling);
        swept.push(one);
        const what = one.error === undefined ? 'was swept' : `was not swept: ${one.error}`;
        progress(swept.length / pods.length, `${pod} ${what}`);
      }
      // Where nothing could be done, it is not the pods: this run fails, is tried again, and is seen.
      // Once a task has been rescued it must be told, and a second attempt would tell the rest only.
      const [first] = swept;
      const isInVain = ({ error, tasks }: Swept) =>
        error !== undefined && error !== SHARED && tasks.length === 0;
      if (first && swept.every(isInVain)) {
        throw new Error(`${first.pod} could not be swept: ${first.error}`);
      }
      return { pods: swept, isOutage };
    },
    validate: async ({ work }) => {
      for (const { pod, error } of work.pods) {
        if (error === undefined && (await recovery.holdsAny(pod)))
          throw new Error(`${pod} still holds tasks`);
      }
    },
    persist: async ({ work }) => {
      for (const { pod, error } of work.pods) if (error === undefined) await recovery.retire(pod);
      if (work.pods.some(({ failed }) => failed > 0)) await recovery.refreshDeadLetters();
      return work;
    },
  });

async function takeAll(
  recovery: Recovery,
  pod: string,
  why: string,
  countsCrash: boolean,
): Promise<Swept> {
  const counts = { pending: 0, failed: 0, cancelled: 0, waiting: 0 };
  const tasks: string[] = [];
  const swept = () => {
    const { pending: requeued, failed, cancelled, waiting: waitingForHost } = counts;
    return { pod, why, requeued, failed, cancelled, waitingForHost, tasks };
  };
  try {
    for (;;) {
      const taken = await recovery.take(pod, countsCrash);
      for (const { task, status } of taken) {
        if (status in counts) counts[status as keyof typeof counts]++;
        if (tasks.length < NAMED_COUNT_MAX) tasks.push(task);
      }
      if (taken.length > 0) continue;
      // What another sweep has under its hands just now is not seen by ours, and may come back.
      if (!(await recovery.holdsAny(pod))) return swept();
      return { ...swept(), error: SHARED };
    }
  } catch (error) {
    // The tasks of the other dead pods do not wait for this one.
    return { ...swept(), error: error instanceof Error ? error.message : String(error) };
  }
}
