/** The rules of the history checker, each on histories with one thing wrong. */
import { expect, test } from 'vitest';
import { BAD_HISTORIES } from './bad-histories.ts';
import { afterDrain, FIRST_ATTEMPTS } from './bad-history.ts';
import { isUndecided } from './checker.ts';
import { CALLS_MAX } from './linearize.ts';
import {
  brokenBy,
  CLAIMS,
  cancelledFile,
  change,
  check,
  DONE,
  END,
  effect,
  fileOf,
  INTERRUPTED,
  type Line,
  other,
  PODS,
  PROBED,
  STARTED,
  segmentsOf,
  TAKEN_INSIDE,
  TAKEN_LEFT,
  task,
} from './made-history.ts';
import type { Around, Life } from './rule.ts';
import { RULES } from './rules.ts';
import { writeAhead } from './rules-effects.ts';
import { registerIsLinear } from './rules-register.ts';

test('a history that is as it should be breaks no rule, and every rule has looked at it', () => {
  const { rules, tallies, repeats, recovered } = check();
  expect(Object.values(tallies).flatMap(({ examples }) => examples)).toEqual([]);
  expect(rules.filter(({ looked }) => looked === 0)).toEqual([]);
  expect(repeats).toEqual({ unrecorded: 0, unarchived: 1, late: 0 });
  expect(recovered).toBe(1);
});

test('a cancel may be forgotten where the records already told another end', () => {
  const file = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
  const [first, swept, claimed, settled] = file.changes;
  const told = { ...settled!, crashes: 1 };
  const asked = { ...first!, control: 'cancel' };
  const changes = [asked, { ...swept!, wasControl: 'cancel' }, claimed!, told];
  const row = { ...file.row, crashes: 1 };
  const effects = ['check', 'work', 'validate', 'persist'].map((phase) => effect(phase, 1));
  const cancels = [
    { task, answer: 'requested' },
    { task: other, answer: 'done' },
  ] as const;
  const made = { file: { ...file, row, changes }, effects, cancels };
  expect(brokenBy(made)).not.toContain('a cancel holds');
  // Where somebody has gone on after it, it was forgotten.
  const on = fileOf();
  const forgotten = { ...on, changes: [asked, changes[1]!, claimed!, settled!] };
  expect(brokenBy({ file: forgotten, cancels })).toContain('a cancel holds');
});

test('a task that was given back before it had begun, and then cancelled, names no record', () => {
  // Who gives back what nobody has begun writes the empty hash into the row.
  const changes = [
    change('pending', 0, 'claimed', 1),
    change('claimed', 1, 'pending', 2, ''),
    change('pending', 2, 'cancelled', 3, '', { wasHash: '' }),
  ];
  const unbegun = { ...cancelledFile({ lastHash: '', epoch: 3 }), changes };
  const found = (lastHash: string) =>
    check({ files: [fileOf(), { ...unbegun, row: { ...unbegun.row, lastHash } }] });
  expect(found('').tallies.violations.examples).toEqual([]);
  expect(found('unknown').tallies.violations.examples.join()).toContain('names a record');
});

test('what a drained pod left may go on by the same attempt, once check was asked', () => {
  const made = afterDrain(TAKEN_LEFT, PROBED, DONE, DONE, END);
  expect(brokenBy({ ...made, effects: FIRST_ATTEMPTS })).toEqual([]);
});

test('a record that was made while the clock was wrong does not tell when, however late its pod goes on', () => {
  const made = { attempt: 1, epoch: 1 };
  const stops = [
    { seq: 1, at: 99_000_000, from: 'main.work', ...made },
    { seq: 2, at: 40_300, from: 'main.validate', ...made },
  ];
  // Begun before the clock was set, and followed by what began after it had been set right.
  const effects = [effect('work', 1, { at: 10_000 }), effect('validate', 1, { at: 40_000 })];
  const life = { task, effects, history: { stops } } as unknown as Life;
  const faultsOf = (setAt: number) => {
    const wasSkewed = (_: string, from: number, to: number) => from <= setAt && setAt <= to;
    return writeAhead.ofLife!(life, { wasSkewed } as unknown as Around).faults;
  };
  expect(faultsOf(5_000)).toEqual([expect.stringContaining('before record 1 was made')]);
  expect(faultsOf(20_000)).toEqual([]);
});

test('every rule has a name of its own, says what it wants, and shows an invariant', () => {
  expect(new Set(RULES.map(({ name }) => name)).size).toBe(RULES.length);
  for (const { says, proves } of RULES) {
    expect(says).not.toBe('');
    expect(proves.every((invariant) => /^I\d+$/.test(invariant))).toBe(true);
    expect(proves.length).toBeGreaterThan(0);
  }
});

test('every rule has a bad history', () => {
  const without = RULES.filter(({ name }) => (BAD_HISTORIES[name] ?? []).length === 0);
  expect(without).toEqual([]);
  expect(Object.keys(BAD_HISTORIES).sort()).toEqual(RULES.map(({ name }) => name).sort());
});

for (const [rule, histories] of Object.entries(BAD_HISTORIES)) {
  for (const { what, made } of histories) {
    test(`${what}: that breaks '${rule}', and no other rule`, () => {
      expect(brokenBy(made())).toEqual([rule]);
    });
  }
}

test('a rule that had nothing to look at says so', () => {
  const nothing = { effects: [], acknowledged: [], cancels: [], calls: [], snapshots: [] };
  const { rules } = check({ ...nothing, files: [] });
  expect(rules.map(({ looked }) => looked)).toEqual(RULES.map(() => 0));
});

