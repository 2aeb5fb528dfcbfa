/** The judge of rolled fleets: what it lets pass, and every fault that it has to find. */
import { expect, test } from 'vitest';
import type { PastRecord, RunEvent } from '../../src/machine/index.ts';
import { compare, type Done, type RollLine, readLife } from './roll-judge.ts';

const started = (machine: string, version: number): RunEvent => ({
  type: 'STARTED',
  machine,
  version,
  fingerprint: '',
  input: {},
});
const DONE: RunEvent = { type: 'DONE' };
const moved = (type: 'ADVANCED' | 'UPGRADED', version = 2) =>
  ({ type, version, fingerprint: '' }) as RunEvent;

function past(...records: (readonly [event: RunEvent, state: string])[]): PastRecord[] {
  return records.map(([event, state], seq) => ({ seq, at: seq, event, state }));
}

const begun = (machine: string, version = 1) =>
  [
    [started(machine, version), 'fetch.check'],
    [DONE, 'fetch.work'],
    [DONE, 'fetch.validate'],
  ] as const;

test('the phases on record are those of the version that stood at each of them', () => {
  const records = past(
    ...begun('grown'),
    [moved('ADVANCED'), 'fetch.validate'],
    [DONE, 'fetch.persist'],
  );
  expect(readLife({ machine: 'grown', version: 1 }, records)).toEqual({
    done: [
      { version: 1, step: 'fetch', phase: 'work' },
      { version: 2, step: 'fetch', phase: 'validate' },
    ],
    moves: ['ADVANCED'],
    broken: [],
  });
});

test.each([
  ['swapped', moved('ADVANCED'), /ADVANCED from version 1 to 2/],
  ['steady', moved('UPGRADED'), /UPGRADED from version 1 to 2/],
  ['reshaped', moved('ADVANCED'), /ADVANCED from version 1/],
  ['grown', moved('ADVANCED', 3), /to 3/],
])(
  'a run of %s that came under another version against the rules is found',
  (machine, move, what) => {
    const records = past(...begun(machine), [move, 'fetch.validate']);
    expect(readLife({ machine, version: 1 }, records).broken).toEqual([
      expect.stringMatching(what),
    ]);
  },
);

test('a run that was begun under a version that nobody asked for is found', () => {
  const broken = (machine: string, asked: number, version: number) =>
    readLife({ machine, version: asked }, past(...begun(machine, version))).broken;
  expect(broken('swapped', 1, 2)).toEqual([]);
  expect(broken('beside', 1, 2)).toEqual(['was begun under version 2']);
  expect(broken('grown', 2, 1)).toEqual(['was begun under version 1']);
});

const done: Done[] = ['work', 'validate'].map((phase) => ({ version: 1, step: 'fetch', phase }));
const lineOf = (one: Partial<RollLine>, at: number): RollLine => ({
  task: 't',
  machine: 'grown',
  version: 1,
  code: 'v1',
  step: 'fetch',
  phase: 'work',
  attempt: 1,
  fencingToken: 1,
  at,
  ...one,
});
const lines = done.map(lineOf);

test.each<[string, readonly RollLine[], readonly string[]]>([
  ['nothing', lines, []],
  ['another call of check', [...lines, lineOf({ phase: 'check' }, 9)], []],
  ['a phase that was run twice', [...lines, lineOf({ fencingToken: 2 }, 9)], ['repeated']],
  ['a phase of another version', [...lines, lineOf({ version: 2 }, 9)], ['wrong definition']],
  ['a phase that was never run', lines.slice(1), ['unrecorded']],
  ['phases in another order', done.map((one, at) => lineOf(one, 9 - at)), ['wrong definition']],
])('the judge is told of %s', (_, given, rules) => {
  expect(compare(done, given).map(([rule]) => rule)).toEqual(rules);
});
