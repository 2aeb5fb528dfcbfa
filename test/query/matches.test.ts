/** Whether a filter holds of what is known. */
import { expect, test } from 'vitest';
import { factsOfRun } from '../../src/engine/index.ts';
import { type Facts, matches, parseFilter, STATUSES, WAITS } from '../../src/query/index.ts';
import { factsOfTask, type TaskRow, type TaskStatus, type WaitFor } from '../../src/store/index.ts';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const H = 3_600_000;

const FACTS: Facts = {
  id: '01JCQ8ZZZZZZZZZZZZZZZZZZZZ',
  machine: 'resize-image',
  version: 2,
  status: 'failed',
  outcome: 'exhausted',
  queue: 'default',
  key: 'Order 7',
  error: { name: 'S3Error', code: 'E_BUCKET', message: 'No such bucket: 4711' },
  is: ['finished', 'dead-letter'],
  retries: 3,
  priority: -1,
  created: NOW - 2 * H,
  finished: NOW - H,
};

const holds = (text: string) => matches(parseFilter(text), FACTS, NOW);

test.each([
  '',
  'status:failed',
  'status:waiting,failed',
  'machine:resize*',
  'machine:*',
  '-pod:*',
  '-pod:alder',
  'id:01JCQ8*',
  'version:1,2',
  'is:finished',
  'is:dead*',
  '-is:paused',
  'key:"Order 7"',
  'retries:3',
  'retries:2..5',
  'priority:<0',
  '-claims:0',
  'created:<3h',
  'created:>1h',
  'created:2026-11-16',
  'created:>=2026-11-16T10:00Z',
  '-finished:>2h',
  '-due:<1h',
  'error:e_bucket',
  'error:s3*',
  'error:BUCK',
  'bucket',
  '"SUCH bucket: 47"',
  'jcq8',
  'order',
  'RESIZE -thumbs',
])('it is found by %s', (text) => {
  expect(holds(text)).toBe(true);
});

test.each([
  'status:waiting',
  '-status:failed',
  'machine:resize',
  'machine:Resize*',
  '-machine:*',
  'pod:*',
  'version:12',
  'is:paused,blocked',
  '-is:finished',
  'key:order*',
  'retries:>3',
  'claims:>=0',
  'created:<1h',
  'created:>=2026-11-16T10:01Z',
  'created:2026-11-15',
  'due:>1h',
  'error:bucket*',
  'error:4711',
  'thumbs',
  'resize thumbs',
  '-bucket',
])('it is not found by %s', (text) => {
  expect(holds(text)).toBe(false);
});

test('an age is exact to the millisecond: what is as old counts as no older', () => {
  expect(holds('created:<2h')).toBe(true);
  expect(holds('created:>2h')).toBe(false);
  expect(matches(parseFilter('created:<2h'), FACTS, NOW + 1)).toBe(false);
  expect(matches(parseFilter('created:>2h'), FACTS, NOW + 1)).toBe(true);
});

const ROW = {
  id: FACTS.id,
  machine: 'm',
  version: 1,
  status: 'failed',
  claimedBy: 'pod-1',
  waitFor: undefined,
  retryCount: 4,
  crashes: 2,
  claims: 5,
  generation: 1,
  isPaused: false,
  pinnedTo: 'journal-1',
  error: '{"code":"E_X","message":"boom"}',
  queue: 'q',
  priority: 0,
  runAt: NOW,
  createdAt: NOW - H,
  updatedAt: NOW,
  finishedAt: undefined,
  discardedAt: undefined,
} as unknown as TaskRow;

test("a task's row tells its facts", () => {
  const asks = (text: string, row: Partial<TaskRow> = {}, isBlocked = false) =>
    matches(parseFilter(text), factsOfTask({ ...ROW, ...row }, isBlocked), NOW);
  const all =
    'is:unfinished is:suspect is:pinned is:dead-letter pod:pod-1 retries:4 crashes:2 claims:5 ' +
    'error:e_x boom queue:q due:<1h -is:blocked -is:finished -is:discarded';
  expect(asks(all)).toBe(true);
  expect(asks('is:blocked', {}, true)).toBe(true);
  expect(asks('is:suspect,unfinished', { finishedAt: NOW })).toBe(false);
  expect(asks('is:discarded -is:dead-letter', { discardedAt: NOW })).toBe(true);
  for (const error of ['no JSON', '"text"', '17', 'null', '[1]', '{"message":{}}', '']) {
    expect(asks('error:*', { error })).toBe(false);
  }
  expect(asks('json', { error: 'no JSON' })).toBe(true);
});

test('a run of one host tells its facts', () => {
  const run = factsOfRun({
    ...{ id: FACTS.id as never, machine: 'm', version: 1, status: 'blocked', state: 'a.work' },
    ...{ attempt: 3, seq: 4, startedAt: NOW, updatedAt: NOW },
  });
  const asks = (text: string) => matches(parseFilter(text), run, NOW);
  expect(asks('status:blocked is:blocked is:unfinished retries:2 created:<1m -queue:*')).toBe(true);
});

test('the words that are known are those of the store', () => {
  const waits: Record<WaitFor, true> = {
    ...{ time: true, retry: true, sleep: true, signal: true, children: true, run: true },
    ...{ throttle: true, turn: true, host: true, version: true, key: true },
  };
  const statuses: Record<TaskStatus, true> = {
    ...{ pending: true, waiting: true, claimed: true },
    ...{ completed: true, failed: true, cancelled: true },
  };
  expect(Object.keys(waits).sort()).toEqual([...WAITS].sort());
  expect(STATUSES).toEqual(expect.arrayContaining(Object.keys(statuses)));
});
