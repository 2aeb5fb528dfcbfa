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

/** Stands in the text of the statement by which a pod claims, and of no other. */
export const CLAIM_STATEMENT = 'ready_head';

/** Shares of measured times, to a tenth of a millisecond; null where nothing was measured. */
export function sharesOf(times: readonly number[]): { p50: number | null; p99: number | null } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted.length === 0
      ? null
      : Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10;
  return { p50: at(0.5), p99: at(0.99) };
}
