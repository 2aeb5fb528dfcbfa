/**
 * Tasks on their way out, and their history. The records come before the row that tells of them, so what
 * has ended is recorded; and they lie under the epoch of their owner, so what a former owner wrote late
 * is in nobody's way. That is what stands in for locks here.
 */
import type { RunId } from '../../ground/index.ts';
import * as history from '../memory/archive.ts';
import * as rules from '../memory/settle.ts';
import type { Outline, PartQuery } from '../outlines.ts';
import type { Head } from '../store.ts';
import type { ArchiveAnswer, Flush, Segment, SettleAnswer, Settlement } from '../tasks.ts';
import type { PodId } from '../words.ts';
import type { Calls } from './calls.ts';
import { RUN_EVENTS } from './columns.ts';
import { gather, gatherHistory, gatherPods, gatherTasks, type Reading } from './gather.ts';
import { selectFrom } from './sql.ts';
import { OvertakenError } from './writer.ts';

const ATTEMPTS_MAX = 6;

type Runs = readonly { readonly task: RunId; readonly generation: number }[];

export async function settle(
  calls: Calls,
  pod: PodId,
  settlements: readonly Settlement[],
): Promise<SettleAnswer[]> {
  const answers = new Map<Settlement, SettleAnswer>();
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const left = settlements.filter((one) => !answers.has(one));
    if (left.length === 0) break;
    const { result, written } = await calls.changeEach(
      (reading) => gatherSettled(reading, pod, left, attempt === 1),
      (tables) => rules.settle(tables, pod, left),
      { fence: { pod, is: 'live' }, isSure: attempt > 1 },
    );
    // What was read may be older than the claim itself: then nothing is lost, and it is looked at again.
    const isSure = !calls.isLate || attempt > 1;
    for (const [index, answer] of result.entries()) {
      const isSaid =
        answer.kind === 'stood'
          ? written.has(answer.task)
          : isSure || answer.kind === 'done' || answer.kind === 'locked';
      if (isSaid) answers.set(left[index]!, answer);
    }
  }
  return settlements.map((one) => answers.get(one) ?? { task: one.task, kind: 'locked' });
}

/**
 * At first it is taken for granted that the pod lives and that its records are new: the statements that
 * write would not do it otherwise, and only then it is looked at.
 */
async function gatherSettled(
  reading: Reading,
  pod: PodId,
  settlements: readonly Settlement[],
  isFirst: boolean,
): Promise<void> {
  const ids = settlements.map(({ task }) => task);
  await gatherTasks(reading, ids, true);
  if (isFirst) {
    reading.desk.assumeUp(pod);
    return;
  }
  await gatherPods(reading, [pod]);
  await gatherHistory(reading, ids);
}

export async function archive(calls: Calls, segments: readonly Flush[]): Promise<ArchiveAnswer[]> {
  const ids = segments.map(({ task }) => task);
  for (let attempt = 1; ; attempt += 1) {
    const { result, isOvertaken } = await calls.changeEach(
      async (reading) => {
        await gatherTasks(reading, ids, true);
        if (attempt > 1) await gatherHistory(reading, ids);
      },
      (tables) => history.archive(tables, segments),
      { isSure: attempt > 1 },
    );
    const isDoubtful = calls.isLate && attempt === 1 && result.some(({ kind }) => kind !== 'held');
    if (!isOvertaken && !isDoubtful) return result;
    if (attempt >= ATTEMPTS_MAX) throw new OvertakenError();
  }
}

/** Whoever goes on with a run goes on from all of it, whoever wrote that. */
const IS_SURE = true;

export function histories(calls: Calls, runs: Runs): Promise<Segment[]> {
  return calls.look(
    (reading) => gatherRuns(reading, runs),
    (tables) => history.histories(tables, runs),
    IS_SURE,
  );
}

export function lastSegments(calls: Calls, runs: Runs): Promise<Segment[]> {
  return calls.look(
    (reading) => gatherRuns(reading, runs),
    (tables) => history.lastSegments(tables, runs),
  );
}

export function outlines(calls: Calls, runs: Runs): Promise<Outline[]> {
  return calls.look(
    (reading) => gatherRuns(reading, runs, true),
    (tables) => history.outlines(tables, runs),
  );
}

export function heads(calls: Calls, runs: Runs): Promise<Head[]> {
  return calls.look(
    (reading) => gatherRuns(reading, runs, true),
    (tables) => history.heads(tables, runs),
    IS_SURE,
  );
}

function gatherRuns(reading: Reading, runs: Runs, isLight = false): Promise<void> {
  const ids = runs.map(({ task }) => task);
  return gatherHistory(reading, ids, isLight);
}

/** ? task, ? generation, ? epoch, ? first record. */
const selectSegment = `${selectFrom(RUN_EVENTS)}
  where t.task_id = ? and t.generation = ? and t.epoch = ? and t.first_seq = ?`;

export function recordsIn(calls: Calls, part: PartQuery): Promise<string[]> {
  const { task, generation, epoch, firstSeq } = part;
  return calls.look(
    (reading) => gather(reading, RUN_EVENTS, selectSegment, [task, generation, epoch, firstSeq]),
    (tables) => history.recordsIn(tables, part),
  );
}
