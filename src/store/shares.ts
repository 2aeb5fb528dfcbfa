/**
 * Who is next among tasks that are ready: the highest priority first; of one priority the first task of each
 * queue, then the second of each, and so on; within a queue by due time. So a crowd in one queue keeps no
 * other queue waiting. Of each priority the look begins behind the queue that the last claim of it ended with
 * and goes round to it: where there are more queues than a claim takes tasks, the next claim begins where
 * this one ended.
 */

/** Of a level, the queue that the last claim ended with. */
export type Behind = ReadonlyMap<string, string> | undefined;

/** A route at one priority. */
export function levelOf(route: string, priority: number): string {
  return `${priority} ${route}`;
}

export function partsOf(level: string): { readonly route: string; readonly priority: number } {
  const end = level.indexOf(' ');
  return { priority: Number(level.slice(0, end)), route: level.slice(end + 1) };
}

/** Of more levels none is remembered: the ones that were claimed from longest ago are forgotten. */
const LEVEL_COUNT_MAX = 100;

/** The next look at that level begins behind this queue. */
export function remember(
  behind: Map<string, string>,
  { route, priority, queue }: Pick<InLine, 'route' | 'priority' | 'queue'>,
): void {
  const level = levelOf(route, priority);
  behind.delete(level);
  behind.set(level, queue);
  if (behind.size > LEVEL_COUNT_MAX) behind.delete(behind.keys().next().value!);
}

export interface InLine {
  readonly id: string;
  readonly route: string;
  readonly queue: string;
  readonly priority: number;
  readonly runAt: number;
}

interface Numbered<Row> {
  readonly row: Row;
  readonly at: InLine;
  /** Which of its queue and priority it is. */
  readonly number: number;
}

export function inShares<Row>(
  rows: readonly Row[],
  inLine: (row: Row) => InLine,
  behind: Behind,
): Row[] {
  const counts = new Map<string, number>();
  const isBehind = ({ route, priority, queue }: InLine) =>
    queue <= (behind?.get(levelOf(route, priority)) ?? '');
  return rows
    .map((row) => ({ row, at: inLine(row) }))
    .sort((one, other) => byDueTime(one.at, other.at))
    .map(({ row, at }): Numbered<Row> => {
      const place = `${at.priority}\n${at.queue}`;
      const number = (counts.get(place) ?? 0) + 1;
      counts.set(place, number);
      return { row, at, number };
    })
    .sort(
      ({ at: one, ...a }, { at: other, ...b }) =>
        other.priority - one.priority ||
        a.number - b.number ||
        Number(isBehind(one)) - Number(isBehind(other)) ||
        compare(one.queue, other.queue) ||
        byDueTime(one, other),
    )
    .map(({ row }) => row);
}

function byDueTime(one: InLine, other: InLine): number {
  return one.runAt - other.runAt || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
