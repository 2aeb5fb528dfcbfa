/** The parts of the pages that are pure: what they make of records, texts and bytes. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, showJson } from '../../admin-ui/src/format/lossless.ts';
import { showAge, showInstant, showSpan } from '../../admin-ui/src/format/time.ts';
import { Teller } from '../../admin-ui/src/pages/run/course.ts';
import { diffOf } from '../../admin-ui/src/pages/run/diff.ts';
import { place } from '../../admin-ui/src/pages/run/scale.ts';
import { whyOf } from '../../admin-ui/src/pages/run/why.ts';
import { merge } from '../../admin-ui/src/pages/runs/merge.ts';
import { hash } from '../../admin-ui/src/platform/sha256.ts';
import { SseReader } from '../../admin-ui/src/services/sse.ts';
import type { Run, RunRecord } from '../../admin-ui/src/services/types.ts';
import { EVENT_TYPES } from '../../src/machine/index.ts';

const run = (id: string, createdAt: number, more: Partial<Run> = {}): Run => ({
  id,
  machine: 'm',
  version: 1,
  status: 'completed',
  createdAt,
  updatedAt: createdAt,
  source: 'store',
  freshAt: '',
  ...more,
});

const record = (seq: number, at: number, state: string, event: RunRecord['event']): RunRecord => ({
  ...{ seq, at, state, event },
  epoch: 1,
  hash: `${seq}`,
});

const courseOf = (told: Run, records: readonly RunRecord[], nowMs: number) =>
  new Teller(told.createdAt).tell(told, records, nowMs);

test('its SHA-256 is that of everybody, whatever the text and its length', () => {
  for (const text of [
    '',
    'abc',
    'é∑🙂',
    'x'.repeat(55),
    'x'.repeat(56),
    'x'.repeat(64),
    'y'.repeat(1_000),
  ]) {
    expect(hash('sha256', text, 'hex')).toBe(createHash('sha256').update(text).digest('hex'));
  }
});

test('whole numbers beyond 2^53 keep their digits, where the engine tells the source', () => {
  const text = '{"a":12345678901234567890,"b":[1,2.5,9007199254740993],"c":"12345678901234567890"}';
  const tellsSource =
    JSON.parse('1', (_key, _value, context?: { source?: string }) => context?.source) === '1';
  const shown = showJson(parseJson(text), 0);
  if (tellsSource) expect(shown).toBe(text);
  else expect(JSON.parse(shown)).toEqual(JSON.parse(text));
  expect(showJson({ big: 9007199254740993n }, 0)).toBe('{"big":9007199254740993}');
});

test('events come out whole, however the bytes were cut', () => {
  const text =
    ': alive\n\nid: 7\nevent: runs\ndata: {"a":1}\n\nid: 8\r\ndata: x\r\ndata: y\r\n\r\n';
  const wanted = [
    { id: '7', event: 'runs', data: '{"a":1}' },
    { id: '8', event: 'message', data: 'x\ny' },
  ];
  for (let cut = 1; cut < text.length; cut++) {
    const reader = new SseReader();
    expect([...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))]).toEqual(wanted);
  }
});

test('a list takes in what changed, lets go what no longer fits, and stays sorted', () => {
  const rows = [run('c', 3), run('b', 2), run('a', 1)];
  const change = {
    asked: new Set(['b', 'd', '0']),
    found: [run('d', 4), run('0', 0)],
    hasMore: true,
  };
  // What is older than the last row comes with its page.
  expect(merge(rows, change).map(({ id }) => id)).toEqual(['d', 'c', 'a']);
  expect(merge(rows, { ...change, hasMore: false }).map(({ id }) => id)).toEqual([
    'd',
    'c',
    'a',
    '0',
  ]);
});

test('a course tells queue, attempts, waits, and the gap that a dead pod leaves', () => {
  const records = [
    record(0, 100, 's.work', { type: 'STARTED', pod: 'p1' }),
    record(1, 150, 's.work', { type: 'FAILED', error: {}, dueAt: 250 }),
    record(2, 900, 's.work', { type: 'TAKEN', pod: 'p2', interruption: 'cut' }),
    record(3, 900, 's.work', { type: 'INTERRUPTED' }),
    record(4, 950, 's.persist', { type: 'DONE' }),
    record(5, 960, 'completed', { type: 'DONE' }),
  ];
  const { spans, times } = courseOf(run('r', 0, { finishedAt: 960 }), records, 2_000);
  expect(spans.map(({ kind, from, until, end, pod }) => [kind, from, until, end, pod])).toEqual([
    ['queue', 0, 100, 'done', undefined],
    ['phase', 100, 150, 'failed', 'p1'],
    ['gap', 150, 900, 'cut', 'p1'],
    ['phase', 900, 950, 'done', 'p2'],
    ['phase', 950, 960, 'done', 'p2'],
  ]);
  expect(times.get('s.work')).toEqual({ spentMs: 100, tries: 2, failures: 1 });
});

test('a course that is told piece by piece is the same as one that is told at once', () => {
  const event = fc.constantFrom('STARTED', 'DONE', 'FAILED', 'TAKEN', 'ASLEEP', 'INTERRUPTED');
  const step = fc.record({ type: event, afterMs: fc.nat(50), waitMs: fc.nat(100) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 1_500 }), fc.nat(1_500), (steps, cut) => {
      let at = 0;
      const records = steps.map(({ type, afterMs, waitMs }, seq) => {
        at += afterMs;
        return record(seq, at, `s${seq % 3}.work`, { type, pod: 'p', dueAt: at + waitMs });
      });
      const open = run('r', 0, { status: 'claimed' });
      const teller = new Teller(0);
      teller.tell(open, records.slice(0, cut), at);
      expect(teller.fits(open, records)).toBe(true);
      const course = teller.tell(open, records, at + 5);
      expect(course).toEqual(courseOf(open, records, at + 5));
      expect(course.spans.length).toBe(Math.min(course.count, 400));
      const rewound = [
        ...records.slice(0, -1),
        record(records.length - 1, at, 's.x', { type: 'DONE' }),
      ];
      expect(teller.fits(open, rewound)).toBe(false);
    }),
    { numRuns: 50 },
  );
});

test('a course that goes on ends with what it is at: work, a wait, the queue', () => {
  const started = record(0, 100, 's.work', { type: 'STARTED', pod: 'p1' });
  const last = (status: string, records: readonly RunRecord[]) =>
    courseOf(run('r', 0, { status }), records, 500).spans.at(-1);
  expect(last('claimed', [started])).toMatchObject({
    kind: 'phase',
    from: 100,
    until: 500,
    end: 'open',
  });
  const failed = record(1, 200, 's.work', { type: 'FAILED', error: {}, dueAt: 9_000 });
  expect(last('waiting', [started, failed])).toMatchObject({
    kind: 'wait',
    from: 200,
    until: 9_000,
  });
  expect(last('pending', [])).toMatchObject({ kind: 'queue', until: 500 });
});

test('clocks that differ never make a span negative', () => {
  const records = [
    record(0, 50, 's.work', { type: 'STARTED', pod: 'p1' }),
    record(1, 20, 's.persist', { type: 'DONE' }),
  ];
  const { spans } = courseOf(run('r', 100, { finishedAt: 20 }), records, 0);
  expect(spans.every(({ from, until }) => until >= from)).toBe(true);
  expect(showSpan(-5)).toBe('0 ms');
});

test('idle time is cut short where it would hide the work, and never overlaps', () => {
  const records = [
    record(0, 100, 's.work', { type: 'STARTED', pod: 'p1' }),
    record(1, 110, 's.work', { type: 'FAILED', error: {}, dueAt: 3_600_000 }),
    record(2, 3_600_010, 'completed', { type: 'DONE' }),
  ];
  const { spans } = courseOf(run('r', 100, { finishedAt: 3_600_010 }), records, 0);
  const placed = place(spans, 600, true);
  expect(placed.map(({ kind, isCut }) => [kind, isCut])).toEqual([
    ['phase', false],
    ['wait', true],
    ['phase', false],
  ]);
  for (const [index, { x }] of placed.entries()) {
    const before = placed[index - 1];
    if (before) expect(x).toBeCloseTo(before.x + before.width);
  }
  expect(placed.at(-1)!.x + placed.at(-1)!.width).toBeLessThanOrEqual(600);
  expect(place(spans, 600, false)[0]!.width).toBeLessThan(6);
});

test('every event has a sentence of its own', () => {
  const facts = { before: undefined, podName: (pod: string) => pod };
  for (const type of EVENT_TYPES) {
    const said = whyOf(record(1, 0, 's.work', { type, error: {}, dueAt: 10, reason: 'so' }), facts);
    expect(said).not.toContain('led to');
    expect(said).toMatch(/\.$/);
  }
  expect(whyOf(record(1, 0, 's.work', { type: 'NEW' }), facts)).toBe('NEW led to s.work.');
});

test('a diff names the path, and takes no name for more than a name', () => {
  const lines = diffOf({ a: 1, b: { c: [1, 2] } }, JSON.parse('{"b":{"c":[1,3]},"__proto__":1}'));
  expect(lines).toEqual([
    { path: '__proto__', before: undefined, after: '1' },
    { path: 'a', before: '1', after: undefined },
    { path: 'b.c[1]', before: '2', after: '3' },
  ]);
});

test('times are told in the form that was chosen', () => {
  const at = Date.UTC(2026, 10, 16, 9, 30, 5);
  expect(showInstant(at, 'utc', at + 1_000)).toBe('09:30:05 Z');
  expect(showInstant(at, 'utc', at + 86_400_000)).toBe('2026-11-16 09:30:05 Z');
  expect(showInstant(at, 'relative', at + 61_000)).toBe('1 m ago');
  expect(showInstant(at, 'relative', at - 7_200_000)).toBe('in 2 h');
  expect([showAge(500), showSpan(61_500), showSpan(90_061_000)]).toEqual([
    'now',
    '1 m 1 s',
    '1 d 1 h',
  ]);
});
