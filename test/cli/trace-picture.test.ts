/** How a trace looks: on any width, without colours, in ASCII, and where there is too much of it. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, test } from 'vitest';
import { glyphsFor } from '../../src/cli/trace/glyphs.ts';
import { traceText } from '../../src/cli/trace/show.ts';
import { traceIdOf } from '../../src/ground/index.ts';
import type { RunEvent } from '../../src/machine/index.ts';
import { spansOf } from '../../src/telemetry/spans-of.ts';
import { type TracedRecord, totalsOf } from '../../src/telemetry/trace.ts';

const RUN = '01KA4Z8CDE5FGH6JKM7NPQ8RST';
const T0 = Date.UTC(2026, 10, 15, 12);
const error = { name: 'FetchError', code: 'ECONNRESET', message: 'canary' };
const DONE: RunEvent = { type: 'DONE', output: 'canary' };
const lines = glyphsFor({ LANG: 'en_GB.UTF-8' });
const ascii = glyphsFor({ LANG: 'C' });

type Told = readonly [ms: number, epoch: number, event: RunEvent, state: string];

const started = (state: string, more: object = {}): Told => [
  ...([0, 1] as const),
  {
    type: 'STARTED',
    machine: 'image/install',
    version: 1,
    fingerprint: '',
    input: 'canary',
    ...more,
  },
  state,
];
const failed = (dueMs: number): RunEvent => ({ type: 'FAILED', error, dueAt: T0 + dueMs });

function recordsOf(...told: readonly Told[]): TracedRecord[] {
  return told.map(([ms, epoch, event, state], seq) => ({ seq, at: T0 + ms, epoch, event, state }));
}

function draw(records: readonly TracedRecord[], width = 80, more: object = {}): string {
  const canvas = { width, glyphs: lines, paint: (_: unknown, text: string) => text, ...more };
  const trace = spansOf(records, T0 + 40_000);
  return traceText(RUN, trace, (pod) => (pod === 'pod-1' ? 'alder' : undefined), canvas);
}

/** Crashed, taken over, failed, waited, slept while it came under another version, handed off. */
const EVENTFUL = recordsOf(
  started('pull.check', { pod: 'pod-1' }),
  [1_000, 1, DONE, 'pull.work'],
  [18_000, 3, { type: 'TAKEN', pod: 'pod-2', interruption: 'cut' }, 'pull.work'],
  [18_000, 3, { type: 'INTERRUPTED', error }, 'pull.work'],
  [18_100, 3, { type: 'PROBED' }, 'pull.work'],
  [20_000, 3, failed(24_000), 'pull.work'],
  [24_100, 3, { type: 'PROBED' }, 'pull.work'],
  [29_100, 3, DONE, 'rest.sleep'],
  [29_100, 3, { type: 'ASLEEP', dueAt: T0 + 39_000 }, 'rest.sleep'],
  [38_900, 5, { type: 'TAKEN', pod: 'pod-1' }, 'rest.sleep'],
  [38_900, 5, { type: 'ADVANCED', version: 2, fingerprint: '' }, 'rest.sleep'],
  [39_000, 5, DONE, 'activate.check'],
  [40_000, 5, { type: 'HANDED_OFF', output: 'canary', reason: 'canary' }, 'handedOff'],
);

test('a run of many mishaps is told on one screen', () => {
  expect(`\n${draw(EVENTFUL)}\n`).toBe(`
image/install@2  handed off at activate.check after 40 s
trace   019a89f431ae2be1134a743d6d74633a
run     01KA4Z8CDE5FGH6JKM7NPQ8RST
began   2026-11-15T12:00:00.000Z
time    working 9.1 s · waiting 14 s · lost ≤ 17 s
pods    A pod-1 alder
        B pod-2

image/install                          40 s  ├─────────────────────────────────┤
├─ pull                                29 s  ━━━━━━━━━━━━━━━━━━━━━━━━━
│  ├─ check                      A    1.0 s  █
│  ├─ work  CRASHED              A   ≤ 17 s   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
│  ├─ ▲ taken over by pod B      B                           ▲
│  ├─ probe #2                   B   100 ms                  ▏
│  ├─ work #2  failed ECONNRESET B    1.9 s                  ██
│  ├─ waits to try again              4.0 s                    ───
│  ├─ probe #3                   B   100 ms                       ▏
│  └─ work #3                    B    5.0 s                       ████
├─ rest                               9.9 s                           ━━━━━━━━━
│  ├─ sleep                           9.9 s                           ─────────
│  ├─ ▲ taken over by pod A      A                                             ▲
│  └─ ▲ goes on under version 2  A                                             ▲
└─ activate                           1.0 s                                    ━
   └─ check  handed off          A    1.0 s                                    █
`);
});

describe('whatever the terminal', () => {
  test.each([40, 60, 80, 132, 250])('of %d columns, no line of the tree is wider', (width) => {
    for (const line of draw(EVENTFUL, width).split('\n').slice(8)) {
      expect([...line].length, line).toBeLessThanOrEqual(width);
    }
    expect(draw(EVENTFUL, width)).toMatch(/work {2}CRASHED/);
  });

  test('without UTF-8 there is nothing but ASCII in it', () => {
    const text = draw(EVENTFUL, 60, { glyphs: ascii });
    expect(text).toMatch(/^[ -~\n]*$/);
    expect(text).toMatch(/^\| {2}\|- work {2}CRASHED +A +<=17 s {2}x+$/m);
    expect(glyphsFor({}).branch).toBe(lines.branch);
    expect(glyphsFor({ LANG: 'en_GB.UTF-8', LC_ALL: 'POSIX' }).branch).toBe(ascii.branch);
    expect(glyphsFor({ TERM: 'dumb' }).branch).toBe(ascii.branch);
  });

  test('colours change nothing but the colour', () => {
    const paint = (style: Parameters<typeof styleText>[0], text: string) =>
      styleText(style, text, { validateStream: false });
    const coloured = draw(EVENTFUL, 100, { paint });
    expect(stripVTControlCharacters(coloured)).toBe(draw(EVENTFUL, 100));
    expect(coloured).toContain(styleText('red', '▒', { validateStream: false }).slice(0, 6));
  });
});

