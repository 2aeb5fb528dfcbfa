/**
 * What each phase of a run has taken, told from its records. Runs of a list are looked at as long as
 * there is room: one with very many records, or that comes after too much was read, is told without.
 */
import { BrokenHistoryError, rowsOf } from '../../fleet/index.ts';
import { FleetqError, type RunId } from '../../ground/index.ts';
import type { Segment, StoreReader, TaskGlance } from '../../store/index.ts';

export interface PhaseTime {
  /** A step and a phase, with a dot between. */
  readonly phase: string;
  readonly ms: number;
  readonly tries: number;
  readonly failures: number;
}

export interface PhaseTimes {
  /** Where it was last. */
  readonly state: string | undefined;
  readonly phases: readonly PhaseTime[];
}

export interface Mark {
  readonly at: number;
  readonly event: string;
  readonly state: string;
  /** JSON text. */
  readonly data: string;
}

/** A run with more is looked at on its own page. */
const RECORDS_MAX = 500;
const BATCH_COUNT = 20;
/** All of them; the batch that passes it is the last. */
const BYTES_MAX = 4 * 1024 * 1024;

/** They say who goes on, and end no phase. */
const QUIET: readonly string[] = ['STARTED', 'TAKEN', 'ADVANCED', 'UPGRADED', 'INTERRUPTED'];
const FALLS: readonly string[] = ['FAILED', 'EXHAUSTED', 'TIMED_OUT', 'ABORTED'];
const isPhase = (state: string) => state.includes('.');

export async function phaseTimes(
  reader: StoreReader,
  tasks: readonly TaskGlance[],
): Promise<ReadonlyMap<RunId, PhaseTimes>> {
  const short = await shortOnes(reader, tasks);
  const found = new Map<RunId, PhaseTimes>();
  let bytes = 0;
  for (let from = 0; from < short.length && bytes < BYTES_MAX; from += BATCH_COUNT) {
    const batch = short.slice(from, from + BATCH_COUNT);
    const segments = await reader.histories(batch.map(nameOf));
    for (const task of batch) {
      const own = segments.filter((segment) => segment.task === task.id);
      bytes += own.reduce((sum, { events }) => sum + events.length, 0);
      const told = timesIn(task, own);
      if (told) found.set(task.id, told);
    }
  }
  return found;
}

const nameOf = ({ id: task, generation }: TaskGlance) => ({ task, generation });

async function shortOnes(
  reader: StoreReader,
  tasks: readonly TaskGlance[],
): Promise<readonly TaskGlance[]> {
  if (tasks.length === 0) return [];
  const counts = new Map<RunId, number>();
  for (const { task, firstSeq, lastSeq } of await reader.outlines(tasks.map(nameOf))) {
    counts.set(task, (counts.get(task) ?? 0) + lastSeq - firstSeq + 1);
  }
  return tasks.filter(({ id }) => counts.has(id) && counts.get(id)! <= RECORDS_MAX);
}

/** Undefined where its records cannot be read: its own page says why. */
function timesIn(task: TaskGlance, segments: readonly Segment[]): PhaseTimes | undefined {
  try {
    return timesOf(rowsOf(task.id, segments, task.lastHash));
  } catch (error) {
    if (error instanceof FleetqError || error instanceof BrokenHistoryError) return undefined;
    throw error;
  }
}

export function timesOf(marks: readonly Mark[]): PhaseTimes {
  const times = new Map<string, PhaseTime>();
  let [state, since] = ['', 0];
  for (const { at, event, state: next, data } of marks) {
    if (state !== '' && !QUIET.includes(event)) {
      const { ms, tries, failures } = times.get(state) ?? { ms: 0, tries: 0, failures: 0 };
      times.set(state, {
        phase: state,
        // Clocks may go back, and a phase may end before it was due.
        ms: ms + Math.max(0, at - since),
        tries: tries + 1,
        failures: failures + (FALLS.includes(event) ? 1 : 0),
      });
    }
    if (isPhase(next)) state = next;
    since = Math.max(at, dueAtIn(data));
  }
  return { state: state || undefined, phases: [...times.values()] };
}

const DUE = /"dueAt":(\d{1,16})[,}]/;

/** Until then it waits. What is sealed tells nothing; the rest is not worth being parsed for this. */
function dueAtIn(data: string): number {
  return Number(data.length < 1_000 ? (DUE.exec(data)?.[1] ?? 0) : 0);
}
