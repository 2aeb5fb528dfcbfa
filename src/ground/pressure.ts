/** How hard this process works: measured between two questions. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

export interface Pressure {
  /** Share of the time in which the event loop was busy, 0 to 1. */
  readonly loop: number;
  /** Share of the heap it may use that is in use, 0 to 1. */
  readonly memory: number;
}

export function systemPressure(): () => Pressure {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return { loop: utilization, memory: used_heap_size / heap_size_limit };
  };
}