test('no payload, reason or message is in it', () => {
  expect(draw(EVENTFUL)).not.toContain('canary');
});

test('names from strangers cannot move the cursor', () => {
  const evil = { ...error, code: '\u001b[2J\u0007boom\n' };
  const text = draw(
    recordsOf(started('main.work'), [9, 1, { type: 'EXHAUSTED', error: evil }, 'failed']),
  );
  expect(text).toMatch(/failed for good {1,2}boom/);
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u0007');
});

test('attempts that differ from each other are still bounded', () => {
  const told: Told[] = [started('main.work')];
  for (let at = 1; at <= 200; at++) {
    const postponed: RunEvent = { type: 'POSTPONED', reason: '', dueAt: T0 + at * 100 + 50 };
    told.push([at * 100, 1, at % 2 ? failed(at * 100 + 50) : postponed, 'main.work']);
  }
  const text = draw(recordsOf(...told));
  expect(text.split('\n').length).toBeLessThan(60);
  expect(text).toMatch(/… 1\d\d more attempts {2,}/);
});

describe('what the records tell', () => {
  test('time in which nobody had the run is waiting, and a drain is no crash', () => {
    const trace = spansOf(
      recordsOf(
        started('main.work', { pod: 'pod-1' }),
        [2_000, 1, { type: 'INTERRUPTED', isFree: true }, 'main.work'],
        [5_000, 2, { type: 'TAKEN', pod: 'pod-2' }, 'main.work'],
        [6_000, 2, DONE, 'completed'],
      ),
      T0,
    );
    expect(totalsOf(trace)).toEqual({
      ...{ totalMs: 6_000, workingMs: 3_000, waitingMs: 3_000, lostMs: 0 },
    });
    expect(trace.items).toMatchObject([
      { outcome: 'drained', attempt: 1, pod: 'pod-1', epoch: 1 },
      { kind: 'wait', why: 'process' },
      { what: 'taken', pod: 'pod-2', from: { pod: 'pod-1' } },
      { outcome: 'done', attempt: 1, pod: 'pod-2', epoch: 2, beganSeq: 2, endedSeq: 3 },
    ]);
  });

  test('two owners that died before the first death was counted are one crash', () => {
    const cut = (pod: string): RunEvent => ({ type: 'TAKEN', pod, interruption: 'cut' });
    const trace = spansOf(
      recordsOf(
        started('main.work', { pod: 'pod-1' }),
        [1_000, 2, cut('pod-2'), 'main.work'],
        [3_000, 3, cut('pod-3'), 'main.work'],
        [
          3_001,
          3,
          { type: 'EXHAUSTED', error: { ...error, code: 'FLEETQ_INTERRUPTED' } },
          'failed',
        ],
      ),
      T0,
    );
    expect(trace.items.map(({ kind }) => kind)).toEqual(['attempt', 'mark', 'mark']);
    expect(trace.items[0]).toMatchObject({ outcome: 'crashed', pod: 'pod-1', endedSeq: 3 });
    expect(trace.end).toMatchObject({ outcome: 'exhausted', state: 'main.work' });
  });

  test('after a death in validate it is check that is asked before persist, and may throw', () => {
    const trace = spansOf(
      recordsOf(
        started('main.check'),
        [1, 1, DONE, 'main.work'],
        [2, 1, DONE, 'main.validate'],
        [3, 2, { type: 'TAKEN', pod: 'pod-2', interruption: 'cut' }, 'main.validate'],
        [3, 2, { type: 'INTERRUPTED' }, 'main.validate'],
        [4, 2, { type: 'DONE' }, 'main.persist'],
        [5, 2, failed(5), 'main.persist'],
        [6, 2, { type: 'PROBED' }, 'main.persist'],
        [7, 2, DONE, 'completed'],
      ),
      T0,
    );
    const told = trace.items.filter((item) => item.kind === 'attempt');
    expect(told.map(({ phase, attempt, outcome }) => `${phase} ${attempt} ${outcome}`)).toEqual([
      ...['check 1 done', 'work 1 done', 'validate 1 crashed', 'validate 2 done'],
      ...['probe 2 retried', 'probe 3 done', 'persist 3 done'],
    ]);
  });

  test('a cancel during a wait ends the wait, and no attempt is told that was never made', () => {
    const trace = spansOf(
      recordsOf(
        started('main.work'),
        [10, 1, failed(60_000), 'main.work'],
        [500, 1, { type: 'CANCELLED', reason: '' }, 'cancelled'],
      ),
      T0,
    );
    expect(trace.items).toMatchObject([
      { outcome: 'retried' },
      { why: 'retry', endedAt: T0 + 500 },
    ]);
    expect(trace.items).toHaveLength(2);
  });
});

test('the id of a trace is the run as 32 hexadecimal digits', () => {
  expect(traceIdOf('00000000000000000000000001')).toBe('00000000000000000000000000000001');
  expect(traceIdOf('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toBe('f'.repeat(32));
  expect(traceIdOf('0190b0c6-f1e2-7abc-8def-0123456789ab')).toBe(
    '0190b0c6f1e27abc8def0123456789ab',
  );
});
