/** A heart that can be heard: what comes of each of its beats is told, whoever listens. */
import { tell } from '../telemetry/events.ts';
import { deadlineOf, type Heart, type HeartOptions, type MakeHeart } from './heart.ts';
import { failureOf } from './timed-store.ts';

export function audible(makeHeart: MakeHeart, options: HeartOptions): Heart {
  const { pod, clock } = options;
  return makeHeart({
    ...options,
    onHeard: (heard) => {
      const { answer, sentMs, heardMs } = heard;
      const result = answer.kind;
      const deadlineMs = result === 'taken' ? deadlineOf(sentMs, options) : undefined;
      tell('pod.beat', () => ({ pod, result, sentMs, heardMs, deadlineMs, failure: undefined }));
      options.onHeard(heard);
    },
    onFailed: (error, sentMs = clock.monotonicMs()) => {
      tell('pod.beat', () => ({
        pod,
        result: 'failed',
        sentMs,
        heardMs: clock.monotonicMs(),
        deadlineMs: undefined,
        failure: failureOf(error),
      }));
      options.onFailed(error, sentMs);
    },
  });
}
