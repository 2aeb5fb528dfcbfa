/** The judges of a chaos run, on histories with one thing wrong in each. */
import { expect, test } from 'vitest';
import { segmentOf } from '../../src/fleet/history.ts';
import type { RunId } from '../../src/ground/index.ts';
import * as fleetq from '../../src/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { encodeEntry } from '../../src/journal/record.ts';
import { advance, planOf, type RunEvent, startState } from '../../src/machine/index.ts';
import { Judge } from './judge.ts';
import { type Effect, NO_BOOK, Scribe, shapes } from './shapes.ts';
import type { Change, EndRow, TaskFile } from './witness.ts';

const machines = shapes(fleetq, new Scribe(NO_BOOK, ''));
const plan = planOf(machines.one)!;
const task = '01J00000000000000000000000' as RunId;
const STARTED = {
  type: 'STARTED',
  machine: 'one',
  version: 1,
  fingerprint: plan.fingerprint,
  input: { subject: 's1' },
} satisfies RunEvent;
const TAKEN = { type: 'TAKEN', pod: 'p' } satisfies RunEvent;
const DONE = { type: 'DONE' } satisfies RunEvent;
const RESULT = { kept: 's1' };
const END = { type: 'DONE', output: RESULT } satisfies RunEvent;

type Line = readonly (readonly [epoch: number, ...events: RunEvent[]])[];

/** Records as owners of these epochs write them one after the other, a segment for each. */
function segmentsOf(line: Line, atOf: (epoch: number) => number) {
  let state = startState(plan, STARTED, 0);
  let [seq, hash] = [-1, ''];
  return line.map(([epoch, ...events]) => {
    const prevHash = hash;
    const records = events.map((event) => {
      if (seq >= 0) state = advance(plan, state, event)!;
      seq += 1;
      const entry = { run: task, seq, at: 0, epoch, event, state: state.at, prevHash: hash };
      const encoded = encodeEntry({ ...entry, opens: undefined }, identityCodec);
      hash = encoded.hash;
      return { ...entry, event: event.type, data: encoded.data, hash };
    });
    const segment = segmentOf({ task, generation: 1, epoch }, prevHash, records)!;
    return { ...segment, at: atOf(epoch) };
  });
}

/** Epoch 1 does check and work and dies; epoch 3 goes on from there to the end. */
const TAKEN_OVER: Line = [
  [1, STARTED, DONE, DONE],
  [3, TAKEN, DONE, END],
];

function fileOf(line: Line = TAKEN_OVER, more: Partial<EndRow> = {}): TaskFile {
  const segments = segmentsOf(line, (epoch) => epoch * 10_000 + 1_000);
  const last = segments.at(-1)!;
  const row: EndRow = {
    task,
    key: 's1',
    machine: 'one',
    status: 'completed',
    outcome: 'completed',
    result: JSON.stringify(RESULT),
    error: undefined,
    epoch: 3,
    lastSeq: last.lastSeq,
    lastHash: last.lastHash,
    ...more,
  };
  return {
    row,
    segments,
    changes: [...CLAIMS, change('claimed', 3, 'completed', 3, last.lastHash)],
  };
}

function change(
  wasStatus: string,
  wasEpoch: number,
  status: string,
  epoch: number,
  hash?: string,
  more: Partial<Change> = {},
): Change {
  const ownerOf = (of: string, at: number) => (of === 'claimed' ? `pod-${at}` : undefined);
  return {
    at: epoch * 10_000 + 2_000,
    wasStatus,
    status,
    wasEpoch,
    epoch,
    wasOwner: ownerOf(wasStatus, wasEpoch),
    owner: ownerOf(status, epoch),
    wasGeneration: 1,
    generation: 1,
    wasHash: undefined,
    hash,
    wasOutcome: undefined,
    outcome: undefined,
    ...more,
  };
}

const CLAIMS = [
  change('pending', 0, 'claimed', 1, undefined, { at: 10_000 }),
  change('claimed', 1, 'pending', 2, undefined, { at: 20_000 }),
  change('pending', 2, 'claimed', 3, undefined, { at: 30_000 }),
];

function effect(phase: string, fencingToken: number, more: Partial<Effect> = {}): Effect {
  const at = fencingToken * 10_000 + 500;
  const rest = { attempt: 1, idempotencyKey: phase, outcome: 'done', pod: 'p', at } as const;
  return { task, subject: 's1', step: 'main', phase, fencingToken, ...rest, ...more };
}

const EFFECTS = [
  ...['check', 'work'].map((phase) => effect(phase, 1)),
  ...['validate', 'persist'].map((phase) => effect(phase, 3)),
];

function judged(file: TaskFile, effects: readonly Effect[] = EFFECTS, deadAt = new Map()) {
  const acknowledged = [{ subject: 's1', shape: 'one', task }] as const;
  const judge = new Judge({ machines, deadAt, effects, acknowledged });
  judge.see(file);
  judge.close();
  const { lost, doubled, zombieWrites, stuck, violations, repeats } = judge;
  const tallies = { lost, doubled, zombieWrites, stuck, violations };
  const found = Object.entries(tallies).filter(([, { count }]) => count > 0);
  return { found: found.map(([name]) => name), repeats, judge };
}

