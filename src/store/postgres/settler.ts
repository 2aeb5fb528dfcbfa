/** Tasks on their way out, and what happened to them. */
import type { RunId } from '../../ground/index.ts';
import { storeMoved } from '../errors.ts';
import { type Outline, outlineOf, type PartQuery } from '../outlines.ts';
import { noTask, RETRIES_SPENT } from '../reasons.ts';
import type { Head } from '../store.ts';
import type { ArchiveAnswer, Flush, Segment, SettleAnswer, Settlement } from '../tasks.ts';
import { END_STATUSES, type PodId } from '../words.ts';
import { batchesOf, columnsOf, sendBisecting } from './batches.ts';
import { isBadValue } from './driver-errors.ts';
import type { Hinter } from './hinter.ts';
import type { PostgresLimits } from './limits.ts';
import type { Pool, Row } from './pool.ts';
import { recordsIn } from './records-in.ts';
import { headOf, segmentOf } from './rows.ts';
import * as segments from './run-events.sql.ts';
import { selectTimeline } from './sql.ts';
import { mendTasks } from './step-tracker-mend.sql.ts';
import * as statements from './step-tracker-settle.sql.ts';
import type { PostgresTurns } from './turns.ts';

const SETTLE_BATCH_MAX = 500;
const ARCHIVE_BATCH_MAX = 500;
const HISTORY_BATCH_MAX = 500;
/** Three centuries: as far as a wait may reach, and within what a timestamp can hold. */
const AFTER_MS_MAX = 1e13;

export const SETTLEMENT_COLUMNS: readonly ((settlement: Settlement) => unknown)[] = [
  (settlement) => settlement.task,
  (settlement) => settlement.generation,
  (settlement) => settlement.epoch,
  (settlement) => settlement.to,
  (settlement) => ('outcome' in settlement ? settlement.outcome : undefined),
  (settlement) => ('result' in settlement ? settlement.result : undefined),
  (settlement) => ('error' in settlement ? settlement.error : undefined),
  (settlement) => (settlement.to === 'waiting' ? settlement.waitFor : undefined),
  (settlement) =>
    settlement.to === 'waiting' ? Math.min(settlement.afterMs, AFTER_MS_MAX) : undefined,
  (settlement) => 'isUntouched' in settlement && settlement.isUntouched === true,
  (settlement) => settlement.retriesAdd,
  (settlement) => settlement.hasCompletedStep,
  (settlement) => settlement.lastSeq,
  (settlement) => settlement.lastHash,
  ({ tail }) => tail?.generation,
  ({ tail }) => tail?.epoch,
  ({ tail }) => tail?.firstSeq,
  ({ tail }) => tail?.lastSeq,
  ({ tail }) => tail?.prevHash,
  ({ tail }) => tail?.lastHash,
  ({ tail }) => tail?.state,
  ({ tail }) => tail?.events,
  (settlement) => settlement.version,
];

const SEGMENT_COLUMNS: readonly ((segment: Segment) => unknown)[] = [
  (segment) => segment.task,
  (segment) => segment.generation,
  (segment) => segment.epoch,
  (segment) => segment.firstSeq,
  (segment) => segment.lastSeq,
  (segment) => segment.prevHash,
  (segment) => segment.lastHash,
  (segment) => segment.state,
  (segment) => segment.events,
];
const SEGMENT_ASKED = [...SEGMENT_COLUMNS.slice(0, 4), SEGMENT_COLUMNS.at(-1)!];

/** What is stored under the numbers of a segment that was not written. */
type Stored = Segment & { readonly beginsSo: boolean };

interface RunName {
  readonly task: RunId;
  readonly generation: number;
}

export class PostgresSettler {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #turns: PostgresTurns;
  readonly #limits: PostgresLimits;

