/** The judge alone, on evidence as a broken engine would leave it: every kind of fault is told. */
import { expect, test } from 'vitest';
import type { Call, Ended, Line, RecordTold } from '../../src/testing/case-ledger.ts';
import { type Evidence, judge, type Smooth, type Verdict } from '../../src/testing/judge.ts';

const DEAD = { code: null, signal: 'SIGKILL' as const, isLate: false, said: '' };
const DONE = { code: 0, signal: null, isLate: false, said: '' };

const call = (process: number, phase: Call['phase'], attempt = 1): Call & { process: number } => ({
  process,
  run: 'R',
  step: 'main',
  phase,
  attempt,
  idempotencyKey: `key of ${phase === 'probe' ? 'check' : phase}`,
  fencingToken: process,
});
const made = (of: ReturnType<typeof call>): Line[] => [
  { at: 'entered', ...of },
  { at: 'left', how: 'returned', ...of },
];
const seen = (nth: number, event: RecordTold['event'], state: string): Line => {
  return { process: 1, at: 'recorded', nth, event, state };
};
const told = (...rows: readonly [RecordTold['event'], string, number][]): RecordTold[] =>
  rows.map(([event, state, epoch], seq) => ({ seq, event, state, epoch }));

const ended = (records: readonly RecordTold[], change: Partial<Ended> = {}): Line => ({
  process: 2,
  at: 'ended',
  run: 'R',
  found: ['R'],
  machine: 'pair@1',
  places: ['main.work', 'main.persist'],
  status: 'completed',
  outcome: 'completed',
  output: 'kept',
  records,
  ...change,
});

/** A machine of work and persist, killed before the record of persist: its effect is done. */
const BEGUN: Line[] = [
  seen(1, 'STARTED', 'main.work'),
  ...made(call(1, 'work')),
  seen(2, 'DONE', 'main.persist'),
  ...made(call(1, 'persist')),
  { process: 1, at: 'dying', when: 'before', nth: 3, event: 'DONE', state: 'completed' },
];
const RECORDS = told(
  ['STARTED', 'main.work', 1],
  ['DONE', 'main.persist', 1],
  ['INTERRUPTED', 'main.persist', 2],
  ['DONE', 'completed', 2],
);
const GONE_ON: Line[] = [...made(call(2, 'persist', 2)), ended(RECORDS)];

const smooth: Smooth = {
  ended: { ...(ended(told(['STARTED', 'main.work', 1])) as Ended), run: 'S' },
  lines: [],
  directory: '/smooth',
};

function judged(lines: readonly Line[], change: Partial<Evidence> = {}): Verdict {
  const point = { when: 'before' as const, nth: 3 };
  const evidence = { name: 'a case', directory: '/case', point, first: DEAD, second: DONE, lines };
  return judge({ ...evidence, ...change }, smooth, (output) => output);
}
const kindsOf = (verdict: Verdict) => verdict.faults.map(({ kind }) => kind);

test('the one repeat that the contract allows is no fault, and is counted', () => {
  expect(judged([...BEGUN, ...GONE_ON])).toEqual({
    isKilled: true,
    faults: [],
    again: 1,
    calledAgain: expect.objectContaining({ step: 'main', phase: 'persist' }),
    handedOff: 0,
  });
});

test('a phase whose record was durable and that is called again is told', () => {
  const again = [...BEGUN, ...made(call(2, 'work', 2)), ...GONE_ON];
  expect(judged(again).faults).toMatchObject([
    { kind: 'repeated', message: expect.stringContaining('main.work was called by the next') },
  ]);
});

test('a phase that was cut off and is called twice more is told', () => {
  const twice = [...BEGUN, ...made(call(2, 'persist', 2)), ...GONE_ON];
  expect(kindsOf(judged(twice))).toEqual(['repeated']);
});

test('a repeat in one process, without any crash between, is told', () => {
  const early = [...BEGUN.slice(0, 3), ...made(call(1, 'work')), ...BEGUN.slice(3), ...GONE_ON];
  expect(kindsOf(judged(early))).toEqual(['repeated']);
});

test('records that go back to a phase that was done are told, however well the calls fit them', () => {
  const records = told(
    ['STARTED', 'main.work', 1],
    ['DONE', 'main.persist', 1],
    ['INTERRUPTED', 'main.work', 2],
    ['DONE', 'main.persist', 2],
    ['DONE', 'completed', 2],
  );
  const again = [...made(call(2, 'work', 2)), ...made(call(2, 'persist', 2))];
  expect(judged([...BEGUN, ...again, ended(records)]).faults).toMatchObject([
    {
      kind: 'repeated',
      message: 'record 3 (INTERRUPTED) leads back from main.persist to main.work',
    },
  ]);
});

test('a persist that is recorded as done twice is told', () => {
  const records = told(
    ['STARTED', 'main.work', 1],
    ['DONE', 'main.persist', 1],
    ['DONE', 'main.persist', 2],
    ['DONE', 'completed', 2],
  );
  const lines = [...BEGUN, ...made(call(2, 'persist')), ...made(call(2, 'persist'))];
  expect(kindsOf(judged([...lines, ended(records)]))).toEqual(['repeated', 'repeated']);
});

