/**
 * Histories made by hand, for the tests of the checker: one that is as it should be, to be changed in
 * one place. Epoch 1 checks, begins to work and dies; it is swept under epoch 2; epoch 3 notices,
 * probes, works, and goes on to the end. A second task is cancelled before anybody gets it.
 *
 *    10 s        12 s      16 s         30 s                 32 s
 *     ├ claim 1 ──┤ silent  ├ swept, 2   ├ claim 3 ───────────┤ settled
 */
import { segmentOf } from '../../src/fleet/history.ts';
import type { RunId } from '../../src/ground/index.ts';
import * as fleetq from '../../src/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { encodeEntry } from '../../src/journal/record.ts';
import { advance, planOf, type RunEvent, startState } from '../../src/machine/index.ts';
import { NO_BOOK, Scribe, shapes } from '../chaos/shapes.ts';
import { type CheckerOptions, HistoryChecker } from './checker.ts';
import type { Change, Effect, EndRow, PodLife, Snapshot, StoreCall, TaskFile } from './evidence.ts';

export const machines = shapes(fleetq, new Scribe(NO_BOOK, ''));
const plan = planOf(machines.one)!;
export const task = '01J00000000000000000000000' as RunId;
export const other = '01J00000000000000000000001' as RunId;

export const STARTED = {
  type: 'STARTED',
  machine: 'one',
  version: 1,
  fingerprint: plan.fingerprint,
  input: { subject: 's1' },
  pod: 'pod-1',
} satisfies RunEvent;
export const TAKEN = { type: 'TAKEN', pod: 'pod-3' } satisfies RunEvent;
export const TAKEN_INSIDE = { ...TAKEN, interruption: 'cut' } satisfies RunEvent;
export const TAKEN_LEFT = { ...TAKEN, interruption: 'left' } satisfies RunEvent;
export const INTERRUPTED = { type: 'INTERRUPTED' } satisfies RunEvent;
export const PROBED = { type: 'PROBED' } satisfies RunEvent;
export const DONE = { type: 'DONE' } satisfies RunEvent;
const RESULT = { kept: 's1' };
export const END = { type: 'DONE', output: RESULT } satisfies RunEvent;

export type Line = readonly (readonly [epoch: number, ...events: RunEvent[]])[];

export const TAKEN_OVER: Line = [
  [1, STARTED, DONE],
  [3, TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE, END],
];

/** Records as owners of these epochs write them one after the other, a segment for each. */
export function segmentsOf(line: Line, more: { readonly generation?: number } = {}) {
  const { generation = 1 } = more;
  let state = startState(plan, STARTED, 0);
  let [seq, hash] = [-1, ''];
  return line.map(([epoch, ...events]) => {
    const prevHash = hash;
    const records = events.map((event, index) => {
      if (seq >= 0) state = advance(plan, state, event)!;
      seq += 1;
      const at = epoch * 10_000 + 100 * index;
      const entry = { run: task, seq, at, epoch, event, state: state.at, prevHash: hash };
      const encoded = encodeEntry({ ...entry, opens: undefined }, identityCodec);
      hash = encoded.hash;
      return { ...entry, event: event.type, data: encoded.data, hash };
    });
    const segment = segmentOf({ task, generation, epoch }, prevHash, records)!;
    return { ...segment, at: epoch * 10_000 + 1_000 };
  });
}

export function fileOf(line: Line = TAKEN_OVER, more: Partial<EndRow> = {}): TaskFile {
  const segments = segmentsOf(line);
  const last = segments.at(-1)!;
  const row: EndRow = {
    task,
    generation: 1,
    key: 's1',
    machine: 'one',
    status: 'completed',
    outcome: 'completed',
    result: JSON.stringify(RESULT),
    error: undefined,
    epoch: 3,
    lastSeq: last.lastSeq,
    lastHash: last.lastHash,
    retries: 0,
    crashes: 0,
    ...more,
  };
  const settled = change('claimed', 3, 'completed', 3, last.lastHash, SETTLED);
  return { row, segments, changes: [...CLAIMS, settled] };
}

export function change(
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
    wasRetries: 0,
    retries: 0,
    wasCrashes: 0,
    crashes: 0,
    wasControl: undefined,
    control: undefined,
    ...more,
  };
}

/** The crash of its first owner is counted, and forgotten with the step that was completed. */
const SETTLED = { wasCrashes: 1, crashes: 0 };
export const SWEPT = change('claimed', 1, 'pending', 2, undefined, { at: 16_000, crashes: 1 });
export const CLAIMS: readonly Change[] = [
  change('pending', 0, 'claimed', 1, undefined, { at: 10_000 }),
  SWEPT,
  change('pending', 2, 'claimed', 3, undefined, { at: 30_000, wasCrashes: 1, crashes: 1 }),
];

