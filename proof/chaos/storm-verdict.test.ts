/** The verdict over people's calls: one good history, and for every rule one that breaks it. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { StormCall, StormTask } from './storm.ts';
import { judgeStorm } from './storm-verdict.ts';
import type { Change, EndRow, TaskFile, TimedSegment } from './witness.ts';

const TASK = '01M7FND65VH7X2TBNRTWSGK1T6' as RunId;
const SUBJECT = 'a1';
const OWN: StormTask = { task: TASK, subject: SUBJECT, sentAt: 0 };

const row: EndRow = {
  task: TASK,
  generation: 1,
  key: SUBJECT,
  machine: 'stormed',
  status: 'completed',
  outcome: 'completed',
  result: JSON.stringify({ kept: SUBJECT }),
  error: undefined,
  epoch: 2,
  lastSeq: 3,
  lastHash: 'h',
  retries: 0,
  crashes: 0,
};

/** One after the other, each from where the last one left the row. */
function changesOf(...steps: readonly Partial<Change>[]): Change[] {
  let last = { status: 'pending', epoch: 0, generation: 1 } as Partial<Change>;
  return steps.map((step) => {
    const now = { ...last, ...step };
    const was = {
      wasStatus: last.status,
      wasEpoch: last.epoch,
      wasOwner: last.owner,
      wasGeneration: last.generation,
      wasHash: last.hash,
      wasOutcome: last.outcome,
      wasControl: last.control,
      wasPaused: last.isPaused,
    };
    last = now;
    return { ...now, ...was } as Change;
  });
}

const CLAIMED: Partial<Change> = { at: 1_000, status: 'claimed', owner: 'p', epoch: 1 };
const COMPLETED: Partial<Change> = { at: 2_000, status: 'completed', owner: undefined, hash: 'h' };
const CANCELLED: Partial<Change> = { at: 1_500, status: 'cancelled', owner: undefined };

/** It was to be cancelled, and went to the next. */
const WENT_ON = changesOf(
  CLAIMED,
  { at: 1_200, control: 'cancel' },
  { at: 1_500, status: 'pending', owner: undefined, epoch: 2, control: undefined },
  { ...CLAIMED, at: 1_800, epoch: 3 },
  COMPLETED,
);

function call(what: StormCall['what'], answer: StormCall['answer'], at: number, afterMs?: number) {
  return { task: TASK, what, answer, afterMs, begunAt: at - 10, endedAt: at + 10 };
}

const written = (...epochs: number[]) =>
  epochs.map((epoch) => ({ task: TASK, generation: 1, epoch, state: 'done' }) as TimedSegment);

function verdict(
  changes: readonly Change[],
  calls: readonly StormCall[],
  end: Partial<EndRow> = {},
  segments: readonly TimedSegment[] = [],
) {
  const file: TaskFile = { row: { ...row, ...end }, segments, changes };
  return judgeStorm([file], { calls, tasks: [OWN] }).map((words) => words.slice(TASK.length + 2));
}

test('people who were told the truth have nothing to complain about', () => {
  const changes = changesOf(
    CLAIMED,
    { at: 1_400, control: 'cancel' },
    { ...CANCELLED, at: 1_600, control: undefined },
    { at: 3_000, status: 'pending', generation: 2, epoch: 2 },
    { ...CLAIMED, at: 5_200, epoch: 3 },
    { ...COMPLETED, at: 5_500 },
  );
  const calls = [
    call('cancel', 'requested', 1_400),
    call('cancel', 'done', 1_700),
    call('redrive', 2, 3_000),
    call('redrive', 'no', 3_000),
    call('reschedule', 'done', 3_500, 1_500),
    call('cancel', 'tooLate', 6_000),
    call('cancel', 'away', 6_100),
  ];
  expect(verdict(changes, calls)).toEqual([]);
});

test('a cancel that was said to be done and was not is told', () => {
  const changes = changesOf(CLAIMED, COMPLETED);
  expect(verdict(changes, [call('cancel', 'done', 1_500)])).toEqual([
    'a cancel was done, and it was not cancelled',
  ]);
});

test('a cancel that was too late for something that had not ended is told', () => {
  const changes = changesOf({ ...CLAIMED, at: 9_000 }, { ...COMPLETED, at: 9_500 });
  expect(verdict(changes, [call('cancel', 'tooLate', 5_000)])).toEqual([
    'a cancel was too late, and it had not ended',
  ]);
});

