/** History in segments. No fence: the epoch in the key keeps late records apart from later owners'. */
import type { RunId } from '../../ground/index.ts';
import { GLANCED_LENGTH_MAX } from '../bounds.ts';
import { type Outline, outlineOf, type PartQuery, recordsInText } from '../outlines.ts';
import { noTask } from '../reasons.ts';
import type { Head } from '../store.ts';
import type { ArchiveAnswer, Flush, Segment } from '../tasks.ts';
import { ENDED_STATES } from '../words.ts';
import { by, type MemoryTables, type TaskRecord, unstorable } from './tables.ts';

/** Of the segment that keeps how a redriven generation had ended. */
export const OUTCOME_STATE = 'outcome';

function keyOf({ task, generation, epoch, firstSeq }: Segment): string {
  return JSON.stringify([task, generation, epoch, firstSeq]);
}

export function archive(tables: MemoryTables, segments: readonly Flush[]): ArchiveAnswer[] {
  return segments.map((segment) => {
    const { task, state, events, prevHash, lastHash } = segment;
    const refusal = unstorable(task, state, events, prevHash, lastHash);
    if (refusal !== undefined) return { task, kind: 'refused', reason: refusal };
    if (!tables.tasks.has(task)) return { task, kind: 'refused', reason: noTask(task) };
    move(tables, segment);
    const fork = put(tables, segment);
    return fork === undefined ? { task, kind: 'held' } : { task, kind: 'forked', reason: fork };
  });
}

/** Its present owner has it under another version now. */
function move(tables: MemoryTables, { task: id, generation, epoch, version }: Flush): void {
  const task = tables.tasks.get(id);
  const stands = task?.generation === generation && task.claimEpoch === epoch;
  if (!stands || task.status !== 'claimed' || version === undefined) return;
  if (task.version === version) return;
  task.version = version;
  task.lastUpdate = tables.now();
}

/** Writes a segment, or extends the one that is there. Answers why not where they have parted. */
export function put(tables: MemoryTables, segment: Segment): string | undefined {
  const fork = forkIn(tables, segment);
  if (fork !== undefined) return fork;
  const key = keyOf(segment);
  const there = tables.events.get(key);
  if (!there || segment.lastSeq > there.lastSeq) tables.events.set(key, copyOf(segment));
  const task = tables.tasks.get(segment.task);
  if (task?.generation === segment.generation) task.recordedAt ??= tables.now();
  return undefined;
}

/** Why what is stored under these numbers is another history; undefined where it is not. */
export function forkIn(tables: MemoryTables, segment: Segment): string | undefined {
  const there = tables.events.get(keyOf(segment));
  return there && forkOf(there, segment);
}

function forkOf(there: Segment, segment: Segment): string | undefined {
  if (there.prevHash !== segment.prevHash) return 'the records before them are others';
  if (there.lastSeq === segment.lastSeq) {
    return there.lastHash === segment.lastHash ? undefined : 'the last records differ';
  }
  const [short, long] =
    there.lastSeq < segment.lastSeq
      ? [there.events, segment.events]
      : [segment.events, there.events];
  // Both are JSON arrays: without its closing bracket the shorter begins the longer.
  return long.startsWith(short.slice(0, -1)) ? undefined : 'neither begins with the other';
}

function copyOf(segment: Segment): Segment {
  const { task, generation, epoch, firstSeq, lastSeq, prevHash, lastHash, state, events } = segment;
  return { task, generation, epoch, firstSeq, lastSeq, prevHash, lastHash, state, events };
}

interface RunName {
  readonly task: RunId;
  readonly generation: number;
}

/** The furthest record of each run. How a redriven run had ended is no record of it. */
export function heads(tables: MemoryTables, runs: readonly RunName[]): Head[] {
  const furthest = new Map<string, Head>();
  const segments = histories(tables, runs).filter(({ state }) => state !== OUTCOME_STATE);
  for (const { task, generation, epoch, lastSeq, lastHash } of segments.sort(byReach)) {
    furthest.set(`${generation} ${task}`, { task, generation, epoch, lastSeq, lastHash });
  }
  return [...furthest.values()];
}

/** The last segment of each: all of it, unless it is large. */
export function lastSegments(tables: MemoryTables, runs: readonly RunName[]): Segment[] {
  const last = new Map<string, Segment>();
  const segments = histories(tables, runs).filter(({ state }) => state !== OUTCOME_STATE);
  for (const segment of segments.sort(byReach)) {
    last.set(`${segment.generation} ${segment.task}`, segment);
  }
  return [...last.values()].map((segment) =>
    segment.events.length <= GLANCED_LENGTH_MAX ? segment : { ...segment, events: '[]' },
  );
}

/** Whether the records of a task tell its end, as whoever gets it will read them. */
export function hasToldItsEnd(
  tables: MemoryTables,
  { taskId, generation }: Pick<TaskRecord, 'taskId' | 'generation'>,
): boolean {
  const own = tables.events.of(taskId).filter((segment) => segment.generation === generation);
  const last = own
    .filter(({ state }) => state !== OUTCOME_STATE)
    .sort(byReach)
    .at(-1);
  return last !== undefined && ENDED_STATES.includes(last.state);
}

/** Whether its present owner has archived anything of it. */
export function hasRecords(
  tables: MemoryTables,
  { taskId, generation, claimEpoch }: TaskRecord,
): boolean {
  return tables.events
    .of(taskId)
    .some((part) => part.generation === generation && part.epoch === claimEpoch);
}

/** One that was written again after a failover begins before others, and reaches beyond them. */
const byReach = by<Segment>(
  ({ task }) => task,
  ({ generation }) => generation,
  ({ epoch }) => epoch,
  ({ lastSeq }) => lastSeq,
  ({ firstSeq }) => firstSeq,
);

export function outlines(tables: MemoryTables, runs: readonly RunName[]): Outline[] {
  return histories(tables, runs).map(outlineOf);
}

export function recordsIn(tables: MemoryTables, part: PartQuery): string[] {
  const { task, generation, epoch, firstSeq } = part;
  const found = tables.events
    .of(task)
    .find(
      (segment) =>
        segment.generation === generation &&
        segment.epoch === epoch &&
        segment.firstSeq === firstSeq,
    );
  return found ? recordsInText(found.events, part) : [];
}

export function histories(tables: MemoryTables, runs: readonly RunName[]): Segment[] {
  const wanted = new Set(runs.map(({ task, generation }) => `${generation} ${task}`));
  return [...new Set(runs.map(({ task }) => task))]
    .flatMap((task) => tables.events.of(task))
    .filter(({ task, generation }) => wanted.has(`${generation} ${task}`))
    .sort(
      by(
        ({ task }) => task,
        ({ generation }) => generation,
        ({ epoch }) => epoch,
        ({ firstSeq }) => firstSeq,
      ),
    )
    .map(copyOf);
}
