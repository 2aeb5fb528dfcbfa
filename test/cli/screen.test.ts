/** The live table as text: aligned, never wider than the terminal, and calm. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, test } from 'vitest';
import { drawScreen, type Picture } from '../../src/cli/dev/screen.ts';
import { stripOf } from '../../src/cli/dev/strip.ts';
import { place } from '../../src/cli/dev/table-view.ts';
import { plain, tableText } from '../../src/cli/table.ts';
import type { RunId, RunSummary } from '../../src/index.ts';

function run(over: Partial<RunSummary>): RunSummary {
  return {
    id: '01JZZZZZZZZZZZZZZZZZZZZZZ0' as RunId,
    machine: 'image/install',
    version: 1,
    status: 'active',
    state: 'unpack.work',
    attempt: 1,
    seq: 3,
    startedAt: 1_000,
    updatedAt: 1_000,
    ...over,
  };
}
const phases = ['check', 'work', 'validate', 'persist'] as const;
const machine = {
  name: 'image/install',
  version: 1,
  fingerprint: 'x',
  transitions: ['pull', 'unpack'].flatMap((step) => phases.map((phase) => ({ step, phase }))),
};
const picture: Picture = {
  dataDir: './.fleetq',
  hasSamples: true,
  worker: 'worker 1, boot 1, up 3 s, 1 of 64 slots busy',
  isUp: true,
  runs: Array.from({ length: 20 }, (_, index) =>
    run({
      id: `01JZZZZZZZZZZZZZZZZZZZZZ${10 + index}` as RunId,
      machine: 'a-machine/with-a-long-name',
    }),
  ),
  machines: new Map([['image/install@1', machine]]),
  totals: {
    started: 12_345,
    completed: 12_000,
    handedOff: 300,
    failed: 45,
    cancelled: 0,
    resumed: 7,
  },
  messages: Array.from({ length: 20 }, (_, index) => `message ${index} ${'x'.repeat(200)}`),
  now: 5_000,
};

describe('the phases of a run', () => {
  test.each<[Partial<RunSummary>, string]>([
    [{ state: 'unpack.work' }, '●●●● ●◉○○'],
    [{ state: 'unpack.work', status: 'failed' }, '●●●● ●✕○○'],
    [{ state: 'unpack.persist', status: 'completed' }, '●●●● ●●●●'],
    [{ state: 'pull.check', status: 'handedOff' }, '●○○○ ○○○○'],
    [{ state: 'somewhere.else' }, 'somewhere.else'],
  ])('%o is %s', (over, strip) => {
    expect(stripOf(run(over), machine, 16)).toBe(strip);
  });

  test('are counted where they would not fit', () => {
    expect(stripOf(run({}), machine, 8)).toBe('◉ 6 of 8');
  });
});

describe('the screen', () => {
  test.each([
    [80, 24],
    [80, 40],
    [120, 50],
    [76, 12],
  ])('fits a terminal of %i by %i', (columns, rows) => {
    const lines = drawScreen(picture, { columns, rows }, (style, text) =>
      styleText(style, text, { validateStream: false }),
    );
    const widths = lines.map((line) => stripVTControlCharacters(line).length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(stripVTControlCharacters(lines.at(-1)!)).toContain('q drain and quit');
  });

  test.each([80, 100])('at %i columns no machine is cut while there are blanks', (columns) => {
    const name = 'image/install';
    const runs = picture.runs.map((each) => ({ ...each, machine: name, state: 'unpack.work' }));
    const long = { ...picture.runs[0]!, machine: 'image/install-all' };
    const draw = (shown: Picture) =>
      drawScreen(shown, { columns, rows: 40 }, (_, text) => text).join('\n');
    expect(draw({ ...picture, runs })).toContain(`${name} `);
    expect(draw({ ...picture, runs: [long] })).toContain(`${long.machine} `);
  });

  test('offers to start runs only where there are samples', () => {
    const keys = (hasSamples: boolean) =>
      drawScreen({ ...picture, hasSamples }, { columns: 80, rows: 40 }, (_, text) => text).at(-1);
    expect(keys(true)).toContain('s start more runs');
    expect(keys(false)).toBe(' k kill the worker    q drain and quit');
  });

  test('shows whole ids where there is room, so that they can be pasted', () => {
    const draw = (columns: number) =>
      drawScreen(picture, { columns, rows: 40 }, (_, text) => text).join('\n');
    expect(draw(120)).toContain(picture.runs[0]!.id);
    expect(draw(80)).not.toContain(picture.runs[0]!.id);
  });
});

describe('the lines of runs', () => {
  const [a, b, c] = ['A', 'B', 'C'].map((id) => run({ id: id as RunId })) as [
    RunSummary,
    RunSummary,
    RunSummary,
  ];
  const ended = (of: RunSummary, finishedAt: number): RunSummary => ({ ...of, finishedAt });

  test('stay where they are; a new run takes the line of the one that ended first', () => {
    const lines = [ended(a, 2_000), ended(b, 1_000)];
    expect(place(lines, [c], 2).map(({ id }) => id)).toEqual(['A', 'C']);
    expect(place([a, b], [c], 2)).toEqual([a, b]);
  });

  test('a run that gave its line away does not come back', () => {
    const lines = place([ended(b, 2_000), c], [ended(a, 1_000), ended(b, 2_000), c], 2);
    expect(lines.map(({ id }) => id)).toEqual(['B', 'C']);
  });
});

describe('a table', () => {
  test('cannot be made to move the cursor by what strangers wrote', () => {
    expect(plain('a\u001b[2Jb\r\nc\u0007')).toBe('ab c ');
  });

  test('cuts its elastic column first, and lines the others up', () => {
    const text = tableText(
      [
        { n: 'x'.repeat(40), v: '1' },
        { n: 'y', v: '22' },
      ],
      [
        { head: 'NAME', text: (row) => row.n, isElastic: true },
        { head: 'VALUE', text: (row) => row.v, align: 'right' },
      ],
      20,
      (_, line) => line,
    );
    expect(text.split('\n')).toEqual([
      'NAME           VALUE',
      'xxxxxxxxxxxx…      1',
      'y                 22',
    ]);
  });
});
