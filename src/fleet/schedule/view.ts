/** A schedule as people see it: when it ticks next, what came of it, and what is wrong with it. */
import { describeSealed, type RunId } from '../../ground/index.ts';
import { type ScheduleRow, type StoreReader, ticksOf } from '../../store/index.ts';

export interface ScheduleView {
  readonly name: string;
  readonly status: string;
  readonly machine: string;
  readonly cron: string;
  readonly zone: string;
  /** JSON; what it is sealed with, where there is no key. */
  readonly input: unknown;
  readonly tickAs: string | undefined;
  readonly missed: string;
  readonly overlap: string;
  readonly jitterMs: number;
  readonly queue: string;
  readonly priority: number;
  readonly source: string;
  readonly revision: number;
  readonly edition: number;
  readonly ticks: number;
  /** Ticks that were left out, since the run before had not ended. */
  readonly skipped: number;
  /** The next ones, as many as were asked for; none where it is not active. */
  readonly next: readonly number[];
  readonly lastAt: number | undefined;
  readonly lastRun: RunId | undefined;
  readonly lastRunAt: number | undefined;
  readonly trouble: string | undefined;
  /** No pod that is up has its machine: ticks wait until one has, and are missed then. */
  readonly isUnmanned: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const NEXT_COUNT_MAX = 100;

/** With the ticks that follow, and whether anybody is there to see to them. */
export async function viewsOf(
  rows: readonly ScheduleRow[],
  reader: Pick<StoreReader, 'pods'>,
  nextCount = 1,
): Promise<ScheduleView[]> {
  const pods = rows.length > 0 ? await reader.pods() : [];
  const routes = pods.filter(({ status }) => status === 'up').flatMap((pod) => pod.routes);
  const manned = new Set(routes.map((route) => route.slice(0, route.lastIndexOf('@'))));
  return rows.map((row) => viewOf(row, manned, nextCount));
}

function viewOf(row: ScheduleRow, manned: ReadonlySet<string>, nextCount: number): ScheduleView {
  const { expression, payload, declared: _, nextAt: __, ...same } = row;
  const isUnmanned = row.status === 'active' && !manned.has(row.machine);
  const input = inputOf(payload);
  return { ...same, cron: expression, input, next: nextOf(row, nextCount), isUnmanned };
}

/** From the one that is not put in yet, which may be past. */
export function nextOf({ nextAt, expression, zone }: ScheduleRow, count: number): number[] {
  const ticks = ticksOf(expression, zone);
  const found: number[] = [];
  let next = nextAt;
  while (next !== undefined && found.length < Math.min(count, NEXT_COUNT_MAX)) {
    found.push(next);
    next = ticks.after(next);
  }
  return found;
}

function inputOf(payload: string): unknown {
  const sealed = describeSealed(payload);
  if (sealed !== undefined) return { sealed };
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
