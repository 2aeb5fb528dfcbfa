import type { RunId } from '../../src/ground/index.ts';
import type { NewTask } from '../../src/store/index.ts';

/** A task as `enqueue` of the library makes it. */
export function newTask(id: RunId, machine: string, n: number): NewTask {
  return {
    id,
    machine,
    version: 1,
    queue: 'default',
    priority: 0,
    due: undefined,
    payload: JSON.stringify({ n }),
    key: undefined,
    keyMs: 0,
    retriesMax: undefined,
    deadlineMs: 3_600_000,
    traceParent: undefined,
  };
}
