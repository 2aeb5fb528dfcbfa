/** A task of the fleet as a file: its row, the records of all its generations, and its machine. */
import { version } from '../../config/index.ts';
import type { RunId } from '../../ground/index.ts';
import { routeOf } from '../../machine/index.ts';
import type { Announcement, Segment, StoreReader, TaskRow } from '../../store/index.ts';
import { rowsOf } from '../history.ts';
import { FORMAT, type Generation, generationOf, KIND, type RunFile } from './format.ts';

/** Redriven more often than this, a task has its newest generations exported. */
const GENERATIONS_MAX = 1_000;
const ASKED_AT_ONCE = 20;
const SLICE_BYTES = 1024 * 1024;

type Generations = readonly { readonly task: RunId; readonly generation: number }[];

/** What every file begins with. */
export function headOf(
  id: RunId,
  from: RunFile['from'],
  exportedAt: number,
): Omit<RunFile, 'generations'> {
  return { kind: KIND, format: FORMAT, exportedAt, exportedBy: version(), from, id };
}

/** The reader is one that opens nothing: what is sealed is exported as it is. */
export async function taskFile(
  reader: Pick<StoreReader, 'histories' | 'known'>,
  task: TaskRow,
  head: Omit<RunFile, 'generations'>,
): Promise<RunFile> {
  const generations: Generation[] = [];
  for (const some of inParts(task)) {
    const segments = await reader.histories(some);
    generations.push(...some.map(({ generation }) => generationIn(task, generation, segments)));
  }
  const route = routeOf({ name: task.machine, version: task.version });
  const known = (await reader.known()).find((each) => each.route === route);
  return { ...head, task, generations, machine: known && announced(known) };
}

/** Whether its records are more than that, found out with a slice of them in memory at a time. */
export async function isLargerThan(
  bytesMax: number,
  reader: Pick<StoreReader, 'outlines' | 'recordsIn'>,
  task: TaskRow,
): Promise<boolean> {
  let bytes = (task.payload?.length ?? 0) + (task.result?.length ?? 0);
  for (const some of inParts(task)) {
    for (const { task: id, generation, epoch, firstSeq, lastSeq } of await reader.outlines(some)) {
      for (let fromSeq = firstSeq; fromSeq <= lastSeq && bytes <= bytesMax; ) {
        const part = { task: id, generation, epoch, firstSeq, fromSeq, bytesMax: SLICE_BYTES };
        const texts = await reader.recordsIn(part);
        if (texts.length === 0) break;
        fromSeq += texts.length;
        for (const text of texts) bytes += text.length;
      }
    }
    if (bytes > bytesMax) return true;
  }
  return bytes > bytesMax;
}

function* inParts({ id: task, generation: last }: TaskRow): Iterable<Generations> {
  const first = Math.max(1, last - GENERATIONS_MAX + 1);
  for (let from = first; from <= last; from += ASKED_AT_ONCE) {
    const count = Math.min(ASKED_AT_ONCE, last - from + 1);
    yield Array.from({ length: count }, (_, index) => ({ task, generation: from + index }));
  }
}

function generationIn(
  { id, generation: current, lastHash }: TaskRow,
  generation: number,
  segments: readonly Segment[],
): Generation {
  const own = segments.filter((segment) => segment.generation === generation);
  // Nobody has begun it, or retention has been there.
  const isBegun = own.length > 0;
  const rows = isBegun ? rowsOf(id, own, generation === current ? lastHash : undefined) : [];
  return generationOf(generation, rows, outcomeOf(own));
}

/** A redrive keeps it behind the records, as a segment of its own. */
function outcomeOf(segments: readonly Segment[]): unknown {
  const kept = segments.find(({ state }) => state === 'outcome');
  return kept && (JSON.parse(kept.events) as unknown[])[0];
}

export function announced({ route, fingerprint, shape }: Announcement): Announcement {
  return { route, fingerprint, shape };
}
