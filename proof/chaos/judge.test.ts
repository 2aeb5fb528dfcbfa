/** The judge of a chaos run, on histories with one thing wrong in each: under which count it is told. */
import { expect, test } from 'vitest';
import type { Effect, TaskFile } from '../history/evidence.ts';
import {
  CLAIMS,
  change,
  check,
  DONE,
  EFFECTS,
  END,
  effect,
  fileOf,
  type Line,
  type Made,
  PODS,
  PROBED,
  STARTED,
  segmentsOf,
  TAKEN_INSIDE,
  task,
} from '../history/made-history.ts';

function judged(made: Made = {}) {
  const { tallies, repeats } = check(made);
  const found = Object.entries(tallies).filter(([, { count }]) => count > 0);
  return { found: found.map(([name]) => name), repeats };
}

function foundIn(file: TaskFile, effects: readonly Effect[] = EFFECTS, more: Made = {}): string[] {
  return judged({ file, effects, ...more }).found;
}

const INTERRUPTED = { type: 'INTERRUPTED' } as const;
const FIRST: Line[number] = [1, STARTED, DONE];
const REST = [INTERRUPTED, PROBED, DONE, DONE, END] as const;

test('a task that was taken over and ended has nothing wrong', () => {
  expect(judged()).toEqual({ found: [], repeats: { unrecorded: 0, unarchived: 1, late: 0 } });
});

test('an effect is repeated as it may be where its record did not get away in time', () => {
  const repeated = [...EFFECTS, effect('validate', 1), effect('persist', 1)];
  expect(judged({ effects: repeated })).toMatchObject({ found: [], repeats: { unarchived: 2 } });
  const late = [...EFFECTS, effect('persist', 1, { at: 25_000 })];
  expect(judged({ effects: late })).toMatchObject({ found: [], repeats: { late: 1 } });
});

test('an effect whose record had reached the store is doubled by the next owner', () => {
  const again = effect('check', 3, { attempt: 1 });
  expect(judged({ effects: [...EFFECTS, again] }).found).toEqual(['doubled']);
  const [first] = segmentsOf([FIRST]);
  const anew = fileOf([[3, { ...STARTED, pod: 'pod-3' }, DONE, DONE, DONE, END]]);
  const all = ['check', 'work', 'validate', 'persist'].map((phase, index) =>
    effect(phase, 3, { attempt: 1, at: 30_060 + index * 100 }),
  );
  const file = { ...anew, segments: [first!, ...anew.segments] };
  expect(foundIn(file, [...EFFECTS.slice(0, 2), ...all])).toEqual(['doubled']);
});

test('an effect that happened twice under one epoch is doubled', () => {
  expect(foundIn(fileOf(), [...EFFECTS, effect('persist', 3)])).toEqual(['doubled']);
});

test('an effect that was on the disk of whoever goes on is doubled', () => {
  const file = fileOf([FIRST, [2, { ...TAKEN_INSIDE, pod: 'pod-2' }, ...REST]], { epoch: 2 });
  const crash = { at: 16_000, crashes: 1 };
  const adopted = [CLAIMS[0]!, change('claimed', 1, 'claimed', 2, undefined, crash)];
  const settled = { wasCrashes: 1, crashes: 0 };
  const end = change('claimed', 2, 'completed', 2, file.row.lastHash, settled);
  const whole = { ...file, changes: [...adopted, end] };
  const effects = EFFECTS.map((each) =>
    each.fencingToken === 3 ? { ...each, fencingToken: 2, at: each.at - 10_000 } : each,
  );
  const good = judged({ file: whole, effects, calls: [] });
  expect(good).toMatchObject({ found: [], repeats: { unrecorded: 1 } });
  const proof = [...effects, effect('validate', 1)];
  expect(foundIn(whole, proof, { calls: [] })).toEqual(['doubled']);
});

test('a record of what nobody did, and a task that is gone, are lost', () => {
  expect(foundIn(fileOf(), EFFECTS.slice(1))).toEqual(['lost']);
  expect(judged({ files: [], effects: [] }).found).toEqual(['lost']);
  expect(foundIn(fileOf(undefined, { status: 'failed' }))).toContain('lost');
});

test('a task that has not ended is stuck', () => {
  const file = fileOf(undefined, { status: 'claimed' });
  expect(foundIn({ ...file, changes: CLAIMS }, EFFECTS, { calls: [] })).toEqual(['stuck']);
});

