/** What the pages of the fleet make of what they are told; pure. */
import { expect, test } from 'vitest';
import { statsOf } from '../../admin-ui/src/pages/machines/machine-rows.ts';
import { fieldsOf, fill, typedOf } from '../../admin-ui/src/pages/machines/schema-form.ts';
import { needsOf } from '../../admin-ui/src/pages/overview/attention.ts';
import { runTimesOf } from '../../admin-ui/src/pages/overview/figures.ts';
import { hasLeft, sorted, stateOf } from '../../admin-ui/src/pages/pods/pod-state.ts';
import type { PodRow, TimedRun } from '../../admin-ui/src/services/fleet-types.ts';
import { timesOf } from '../../src/admin/desk/phase-times.ts';

const pod = (name: string, more: Partial<PodRow> = {}): PodRow => ({
  ...{ pod: name, name, status: 'up', isLeader: false, isSilent: false, silentMs: 10 },
  ...{ bornAt: 1, beatAt: 1, boot: 1, lsn: 0, routes: [], report: null, claimCount: 0 },
  ...more,
});
const NOTHING = { at: 0, routes: [], claimed: [], deadLetters: [], orphans: 0 };

test('what is worst comes first, and a quiet fleet needs nobody', () => {
  const quiet = { pods: [pod('a')], hasLeader: true, census: NOTHING, machines: [], errors: [] };
  expect(needsOf(quiet)).toEqual([]);
  const route = { route: 'm@1', machine: 'm', isLive: true, pending: 3, waits: {}, suspect: 0 };
  const loud = needsOf({
    pods: [pod('a'), pod('b', { isSilent: true, claimCount: 2 })],
    hasLeader: false,
    census: {
      ...NOTHING,
      routes: [{ ...route, oldestMs: 90_000 }],
      deadLetters: [{ machine: 'm', count: 4 }],
    },
    machines: [{ name: 'm', version: 2, isHere: true, blocked: 5, why: 'no pod has it' }],
    lettersLately: 4,
  });
  expect(loud.map(({ level, what }) => [level, what])).toEqual([
    ['bad', 'Nobody leads'],
    ['bad', '1 pod is silent: b'],
    ['bad', '5 runs of m@2 blocked'],
    ['wait', '4 dead letters'],
    ['wait', 'm@1 is due for 1 m 30 s'],
  ]);
  expect(needsOf({ pods: [] }).map(({ what }) => what)).toEqual(['No pod is up']);
});

test('a pod is what was seen of it: silent is suspected, and fenced by another is swept', () => {
  expect(stateOf(pod('a', { isSilent: true }))).toBe('suspected');
  const resting = { status: 'down', desired: 'rest', deadBy: 'a' } as const;
  expect(stateOf(pod('a', resting))).toBe('resting');
  expect(hasLeft(pod('a', resting))).toBe(false);
  expect(needsOf({ pods: [pod('a', resting)], hasLeader: false })).toEqual([]);
  expect(stateOf(pod('a', { desired: 'drain' }))).toBe('draining');
  expect(stateOf(pod('a', { status: 'down', deadBy: 'a' }))).toBe('down');
  expect(stateOf(pod('a', { status: 'down', deadBy: 'b' }))).toBe('swept');
  const names = sorted([
    pod('gone', { status: 'down', deadBy: 'gone' }),
    pod('up'),
    pod('lost', { isSilent: true }),
    pod('first', { isLeader: true }),
  ]).map(({ name }) => name);
  expect(names).toEqual(['first', 'lost', 'up', 'gone']);
});

test('a form is made of a flat schema, and what is typed is read by it', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      count: { type: 'integer', minimum: 1 },
      kind: { enum: ['a', 7] },
      deep: { type: 'object' },
      __proto__x: { type: 'boolean', default: false },
    },
    required: ['name', 'count', '__proto__x'],
  };
  const fields = fieldsOf(schema)!;
  expect(fields.map(({ kind }) => kind)).toEqual(['text', 'integer', 'choice', 'json', 'boolean']);
  expect(fill(fields, {}).wrong).toEqual({ name: 'is needed', count: 'is needed' });
  expect(fill(fields, { name: 'A', count: '1.5', deep: '{' }).wrong).toMatchObject({
    name: 'wants 2 characters or more',
    count: 'wants a whole number',
    deep: expect.stringMatching(/^is not JSON/),
  });
  expect(fill(fields, { name: 'Al', count: '9007199254740993' }).wrong['count']).toMatch(/exactly/);
  const typed = { name: 'Ada', count: '3', kind: '1', deep: '{"x":[1]}' };
  const { input, wrong } = fill(fields, typed);
  expect([input, wrong]).toEqual([{ name: 'Ada', count: 3, kind: 7, deep: { x: [1] } }, {}]);
  expect(typedOf(fields, input)).toEqual(typed);
  for (const none of [undefined, true, { type: 'string' }, { type: 'object' }]) {
    expect(fieldsOf(none)).toBe(undefined);
  }
});

test('phases are timed between records: waits and gaps are nobody’s work', () => {
  const mark = (at: number, event: string, state: string, data = '{}') => ({
    at,
    event,
    state,
    data,
  });
  const told = timesOf([
    mark(100, 'STARTED', 'main.work'),
    mark(150, 'FAILED', 'main.work', '{"type":"FAILED","dueAt":1000}'),
    mark(1_020, 'DONE', 'main.persist'),
    // Its pod dies, and another goes on with it later.
    mark(9_000, 'TAKEN', 'main.persist'),
    mark(9_005, 'DONE', 'completed'),
  ]);
  expect(told).toEqual({
    state: 'main.persist',
    phases: [
      { phase: 'main.work', ms: 70, tries: 2, failures: 1 },
      { phase: 'main.persist', ms: 5, tries: 1, failures: 0 },
    ],
  });
  // A clock that went back takes nothing away.
  const back = timesOf([mark(100, 'STARTED', 'a.work'), mark(50, 'DONE', 'completed')]);
  expect(back.phases[0]!.ms).toBe(0);
});

test('quantiles are of what was there: a part in which nothing ended has none', () => {
  const run = (createdAt: number, finishedAt: number, ms: number) =>
    ({
      createdAt,
      finishedAt,
      phases: [{ phase: 'a.work', ms, tries: 1, failures: 0 }],
    }) as never as TimedRun;
  const runs = [run(0, 5, 1), run(0, 8, 3), run(0, 25, 9)];
  expect(runTimesOf(runs, { from: 0, until: 30 }, 3)).toEqual({
    times: [0, 10, 20],
    p50: [8, null, 25],
    p95: [8, null, 25],
  });
  const [stat, unseen] = statsOf(runs, ['a.work', 'a.persist']);
  expect(stat).toMatchObject({ phase: 'a.work', count: 3, p50: 3, p95: 9, most: 9 });
  expect(unseen).toMatchObject({ phase: 'a.persist', count: 0 });
});