test('a task that was taken over and ended has nothing wrong', () => {
  expect(judged(fileOf()).found).toEqual([]);
});

test('an effect is repeated as it may be where its record did not get away in time', () => {
  const repeated = [...EFFECTS, effect('validate', 1), effect('persist', 1)];
  expect(judged(fileOf(), repeated)).toMatchObject({ found: [], repeats: { unarchived: 1 } });
  const late = [...EFFECTS, effect('persist', 1, { at: 25_000 })];
  expect(judged(fileOf(), late)).toMatchObject({ found: [], repeats: { late: 1 } });
});

test('an effect whose record had reached the store is doubled by the next owner', () => {
  expect(judged(fileOf(), [...EFFECTS, effect('work', 3)]).found).toEqual(['doubled']);
  const cutShort: Line = [
    [1, STARTED, DONE, DONE],
    [3, STARTED, DONE, DONE, DONE, END],
  ];
  const [first] = segmentsOf(cutShort.slice(0, 1), () => 11_000);
  const anew = fileOf([cutShort[1]!]);
  const all = ['check', 'work', 'validate', 'persist'].map((phase) => effect(phase, 3));
  const file = { ...anew, segments: [first!, ...anew.segments] };
  expect(judged(file, [...EFFECTS.slice(0, 2), ...all]).found).toEqual(['doubled']);
});

test('an effect that happened twice under one epoch is doubled', () => {
  expect(judged(fileOf(), [...EFFECTS, effect('persist', 3)]).found).toEqual(['doubled']);
});

test('an effect that was on the disk of whoever goes on is doubled', () => {
  const adopted = [CLAIMS[0]!, change('claimed', 1, 'claimed', 2)];
  const file = fileOf([
    [1, STARTED, DONE],
    [2, TAKEN, DONE, DONE, END],
  ]);
  const changes = [...adopted, change('claimed', 2, 'completed', 2, file.row.lastHash)];
  const own = ['work', 'validate', 'persist'].map((phase) => effect(phase, 2, { attempt: 1 }));
  const before = [effect('check', 1), effect('work', 1)];
  const good = judged({ ...file, changes }, [...before, ...own]);
  expect(good).toMatchObject({ found: [], repeats: { unrecorded: 1 } });
  const proof = [...before, effect('validate', 1), ...own];
  expect(judged({ ...file, changes }, proof).found).toEqual(['doubled']);
});

test('a record of what nobody did, and a task that is gone, are lost', () => {
  expect(judged(fileOf(), EFFECTS.slice(1)).found).toEqual(['lost']);
  const other = { ...fileOf(), row: { ...fileOf().row, task: `${task.slice(0, -1)}1` as RunId } };
  expect(judged(other, []).found).toContain('lost');
  expect(judged(fileOf(undefined, { status: 'failed' })).found).toContain('lost');
});

test('a task that has not ended is stuck', () => {
  const file = fileOf(undefined, { status: 'claimed' });
  expect(judged({ ...file, changes: CLAIMS }).found).toEqual(['stuck']);
});

test('a settlement by a former owner, by a dead pod, or of what has ended is a zombie write', () => {
  const file = fileOf();
  const [, second] = file.segments;
  const zombie = (...more: Change[]) => judged({ ...file, changes: [...CLAIMS, ...more] }).found;
  const settled = change('claimed', 3, 'completed', 3, second!.lastHash);
  expect(zombie(settled)).toEqual([]);
  expect(zombie({ ...settled, hash: 'unknown' })).toEqual(['zombieWrites']);
  expect(zombie({ ...settled, wasStatus: 'pending' })).toEqual(['zombieWrites']);
  expect(zombie({ ...settled, epoch: 2 })).toEqual(['zombieWrites']);
  expect(zombie({ ...settled, owner: 'pod-9', status: 'claimed' })).toEqual(['zombieWrites']);
  const again = change('completed', 3, 'failed', 3, second!.lastHash);
  expect(zombie(settled, { ...again, wasHash: second!.lastHash })).toEqual(['zombieWrites']);
  const early = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
  const late = { ...early, segments: early.segments.map((part) => ({ ...part, at: 31_000 })) };
  const own = ['check', 'work', 'validate', 'persist'].map((phase) => effect(phase, 1));
  expect(judged(early, own).found).toEqual([]);
  expect(judged(late, own).found).toEqual(['zombieWrites']);
  const dead = new Map([['pod-3', 31_500]]);
  expect(judged(fileOf(), EFFECTS, dead).found).toEqual(['zombieWrites']);
});

test('a history with a hole, or with another end than its row, is a violation', () => {
  const file = fileOf();
  const holed = file.segments.map((part, index) =>
    index === 0 ? { ...part, events: part.events.replace('"seq":1', '"seq":9') } : part,
  );
  expect(judged({ ...file, segments: holed }).found).toContain('violations');
  expect(judged(fileOf(undefined, { outcome: 'handedOff' })).found).toEqual(['violations']);
  expect(judged(fileOf(undefined, { lastSeq: 4 })).found).toEqual(['violations']);
  expect(judged(fileOf(undefined, { result: '{}' })).found).toEqual(['violations']);
});