const CANCELLED: TaskFile = {
  row: {
    ...fileOf().row,
    ...{ task: other, key: 's2', status: 'cancelled', outcome: 'cancelled', epoch: 1 },
    ...{ result: undefined, lastSeq: -1, lastHash: undefined },
  },
  segments: [],
  changes: [change('pending', 0, 'cancelled', 1)],
};

export function effect(phase: string, fencingToken: number, more: Partial<Effect> = {}): Effect {
  const attempt = fencingToken === 3 ? 2 : 1;
  // Each after the record before it.
  const seq = ['check', 'work', 'validate', 'persist'].indexOf(phase) + (attempt - 1) * 2;
  const at = fencingToken * 10_000 + 100 * seq + 60;
  const rest = { attempt, idempotencyKey: phase, outcome: 'done', pod: 'birch', at };
  return { task, subject: 's1', step: 'main', phase, fencingToken, ...rest, ...more };
}

export const EFFECTS: readonly Effect[] = [
  ...['check', 'work'].map((phase) => effect(phase, 1)),
  ...['work', 'validate', 'persist'].map((phase) => effect(phase, 3)),
];

const LIFE = { name: 'birch', lastBeatAt: 33_000, deadAt: undefined, deadBy: undefined };
const DEAD = { lastBeatAt: 12_000, deadAt: 15_900, deadBy: 'pod-3' };
export const PODS: readonly PodLife[] = [
  { pod: 'pod-1', ...LIFE, ...DEAD },
  { pod: 'pod-2', ...LIFE },
  { pod: 'pod-3', ...LIFE },
];

export const CALLS: readonly StoreCall[] = [
  { call: 'claim', pod: 'pod-1', fromMs: 9_900, toMs: 10_100, tasks: [{ task, epoch: 1 }] },
  {
    ...{ call: 'take', pod: 'pod-3', fromMs: 15_900, toMs: 16_100 },
    tasks: [{ task, epoch: 2, wasEpoch: 1, to: 'pending' }],
  },
  { call: 'claim', pod: 'pod-3', fromMs: 29_900, toMs: 30_100, tasks: [{ task, epoch: 3 }] },
  settleCall('pod-3', 3, 31_900, 32_100, 'stood'),
];

export function settleCall(
  pod: string,
  epoch: number,
  fromMs: number,
  toMs: number | undefined,
  answer: string | undefined,
): StoreCall {
  return { call: 'settle', pod, fromMs, toMs, tasks: [{ task, epoch, to: 'completed', answer }] };
}

export function look(at: number, more: Partial<Snapshot> = {}): Snapshot {
  const counts = { all: 2, byStatus: { pending: 1, claimed: 1 }, torn: 0, fresh: 1 };
  return { at, acknowledged: 2, sent: 2, counts, ...more };
}
export const LOOKS: readonly Snapshot[] = Array.from({ length: 80 }, (_, index) =>
  look(index * 500),
);

/** All that there is of the two tasks, with what is to be different. */
export interface Made extends Partial<Omit<CheckerOptions, 'machines' | 'limits'>> {
  readonly file?: TaskFile | undefined;
  readonly files?: readonly TaskFile[] | undefined;
}

export const ACKNOWLEDGED = [
  { subject: 's1', shape: 'one', task },
  { subject: 's2', shape: 'one', task: other },
] as const;

export function check({ file = fileOf(), files, ...more }: Made = {}): HistoryChecker {
  const checker = new HistoryChecker({
    machines,
    limits: { silenceMs: 3_000, heartbeatMs: 500, boundMs: 1_000 },
    pods: PODS,
    effects: EFFECTS,
    acknowledged: ACKNOWLEDGED,
    cancels: [{ task: other, answer: 'done' }],
    calls: CALLS,
    snapshots: LOOKS,
    ...more,
  });
  for (const each of files ?? [file, CANCELLED]) checker.see(each);
  checker.close();
  return checker;
}

/** The names of the rules that are broken. */
export function brokenBy(made: Made): string[] {
  return check(made)
    .rules.filter(({ broken }) => broken > 0)
    .map(({ name }) => name);
}

/** The other task with something else about it. */
export function cancelledFile(more: Partial<EndRow> = {}): TaskFile {
  return { ...CANCELLED, row: { ...CANCELLED.row, ...more } };
}