test('a settlement by a former owner, by a dead pod, or of what has ended is a zombie write', () => {
  const file = fileOf();
  const settled = file.changes.at(-1)!;
  const zombie = (...more: (typeof settled)[]) =>
    foundIn({ ...file, changes: [...CLAIMS, ...more] }, EFFECTS, { calls: [] });
  expect(zombie(settled)).toEqual([]);
  expect(zombie({ ...settled, hash: 'unknown' })).toEqual(['violations']);
  const unheld = { ...settled, wasStatus: 'pending', crashes: 1 };
  expect(zombie(unheld)).toEqual(['zombieWrites']);
  expect(zombie({ ...settled, epoch: 2 })).toEqual(['zombieWrites']);
  expect(zombie({ ...settled, owner: 'pod-9', status: 'claimed' })).toEqual(['zombieWrites']);
  const again = change('completed', 3, 'failed', 3, settled.hash);
  expect(zombie(settled, { ...again, wasHash: settled.hash })).toEqual(['zombieWrites']);
  const early = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
  // Whoever was first had the end on record; the next one only says so, and completes no step.
  const changes = [...CLAIMS, { ...early.changes.at(-1)!, crashes: 1 }];
  const late = early.segments.map((part) => ({ ...part, at: 31_000 }));
  const own = ['check', 'work', 'validate', 'persist'].map((phase) => effect(phase, 1));
  expect(foundIn({ ...early, changes }, own)).toEqual([]);
  expect(foundIn({ ...early, changes, segments: late }, own)).toEqual(['zombieWrites']);
  const dead = { deadAt: 31_500, deadBy: 'pod-2' };
  const pods = PODS.map((each) => (each.pod === 'pod-3' ? { ...each, ...dead } : each));
  expect(foundIn(fileOf(), EFFECTS, { pods })).toEqual(['zombieWrites']);
});

test('a history with a hole, or with another end than its row, is a violation', () => {
  const file = fileOf();
  const holed = file.segments.map((part, index) =>
    index === 0 ? { ...part, events: part.events.replace('"seq":1', '"seq":9') } : part,
  );
  expect(foundIn({ ...file, segments: holed })).toEqual(['violations']);
  expect(foundIn(fileOf(undefined, { outcome: 'handedOff' }))).toEqual(['violations']);
  expect(foundIn(fileOf(undefined, { lastSeq: 4 }))).toEqual(['violations']);
  expect(foundIn(fileOf(undefined, { result: '{}' }))).toEqual(['violations']);
});

test('a task of which nobody was told is a violation', () => {
  const acknowledged = [{ subject: 's1', shape: 'one', task }];
  expect(judged({ acknowledged }).found).toEqual(['violations']);
});

test('a redriven task is judged life by life', () => {
  const first = fileOf([FIRST], { generation: 2 });
  const crash = { at: 16_000, crashes: 1 };
  const failed = change('claimed', 1, 'failed', 2, undefined, crash);
  const anew = { wasGeneration: 1, generation: 2 };
  const again = { wasGeneration: 2, generation: 2 };
  const redriven = change('failed', 2, 'pending', 3, undefined, { ...anew, at: 37_000 });
  const claimed = change('pending', 3, 'claimed', 4, undefined, { ...again, at: 38_000 });
  const second = segmentsOf([[4, { ...STARTED, pod: 'pod-4' }, DONE, DONE, DONE, END]], {
    generation: 2,
  });
  const { lastSeq, lastHash } = second[0]!;
  const ended = change('claimed', 4, 'completed', 4, lastHash, again);
  const file: TaskFile = {
    row: { ...first.row, epoch: 4, lastSeq, lastHash },
    segments: [...first.segments, ...second],
    changes: [CLAIMS[0]!, failed, redriven, claimed, ended],
  };
  const own = ['check', 'work', 'validate', 'persist'].map((phase) => effect(phase, 4));
  const effects = [effect('check', 1), effect('work', 1), ...own];
  expect(foundIn(file, effects, { calls: [] })).toEqual(['violations']);
  const whole = file.changes.map((each) =>
    each.status === 'failed' ? { ...each, outcome: 'crashLoop' } : each,
  );
  expect(foundIn({ ...file, changes: whole }, effects, { calls: [] })).toEqual([]);
});