test('a search that is too long is told as undecided, and more than a few of them make a rule void', () => {
  const task = 'long';
  const calls = Array.from({ length: CALLS_MAX + 1 }, (_, at) => ({
    call: 'claim' as const,
    pod: 'alder',
    fromMs: at,
    toMs: at + 1,
    tasks: [{ task, epoch: at + 1 }],
  }));
  const life = { task, row: { status: 'claimed', epoch: CALLS_MAX + 1 } } as unknown as Life;
  const around = { calls, changes: [], pods: new Map() } as unknown as Around;
  expect(registerIsLinear.ofLife!(life, around)).toEqual({ looked: 0, faults: [], undecided: 1 });
  const report = { name: '', proves: [], broken: 0 };
  expect(isUndecided({ ...report, looked: 98, undecided: 2 })).toBe(false);
  expect(isUndecided({ ...report, looked: 97, undecided: 3 })).toBe(true);
});

test("what a former owner sends late, behind which another has gone on, was not the store's to tell", () => {
  const line: Line = [
    [1, STARTED, DONE],
    [3, TAKEN_INSIDE],
    [5, TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE, END],
  ];
  const file = fileOf(line, { epoch: 5 });
  const [first, ...others] = file.segments;
  const [late] = segmentsOf([[1, STARTED, DONE, DONE, DONE]]);
  const sentAt = (at: number) => {
    const { at: begunAt, lastSeq } = first!;
    const grew = [
      { lastSeq, at: begunAt },
      { lastSeq: late!.lastSeq, at },
    ];
    const changes = [
      ...CLAIMS,
      change('claimed', 3, 'pending', 4, undefined, { at: 40_000 }),
      change('pending', 4, 'claimed', 5, undefined, { at: 50_000 }),
      change('claimed', 5, 'completed', 5, file.row.lastHash),
    ];
    return { file: { ...file, changes, segments: [{ ...late!, at, grew }, ...others] } };
  };
  // After the second owner had got it, and before the third one did.
  expect(brokenBy(sentAt(35_000))).not.toContain('no recorded phase again');
  expect(brokenBy(sentAt(25_000))).toContain('no recorded phase again');
});

test('a task that was cancelled first stays so, whatever end a former owner records behind it', () => {
  const file = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
  const ended = { status: 'cancelled', outcome: 'cancelled', result: undefined, epoch: 2 };
  const row = { ...file.row, ...ended, lastSeq: -1, lastHash: undefined };
  const swept = change('claimed', 1, 'cancelled', 2, undefined, {
    at: 16_000,
    outcome: 'cancelled',
  });
  const changes = [CLAIMS[0]!, swept];
  const sentAt = (at: number) => {
    const segments = file.segments.map((part) => ({
      ...part,
      at,
      grew: [{ lastSeq: part.lastSeq, at }],
    }));
    return { file: { row, changes, segments } };
  };
  expect(brokenBy(sentAt(20_000))).not.toContain('settled means recorded');
  expect(brokenBy(sentAt(12_000))).toContain('settled means recorded');
});

test('a deadline that passed while nobody had the task leaves no record; one that an owner tells does', () => {
  const file = fileOf([[1, STARTED, DONE]]);
  const ended = { status: 'failed', outcome: 'timedOut', result: undefined, epoch: 3 };
  const row = { ...file.row, ...ended, lastSeq: -1, lastHash: undefined };
  const from = (wasStatus: string) => {
    const late = change(wasStatus, 2, 'failed', 3, undefined, { outcome: 'timedOut' });
    return { file: { row, segments: file.segments, changes: [CLAIMS[0]!, late] } };
  };
  expect(brokenBy(from('pending'))).not.toContain('settled means recorded');
  expect(brokenBy(from('claimed'))).toContain('settled means recorded');
});

test('who gives a task back before it has begun has no record to send; who had one has', () => {
  const file = fileOf([[3, STARTED, DONE, DONE, DONE, END]]);
  const given = (wasHash: string | undefined) =>
    change('claimed', 1, 'pending', 2, undefined, { at: 16_000, wasHash, hash: '' });
  const from = (wasHash: string | undefined) => {
    const changes = [CLAIMS[0]!, given(wasHash), ...file.changes.slice(2)];
    return { file: { ...file, changes } };
  };
  expect(brokenBy(from(undefined))).not.toContain('settled means recorded');
  expect(brokenBy(from('a record'))).toContain('settled means recorded');
});

test('an end that was sent late is settled by whoever finds it, and by nobody else', () => {
  const file = fileOf([[1, STARTED, DONE, DONE, DONE, END]]);
  const effects = ['check', 'work', 'validate', 'persist'].map((each) => effect(each, 1));
  const settledBy = (
    by: string | undefined,
    sentAt: number,
    more: readonly ReturnType<typeof effect>[] = [],
  ) => {
    const segments = file.segments.map((part) => ({ ...part, at: sentAt }));
    const changes = [...CLAIMS, { ...file.changes.at(-1)!, crashes: 1, by }];
    return { file: { ...file, segments, changes }, effects: [...effects, ...more] };
  };
  const rule = 'settled by its owner';
  const owner = PODS[2]!.name;
  expect(brokenBy(settledBy(owner, 31_000))).not.toContain(rule);
  expect(brokenBy(settledBy('another', 31_000))).toContain(rule);
  expect(brokenBy(settledBy(undefined, 31_000))).toContain(rule);
  // It came with the settlement, so that nobody can have found it.
  expect(brokenBy(settledBy(owner, file.changes.at(-1)!.at))).toContain(rule);
  // The owner was at work: it had looked before, and has ends of its own.
  expect(brokenBy(settledBy(owner, 31_000, [effect('check', 3)]))).toContain(rule);
});
