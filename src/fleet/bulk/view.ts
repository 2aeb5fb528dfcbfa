/** A bulk operation as people see it: how far it is, at what pace, and who is at it. */
import type { RunId } from '../../ground/index.ts';
import {
  type BulkRow,
  isBulkOver,
  type PodRow,
  type StoreReader,
  type TaskRow,
} from '../../store/index.ts';

export interface BulkView {
  readonly id: string;
  readonly what: string;
  /** What it was told besides: a reason, a time; as text where it is sealed and there is no key. */
  readonly deed: unknown;
  readonly filter: string;
  /** It looks at the names of errors alone, and so tells nothing of what they say. */
  readonly isMasked: boolean;
  readonly status: string;
  /** It is to go on, and the run that was to do so has ended: resume it. */
  readonly isStalled: boolean;
  /** It waits for a pod, and none is up. */
  readonly isUnmanned: boolean;
  readonly rate: number;
  readonly limit: number | undefined;
  readonly who: string;
  readonly via: string;
  readonly found: number;
  readonly done: number;
  readonly requested: number;
  readonly already: number;
  readonly refused: number;
  readonly refusals: Readonly<Partial<Record<string, number>>>;
  readonly samples: BulkRow['samples'];
  /** How many there were when it began, where they could be counted. */
  readonly expected: number | undefined;
  readonly fraction: number | undefined;
  /** How long the rest takes at its rate. */
  readonly leftMs: number | undefined;
  readonly shift: {
    readonly run: RunId;
    readonly count: number;
    readonly status: string | undefined;
    readonly pod: string | undefined;
  };
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | undefined;
}

/** With the runs that are at them, found at once. */
export async function viewsOf(
  rows: readonly BulkRow[],
  reader: Pick<StoreReader, 'find' | 'pods'>,
): Promise<BulkView[]> {
  const open = rows.filter(({ status }) => !isBulkOver(status));
  const runs = open.length > 0 ? await reader.find(open.map(({ shiftRun }) => shiftRun)) : [];
  const byId = new Map(runs.map((row) => [row.id, row]));
  const isUnmanned = runs.some(isUntaken) && !(await reader.pods()).some(isUp);
  return rows.map((row) => viewOf(row, byId.get(row.shiftRun), isUnmanned));
}

function isUntaken({ claimedBy, finishedAt }: TaskRow): boolean {
  return claimedBy === undefined && finishedAt === undefined;
}

function isUp({ status }: PodRow): boolean {
  return status === 'up';
}

function viewOf(row: BulkRow, run: TaskRow | undefined, isUnmanned: boolean): BulkView {
  const { id, what, filter, isMasked, status, rate, who, via, found, refusals, samples, expected } =
    row;
  const { done, requested, already, refused, createdAt, updatedAt, endedAt } = row;
  const acted = done + requested + already + refused;
  const isWaitedFor = status === 'running' || status === 'pausing' || status === 'cancelling';
  const left = expected === undefined ? undefined : Math.max(0, expected - acted);
  return {
    ...{ id, what, filter, isMasked, status, rate, who, via, found, refusals, samples, expected },
    ...{ done, requested, already, refused, createdAt, updatedAt, endedAt },
    deed: deedOf(row.deed),
    limit: row.countMax,
    isStalled: isWaitedFor && (run === undefined || run.finishedAt !== undefined),
    isUnmanned: isUnmanned && isWaitedFor && run !== undefined && isUntaken(run),
    fraction: fractionOf(status, acted, expected),
    leftMs: status === 'running' && left !== undefined ? (left / rate) * 1_000 : undefined,
    shift: { run: row.shiftRun, count: row.shift, status: run?.status, pod: run?.claimedBy },
  };
}

function fractionOf(
  status: string,
  acted: number,
  expected: number | undefined,
): number | undefined {
  if (status === 'completed') return 1;
  if (expected === undefined) return undefined;
  return expected === 0 ? 0 : Math.min(1, acted / expected);
}

function deedOf(text: string): unknown {
  try {
    const { what: _, ...rest } = JSON.parse(text) as { readonly what: string };
    return rest;
  } catch {
    return text;
  }
}