test('a cancel that is requested once more is answered by the word that stands', () => {
  const changes = changesOf(CLAIMED, { at: 1_200, control: 'cancel' }, { ...CANCELLED, at: 9_000 });
  const again = call('cancel', 'requested', 6_000);
  expect(verdict(changes, [call('cancel', 'requested', 1_200), again])).toEqual([]);
});

test('a requested cancel that reached nobody is told', () => {
  const changes = changesOf(CLAIMED, COMPLETED);
  expect(verdict(changes, [call('cancel', 'requested', 1_500)])).toEqual([
    'a cancel was requested, and nobody who had it was asked',
  ]);
});

test('a requested cancel that was forgotten, so that the task went to the next, is told', () => {
  expect(verdict(WENT_ON, [call('cancel', 'requested', 1_200)])).toEqual([
    'a cancel was requested, and it became pending after that',
  ]);
});

test('a requested cancel that came after the end that is on record was not forgotten', () => {
  const calls = [call('cancel', 'requested', 1_200)];
  expect(verdict(WENT_ON, calls, {}, written(1))).toEqual([]);
  expect(verdict(WENT_ON, calls, {}, written(1, 3))).toHaveLength(1);
  expect(verdict(WENT_ON.slice(0, 4), calls, {}, written(1))).toHaveLength(1);
});

test('an end that changes afterwards is told', () => {
  const changes = changesOf(CLAIMED, CANCELLED, { ...COMPLETED, at: 1_900 });
  expect(verdict(changes, [call('cancel', 'done', 1_500)])).toEqual([
    'it was cancelled, and became completed',
  ]);
});

test('a cancel that nobody asked for is told', () => {
  expect(verdict(changesOf(CANCELLED), [], { status: 'cancelled' })).toEqual([
    'it is cancelled, and nobody has asked',
  ]);
});

test('a task that was claimed before the time it was put off to is told', () => {
  const changes = changesOf(CLAIMED, COMPLETED);
  expect(verdict(changes, [call('reschedule', 'done', 500, 2_000)])).toEqual([
    'it was put off by 2000 ms, and claimed before',
  ]);
});

test('a generation that two were given, or that began from nothing, is told', () => {
  const changes = changesOf(
    { ...CLAIMED, at: 900 },
    { ...COMPLETED, at: 1_000 },
    { at: 1_500, status: 'pending', generation: 2, epoch: 2 },
    { at: 1_600, generation: 3, epoch: 3 },
    { ...CLAIMED, at: 1_700, epoch: 4 },
    { ...COMPLETED, hash: 'i' },
  );
  expect(verdict(changes, [call('redrive', 2, 1_500), call('redrive', 2, 1_500)])).toEqual([
    'generation 3 began while it was pending',
    'generation 2 was given to two who asked',
  ]);
});

test('an epoch that falls is told', () => {
  const changes = changesOf({ ...CLAIMED, epoch: 5 }, { ...COMPLETED, epoch: 4 });
  expect(verdict(changes, [])).toEqual(['its epoch fell from 5 to 4']);
});

test('a task that has not ended, has the result of another, or is nobody’s, is told', () => {
  const changes = changesOf(CLAIMED);
  expect(verdict(changes, [], { status: 'claimed' })).toEqual(['it is claimed at the end']);
  const other = { result: JSON.stringify({ kept: 'a2' }) };
  expect(verdict(changesOf(CLAIMED, COMPLETED), [], other)).toEqual([
    'its result is {"kept":"a2"}, and it is of a1',
  ]);
  const file: TaskFile = { row, segments: [], changes: [] };
  expect(judgeStorm([file], { calls: [], tasks: [] })).toEqual([`${TASK}: nobody has enqueued it`]);
  expect(judgeStorm([], { calls: [], tasks: [OWN] })).toEqual([
    `${TASK}: it was acknowledged, and is not in the store`,
  ]);
});

test('a task that can only fail and is completed is told', () => {
  const file: TaskFile = { row, segments: [], changes: changesOf(CLAIMED, COMPLETED) };
  expect(judgeStorm([file], { calls: [], tasks: [{ ...OWN, subject: 'a3' }] })).toEqual([
    `${TASK}: it can only fail, and is completed`,
  ]);
});