test('records that go past a phase are told', () => {
  const records = told(['STARTED', 'main.work', 1], ['DONE', 'completed', 2]);
  const point = { when: 'after' as const, nth: 1 };
  const dying = { process: 1, at: 'dying' as const, ...point };
  const lines: Line[] = [BEGUN[0]!, { ...dying, event: 'STARTED', state: 'main.work' }];
  const verdict = judged([...lines, ...made(call(2, 'work')), ended(records)], { point });
  expect(verdict.faults).toMatchObject([
    { kind: 'lost', message: 'record 2 (DONE) leads from main.work to completed' },
  ]);
});

test('a durable record that is gone, a run that was begun anew, a record of what never was: lost', () => {
  const short = told(['STARTED', 'main.work', 1], ['DONE', 'completed', 2]);
  const gone = judged([...BEGUN, ...made(call(2, 'work')), ended(short)]);
  expect(gone.faults[0]).toMatchObject({ kind: 'lost', message: expect.stringContaining('gone') });

  const anew = judged([...BEGUN, ...made(call(2, 'persist', 2)), ended(RECORDS, { found: [] })]);
  expect(kindsOf(anew)).toEqual(['lost']);

  const invented = judged([...BEGUN, ended(RECORDS)]);
  expect(invented.faults).toMatchObject([
    { kind: 'lost', message: 'main.persist is recorded as DONE and was never called' },
  ]);
});

test('a record that is written before its phase has returned is told', () => {
  const [entered] = made(call(2, 'persist', 2));
  expect(kindsOf(judged([...BEGUN, entered!, ended(RECORDS)]))).toEqual(['lost']);
});

test('another key for the same phase, and a token that does not rise, are told', () => {
  const other = { ...call(2, 'persist', 2), idempotencyKey: 'another' };
  expect(judged([...BEGUN, ...made(other), ended(RECORDS)]).faults).toMatchObject([
    { kind: 'key', message: expect.stringContaining('another idempotencyKey') },
  ]);
  const stale = { ...call(2, 'persist', 2), fencingToken: 1 };
  expect(kindsOf(judged([...BEGUN, ...made(stale), ended(RECORDS)]))).toContain('key');
});

test('handed off is as good as completed only where check saw what was cut off', () => {
  const records = told(
    ['STARTED', 'main.work', 1],
    ['DONE', 'main.persist', 1],
    ['INTERRUPTED', 'main.persist', 2],
    ['HANDED_OFF', 'handedOff', 2],
  );
  const handedOff = ended(records, { status: 'handedOff', outcome: 'handedOff' });
  const probed = judged([...BEGUN, ...made(call(2, 'probe', 2)), handedOff]);
  expect(probed).toMatchObject({ faults: [], again: 0, handedOff: 1 });

  // Killed between two phases nothing was cut off that could be seen.
  const between: Line[] = [
    ...BEGUN.slice(0, 4),
    { process: 1, at: 'dying', when: 'after', nth: 2, event: 'DONE', state: 'main.persist' },
  ];
  const point = { when: 'after' as const, nth: 2 };
  const strange = judged([...between, ...made(call(2, 'probe', 2)), handedOff], { point });
  expect(kindsOf(strange)).toEqual(['outcome']);
});

test('another outcome and another output are told with both', () => {
  const end = (change: Partial<Ended>) => [
    ...BEGUN,
    ...made(call(2, 'persist', 2)),
    ended(RECORDS, change),
  ];
  const outcome = judged(end({ outcome: 'aborted', reason: 'no such order' }));
  expect(outcome.faults).toMatchObject([
    { kind: 'outcome', message: 'aborted (no such order), and without a crash completed' },
  ]);
  const output = judged(end({ output: 'thrown away' }));
  expect(output.faults).toMatchObject([
    { kind: 'output', message: '"thrown away", and without a crash "kept"' },
  ]);
});

test('a run that does not end is told with what its process said', () => {
  const late = { ...DEAD, isLate: true, said: 'waiting for the other side' };
  const verdict = judged(BEGUN, { second: late });
  expect(kindsOf(verdict)).toEqual(['unended']);
  expect(verdict.faults[0]?.message).toContain('waiting for the other side');
  const quarantined = ended(RECORDS, { status: 'quarantined', outcome: undefined, reason: 'why' });
  expect(judged([...BEGUN, quarantined]).faults).toMatchObject([
    { kind: 'unended', message: 'the run is quarantined: why' },
  ]);
});

test.each<[string, Partial<Evidence>, readonly Line[]]>([
  ['ended by itself', { first: DONE }, [...BEGUN, ...GONE_ON]],
  ['was killed since it hung', { first: { ...DEAD, isLate: true } }, [...BEGUN, ...GONE_ON]],
  ['was killed by somebody else', {}, [...BEGUN.slice(0, -1), ...GONE_ON]],
  ['died at another record', { point: { when: 'before', nth: 2 } }, [...BEGUN, ...GONE_ON]],
  ['died after, not before', { point: { when: 'after', nth: 3 } }, [...BEGUN, ...GONE_ON]],
  ['had fewer durable records than it should', {}, [...BEGUN.slice(1), ...GONE_ON]],
])('a case whose process %s is void', (_, change, lines) => {
  expect(judged(lines, change)).toMatchObject({ isKilled: false, faults: [{ kind: 'void' }] });
});
