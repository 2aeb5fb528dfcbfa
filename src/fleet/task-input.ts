/** The input of a task that nobody has begun: whatever its row holds, which may have come by hand. */
import { describeError, encodeJson, type Json, TooLargeError } from '../ground/index.ts';
import type { ClaimedTask } from '../store/index.ts';
import { BadTaskError } from './errors.ts';

export function inputOf(
  task: Pick<ClaimedTask, 'machine' | 'payload' | 'oversizeBytes' | 'unopened'>,
  bytesMax: number,
): Json {
  const { payload, machine } = task;
  const what = `the input of ${machine}`;
  if (task.oversizeBytes !== undefined) throw new TooLargeError(what, bytesMax);
  if (task.unopened) throw task.unopened;
  if (payload === undefined) {
    throw new BadTaskError('the payload is missing', {
      hint: 'write JSON into the column payload; null is JSON too',
    });
  }
  let input: Json;
  try {
    input = JSON.parse(payload) as Json;
  } catch (cause) {
    throw new BadTaskError(`the payload is not JSON: ${describeError(cause).message}`, { cause });
  }
  encodeJson(input, what, bytesMax);
  return input;
}
