/**
 * History, kept in segments under the epoch of whoever wrote them. No claim is asked for: a late
 * segment of a former owner lies beside the others and readers see where its epoch ends. What is
 * there is only ever made longer.
 */
import type { RunId } from '../../ground/index.ts';
import { GLANCED_LENGTH_MAX } from '../bounds.ts';
import { type Outline, outlineOf, type PartQuery, recordsInText, within } from '../outlines.ts';
import { noTask } from '../reasons.ts';
import type { Head } from '../store.ts';
import type { ArchiveAnswer, Flush, Segment } from '../tasks.ts';
import { type Claim, ENDED_STATES } from '../words.ts';
import * as sql from './events.sql.ts';
import { type RawSegment, type RawTask, segmentOf } from './rows.ts';
import { eachRow, type Tx } from './session.ts';
import { moveTask } from './tasks.sql.ts';

/** A task in one of its generations. */
export interface RunName {
  readonly task: RunId;
  readonly generation: number;
}

export function archive(tx: Tx, segments: readonly Flush[]): ArchiveAnswer[] {
  return segments.map((segment): ArchiveAnswer => {
    const { task } = segment;
    if (!tx.get(sql.selectHasTask, { task })) {
      return { task, kind: 'refused', reason: noTask(task) };
    }
    const done = eachRow(tx, () => {
      move(tx, segment);
      return keepSegment(tx, segment);
    });
    if ('refused' in done) return { task, kind: 'refused', reason: done.refused };
    const fork = done.answer;
    return fork === undefined ? { task, kind: 'held' } : { task, kind: 'forked', reason: fork };
  });
}

function move(tx: Tx, { task, generation, epoch, version }: Flush): void {
  if (version === undefined) return;
  tx.run(moveTask, { task, generation, epoch, version, now: tx.now });
}

/** Answers why it is a fork; undefined where the segment is held now. */
export function keepSegment(tx: Tx, segment: Segment): string | undefined {
  const { task, generation, epoch, firstSeq } = segment;
  const place = { task, generation, epoch, first_seq: firstSeq };
  const values = {
    ...place,
    last_seq: segment.lastSeq,
    prev_hash: segment.prevHash,
    last_hash: segment.lastHash,
    state: segment.state,
    events: segment.events,
    now: tx.now,
  };
  const stored = tx.get<RawSegment>(sql.selectSegment, place);
  if (!stored) {
    tx.run(sql.insertSegment, values);
    return undefined;
  }
  const fork = forkOf(segmentOf(stored), segment);
  if (fork === undefined && stored.last_seq < segment.lastSeq) tx.run(sql.extendSegment, values);
  return fork;
}

function forkOf(stored: Segment, coming: Segment): string | undefined {
  const at = `epoch ${stored.epoch}, from ${stored.firstSeq}`;
  if (stored.prevHash !== coming.prevHash) return `${at}: they follow different records`;
  if (stored.lastSeq === coming.lastSeq) {
    return stored.lastHash === coming.lastHash
      ? undefined
      : `${at}: record ${stored.lastSeq} differs`;
  }
  const [short, long] = stored.lastSeq < coming.lastSeq ? [stored, coming] : [coming, stored];
  return isBeginning(short.events, long.events)
    ? undefined
    : `${at}: the records up to ${short.lastSeq} differ`;
}

/** Whether the array that `short` is begins the one that `long` is; both by one writer, as text. */
function isBeginning(short: string, long: string): boolean {
  const records = short.slice(0, -1);
  return long.startsWith(records) && (records === '[' || long[records.length] === ',');
}

export function histories(tx: Tx, runs: readonly RunName[]): Segment[] {
  return runs.flatMap(({ task, generation }) =>
    tx.all<RawSegment>(sql.selectHistory, { task, generation }).map(segmentOf),
  );
}

export function outlines(tx: Tx, runs: readonly RunName[]): Outline[] {
  return runs.flatMap(({ task, generation }) =>
    tx
      .all<RawSegment>(sql.selectOutlines, { task, generation })
      .map((row) => outlineOf(segmentOf(row))),
  );
}

export function recordsIn(tx: Tx, part: PartQuery): string[] {
  const { task, generation, epoch, firstSeq, fromSeq } = part;
  const place = { task, generation, epoch, first_seq: firstSeq };
  try {
    const from = Math.max(0, fromSeq - firstSeq);
    const texts = tx.each<{ value: string }>(sql.selectRecordsIn, { ...place, from });
    return [...within(valuesOf(texts), part.bytesMax)];
  } catch (error) {
    // What is nested too deep for SQLite is whole all the same.
    if (!isMalformed(error)) throw error;
    const stored = tx.get<RawSegment>(sql.selectSegment, place);
    return stored ? recordsInText(stored.events, part) : [];
  }
}

function* valuesOf(rows: Iterable<{ readonly value: unknown }>): Iterable<string> {
  for (const { value } of rows) yield String(value);
}

function isMalformed(error: unknown): boolean {
  return error instanceof Error && error.message.includes('malformed JSON');
}

/** The last segment of each: all of it, unless it is large. */
export function lastSegments(tx: Tx, runs: readonly RunName[]): Segment[] {
  return runs.flatMap(({ task, generation }) =>
    tx.all<RawSegment>(sql.selectHead, { task, generation }).map((row) => {
      const segment = segmentOf(row);
      return segment.events.length <= GLANCED_LENGTH_MAX ? segment : { ...segment, events: '[]' };
    }),
  );
}

/** In the order of ids and generations. */
export function byName(one: RunName, other: RunName): number {
  if (one.task !== other.task) return one.task < other.task ? -1 : 1;
  return one.generation - other.generation;
}

export function heads(tx: Tx, runs: readonly RunName[]): Head[] {
  return runs.flatMap(({ task, generation }) => {
    const row = tx.get<RawSegment>(sql.selectHead, { task, generation });
    if (!row) return [];
    return [{ task, generation, epoch: row.epoch, lastSeq: row.last_seq, lastHash: row.last_hash }];
  });
}

/** Whether the records of a task tell its end, as whoever gets it will read them. */
export function hasToldItsEnd(tx: Tx, row: Pick<RawTask, 'task_id' | 'generation'>): boolean {
  const values = { task: row.task_id, generation: row.generation };
  return ENDED_STATES.includes(tx.get<RawSegment>(sql.selectHead, values)?.state ?? '');
}

/** Whether its present owner has archived anything of it. */
export function hasRecords(
  tx: Tx,
  row: Pick<RawTask, 'task_id' | 'generation' | 'claim_epoch'>,
): boolean {
  const claim = { task: row.task_id, generation: row.generation, epoch: row.claim_epoch };
  return nextSeq(tx, claim, -1) > 0;
}

/** The number after the last record that is kept of an epoch; `after` where there is no later one. */
export function nextSeq(tx: Tx, { task, generation, epoch }: Claim, after: number): number {
  const last =
    tx.get<{ last_seq: number | null }>(sql.selectLastSeq, { task, generation, epoch })?.last_seq ??
    -1;
  return Math.max(last, after) + 1;
}

/** When this generation was redriven; undefined where there is none, or it was not. */
export function redrivenAt(tx: Tx, { task, generation }: RunName): number | undefined {
  const values = { task, generation };
  return tx.get<{ at: number | null }>(sql.selectRedrivenAt, values)?.at ?? undefined;
}