  constructor(pool: Pool, hinter: Hinter, turns: PostgresTurns, limits: PostgresLimits) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#turns = turns;
    this.#limits = limits;
  }

  async settle(
    pod: PodId,
    settlements: readonly Settlement[],
    timeline?: string,
  ): Promise<SettleAnswer[]> {
    const answers = new Map<Settlement, SettleAnswer>();
    for (const batch of batchesOf(settlements, SETTLE_BATCH_MAX, ({ task }) => task)) {
      const send = (part: readonly Settlement[]) => this.#settle(pod, part, timeline);
      const answered = await sendBisecting(batch, send, refused);
      batch.forEach((settlement, index) => {
        answers.set(settlement, answered[index]!);
      });
      const rest = await this.#mended(batch.filter((one) => answers.get(one)!.kind === 'refused'));
      if (rest.length === 0) continue;
      const again = await sendBisecting(rest, send, refused);
      rest.forEach((settlement, index) => {
        answers.set(settlement, again[index]!);
      });
    }
    return settlements.map((settlement) => answers.get(settlement)!);
  }

  async #settle(
    pod: PodId,
    batch: readonly Settlement[],
    timeline?: string,
  ): Promise<SettleAnswer[]> {
    const columns = columnsOf(batch, SETTLEMENT_COLUMNS);
    const values = [pod, ...columns, RETRIES_SPENT, timeline ?? null];
    const rows = await this.#pool.often(statements.settleTasks, values);
    await this.tell(rows);
    const stood = new Set(rows.map((row) => row['task_id'] as RunId));
    const rest = batch.filter(({ task }) => !stood.has(task));
    const others = rest.length ? await this.#unsettled(pod, rest) : undefined;
    if (others) await this.checkTimeline(timeline);
    return batch.map(({ task }) => {
      return { task, kind: stood.has(task) ? 'stood' : (others?.get(task) ?? 'lost') };
    });
  }

  /** Those whose row was at fault, and not what was to be written into it. */
  async #mended(settlements: readonly Settlement[]): Promise<Settlement[]> {
    if (settlements.length === 0) return [];
    const rows = await this.#pool.query(mendTasks, [settlements.map(({ task }) => task)]);
    const mended = new Set(rows.map((row) => row['task_id'] as RunId));
    return settlements.filter(({ task }) => mended.has(task));
  }

  /** A statement of its own: the first one has seen the rows as they were before it waited. */
  async #unsettled(
    pod: PodId,
    batch: readonly Settlement[],
  ): Promise<Map<RunId, 'done' | 'locked'>> {
    const asked = columnsOf(batch, SETTLEMENT_COLUMNS.slice(0, 3));
    const rows = await this.#pool.query(statements.selectUnsettled, [pod, ...asked]);
    return new Map(rows.map((row) => [row['task_id'] as RunId, row['kind'] as 'done' | 'locked']));
  }

  /** Of rows that are settled, and committed: who waits for them, for their room or turn, hears of it. */
  async tell(rows: readonly Row[]): Promise<void> {
    const count = rows.filter((row) => row['status'] === 'pending').length;
    if (count > 0) this.#hinter.hint('ready', { count });
    if (rows.some(hasEnded)) this.#hinter.hint('ended');
    this.#limits.freed(rows);
    await this.#turns.passOn(rows.filter(hasEnded));
  }

  /**
   * What found nothing to write may have been at another server than it was meant for. Looked at last:
   * if it is still the same one, all that was asked before was asked there.
   */
  async checkTimeline(timeline: string | undefined): Promise<void> {
    if (timeline === undefined) return;
    const [row] = await this.#pool.query(selectTimeline);
    if (row?.['timeline'] !== timeline) throw storeMoved();
  }

  async archive(given: readonly Flush[], timeline?: string): Promise<ArchiveAnswer[]> {
    const answers = new Map<Flush, ArchiveAnswer>();
    for (const batch of batchesOf(given, ARCHIVE_BATCH_MAX, keyOf)) {
      const send = (part: readonly Flush[]) => this.#archive(part, timeline);
      const answered = await sendBisecting(batch, send, refusedSegment);
      batch.forEach((segment, index) => {
        answers.set(segment, answered[index]!);
      });
    }
    return given.map((segment) => answers.get(segment)!);
  }

  async #archive(batch: readonly Flush[], timeline?: string): Promise<ArchiveAnswer[]> {
    const columns = columnsOf(batch, SEGMENT_COLUMNS);
    const versions = columnsOf(batch, [({ version }) => version]);
    const hasMoved = batch.some(({ version }) => version !== undefined);
    const written = hasMoved
      ? await this.#pool.query(segments.archiveMoved, [...columns, ...versions, timeline ?? null])
      : await this.#pool.often(segments.archiveSegments, [...columns, timeline ?? null]);
    const held = new Set(written.map((row) => keyOf(segmentOf(row))));
    const rest = batch.filter((segment) => !held.has(keyOf(segment)));
    const asked = columnsOf(rest, SEGMENT_ASKED);
    const rows = rest.length ? await this.#pool.query(segments.selectSegmentEnds, asked) : [];
    if (rest.length > 0) await this.checkTimeline(timeline);
    const stored = new Map(
      rows.map((row): [string, Stored] => [
        keyOf(segmentOf(row)),
        { ...segmentOf(row), beginsSo: row['begins_so'] === true },
      ]),
    );
    return batch.map((segment) =>
      held.has(keyOf(segment))
        ? { task: segment.task, kind: 'held' }
        : compareWith(stored.get(keyOf(segment)), segment),
    );
  }

  async histories(runs: readonly RunName[]): Promise<Segment[]> {
    return (await this.#ofRuns(segments.selectHistories, runs)).map(segmentOf);
  }

  async outlines(runs: readonly RunName[]): Promise<Outline[]> {
    const found = await this.#ofRuns(segments.selectOutlines, runs);
    return found.map((row) => outlineOf(segmentOf(row)));
  }

  recordsIn(part: PartQuery): Promise<string[]> {
    return recordsIn(this.#pool, part);
  }

  async heads(runs: readonly RunName[]): Promise<Head[]> {
    return (await this.#ofRuns(segments.selectHeads, runs)).map(headOf);
  }

  async #ofRuns(text: string, runs: readonly RunName[]): Promise<Row[]> {
    const sorted = [...runs].sort((one, other) => (one.task < other.task ? -1 : 1));
    const found: Row[] = [];
    for (let start = 0; start < sorted.length; start += HISTORY_BATCH_MAX) {
      const batch = sorted.slice(start, start + HISTORY_BATCH_MAX);
      const asked = columnsOf(batch, [(run) => run.task, (run) => run.generation]);
      found.push(...(await this.#pool.query(text, asked)));
    }
    return found;
  }
}

function hasEnded(row: Row): boolean {
  return (END_STATUSES as readonly unknown[]).includes(row['status']);
}

function keyOf({ task, generation, epoch, firstSeq }: Segment): string {
  return `${task} ${generation} ${epoch} ${firstSeq}`;
}

/** Why a segment was not written: the same or more of it is there, or something else is. */
function compareWith(stored: Stored | undefined, segment: Segment): ArchiveAnswer {
  const { task } = segment;
  if (!stored) return { task, kind: 'refused', reason: noTask(task) };
  if (stored.prevHash === segment.prevHash) {
    if (stored.lastSeq > segment.lastSeq && stored.beginsSo) return { task, kind: 'held' };
    if (stored.lastSeq === segment.lastSeq && stored.lastHash === segment.lastHash) {
      return { task, kind: 'held' };
    }
  }
  const numbers = `${segment.firstSeq} to ${segment.lastSeq} of epoch ${segment.epoch}`;
  return { task, kind: 'forked', reason: `the store holds other records under ${numbers}` };
}

function refused({ task }: Settlement, error: unknown): SettleAnswer | undefined {
  return isBadValue(error) ? { task, kind: 'refused', reason: String(error) } : undefined;
}

function refusedSegment({ task }: Segment, error: unknown): ArchiveAnswer | undefined {
  return isBadValue(error) ? { task, kind: 'refused', reason: String(error) } : undefined;
}