test('what is paused is given to nobody, and whoever was asked gives it back paused', () => {
  const asked = { at: 1_200, control: 'pause' };
  const back = { at: 1_500, status: 'pending', owner: undefined, epoch: 2, control: undefined };
  const on = [
    { ...CLAIMED, at: 2_500, epoch: 3 },
    { ...COMPLETED, at: 2_600 },
  ];
  const resumed = { at: 2_000, isPaused: false };
  const calls = [call('pause', 'requested', 1_200), call('resume', 'done', 2_000)];
  const good = changesOf(CLAIMED, asked, { ...back, isPaused: true }, resumed, ...on);
  expect(verdict(good, calls)).toEqual([]);
  const given = changesOf(CLAIMED, asked, { ...back, isPaused: true }, ...on);
  expect(verdict(given, [calls[0]!])).toEqual(['it was paused, and given to p']);
  const forgotten = changesOf(CLAIMED, asked, back, ...on);
  expect(verdict(forgotten, [calls[0]!])).toEqual([
    'its owner was to pause it, and gave it back as pending',
  ]);
  expect(verdict(forgotten, [calls[0]!, call('resume', 'done', 1_400)])).toEqual([]);
  expect(verdict(forgotten, [calls[0]!, call('resume', 'away', 1_300)])).toEqual([]);
  const taken = changesOf(CLAIMED, asked, { at: 1_500, owner: 'q', epoch: 2 }, COMPLETED);
  expect(verdict(taken, [calls[0]!])).toEqual(['its owner was to pause it, and q got it']);
  expect(verdict(changesOf(CLAIMED, asked, COMPLETED), [calls[0]!])).toEqual([]);
});

test('what had told its end before it was to pause goes to whoever says so, and to nobody else', () => {
  const taken = changesOf(
    CLAIMED,
    { at: 1_200, control: 'pause' },
    { at: 1_500, owner: 'q', epoch: 2 },
    COMPLETED,
  );
  const calls = [call('pause', 'requested', 1_200)];
  expect(verdict(taken, calls, {}, written(1))).toEqual([]);
  expect(verdict(taken, calls, {}, written(1, 2))).toEqual([
    'its owner was to pause it, and q got it',
  ]);
});

test('a pause or a resume that was done and was not is told', () => {
  const changes = changesOf(CLAIMED, COMPLETED);
  expect(verdict(changes, [call('pause', 'done', 900)])).toEqual([
    'a pause was done, and it was not so',
  ]);
  expect(verdict(changes, [call('resume', 'done', 900)])).toEqual([]);
  const paused = changesOf({ at: 500, isPaused: true });
  expect(verdict(paused, [call('pause', 'done', 500), call('resume', 'done', 9_000)])).toEqual([
    'a resume was done, and it was not so',
  ]);
});

test('a task is not ended for a deadline before it is over, or that it has not', () => {
  const late = { ...COMPLETED, status: 'failed', outcome: 'timedOut', at: 2_900 };
  const failed = { status: 'failed', outcome: 'timedOut', result: undefined };
  const of = (deadlineMs: number | undefined) => {
    const file = { row: { ...row, ...failed }, segments: [], changes: changesOf(CLAIMED, late) };
    return judgeStorm([file], { calls: [], tasks: [{ ...OWN, deadlineMs }] });
  };
  expect(of(2_000)).toEqual([]);
  expect(of(3_000)).toEqual([`${TASK}: it had 3000 ms, and was ended for its deadline after 2900`]);
  expect(of(undefined)).toEqual([`${TASK}: it has no deadline, and was ended for it`]);
});

test('what came early by a clock of the store that was set ahead is nobody’s fault', () => {
  const soon = changesOf({ ...CLAIMED, at: 1_500 }, { ...COMPLETED, at: 1_600 });
  const file: TaskFile = { row, segments: [], changes: soon };
  const book = { calls: [call('reschedule', 'done', 1_000, 3_000)], tasks: [OWN] };
  expect(judgeStorm([file], book)).toHaveLength(1);
  expect(judgeStorm([file], book, 1_200)).toEqual([]);
  expect(judgeStorm([file], book, 9_000)).toHaveLength(1);
});
