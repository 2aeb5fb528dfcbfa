/** The live table as text: aligned, never wider than the terminal, and calm. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Board, type BoardPod } from '../../src/cli/dev/board.ts';
import { drawScreen, type Picture, type RunLine } from '../../src/cli/dev/screen.ts';
import { stripOf } from '../../src/cli/dev/strip.ts';
import { plain, tableText } from '../../src/cli/table.ts';
import type { RunId, RunSummary } from '../../src/index.ts';

function run(over: Partial<RunLine>): RunLine {
  return {
    pod: 'pod-1',
    id: '01JZZZZZZZZZZZZZZZZZZZZZZ0' as RunId,
    machine: 'image/install',
    version: 1,
    status: 'active',
    state: 'unpack.work',
    attempt: 1,
    startedAt: 1_000,
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
function pods(over: Partial<BoardPod> = {}): readonly BoardPod[] {
  const board = new Board(['pod-1', 'pod-2', 'pod-3']);
  return board.pods.map((pod) => ({ ...pod, state: 'up', pid: 4_194_304, ...over }));
}
const picture: Picture = {
  pages: 'http://127.0.0.1:7433',
  store: 'sqlite:.fleetq/fleet.db',
  hasSamples: true,
  pods: pods(),
  runs: Array.from({ length: 20 }, (_, index) =>
    run({
      id: `01JZZZZZZZZZZZZZZZZZZZZZ${10 + index}` as RunId,
      machine: 'a-machine/with-a-long-name',
    }),
  ),
  machines: new Map([['image/install@1', machine]]),
  totals: {
    enqueued: 12_345,
    completed: 12_000,
    handedOff: 300,
    failed: 45,
    takenOver: 7,
  },
  verdict: { acknowledged: 12_345, underWay: 12, lost: [], doubled: [] },
  messages: Array.from({ length: 20 }, (_, index) => ({
    text: `message ${index} ${'x'.repeat(200)}`,
    style: 'gray',
  })),
  now: 5_000,
  monotonicMs: 5_000,
};
const draw = (shown: Partial<Picture>, columns = 80, rows = 40) =>
  drawScreen({ ...picture, ...shown }, { columns, rows }, (_, text) => text);

describe('the phases of a run', () => {
  test.each<[Partial<RunSummary>, string]>([
    [{ state: 'unpack.work' }, '●●●● ●◉○○'],
    [{ state: 'unpack.work', status: 'failed' }, '●●●● ●✕○○'],
    [{ state: 'unpack.persist', status: 'completed' }, '●●●● ●●●●'],
    [{ state: '', status: 'completed' }, '●●●● ●●●●'],
    [{ state: '' }, '◉○○○ ○○○○'],
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

  test.each([
    [120, 'sqlite:.fleetq/fleet.db'],
    [80, 'sqlite:.fleetq/fleet.db'],
    [80, `postgres://somebody@${'x'.repeat(80)}/db`],
    [50, 'sqlite:.fleetq/fleet.db'],
  ])('at %i columns begins with the whole address of the admin UI', (columns, store) => {
    const [head] = draw({ store }, columns);
    expect(head).toMatch(/^ fleetq dev {2}admin UI http:\/\/127\.0\.0\.1:7433( |$)/);
    expect(head!.length).toBeLessThanOrEqual(columns);
  });

  test('says in its own words what the outside ledger has found', () => {
    expect(draw({})).toContain(' ✓ lost 0, doubled 0 of 12345 acknowledged, 12 under way');
    const verdict = { acknowledged: 2, underWay: 0, lost: ['a'], doubled: ['b', 'c'] };
    expect(draw({ verdict })).toContain(' ✕ lost 1, doubled 2 of 2 acknowledged');
  });

  test('stands still: a pod that dies changes no column of the pods', () => {
    const orphans = new Set(Array.from({ length: 99 }, (_, index) => `${index}`));
    const killed = draw({ pods: pods({ state: 'killed', orphans, sinceMs: 0 }) });
    expect(killed.find((line) => line.includes('POD'))).toBe(
      draw({}).find((line) => line.includes('POD')),
    );
    expect(killed.join('\n')).toContain('killed 5.0 s ago, 99 runs wait');
  });

  test.each([80, 100])('at %i columns no run moves a column of the runs', (columns) => {
    const sample = (over: Partial<RunLine>) => run({ machine: 'llm/summarise', ...over });
    const headOf = (over: Partial<RunLine>) =>
      draw({ runs: [sample({ state: '' }), sample(over)] }, columns).find((line) =>
        line.includes('TASK'),
      );
    const still = headOf({ pod: 'pod-1', status: 'active' });
    expect(headOf({ pod: 'pod-3 → 1', status: 'handedOff', attempt: 12 })).toBe(still);
    expect(headOf({ pod: '', state: 'unpack.work', machine: 'image/install' })).toBe(still);
    expect(headOf({ startedAt: -300_000 })).toBe(still);
  });

  test('marks the leader, what was orphaned, and what changed hands', () => {
    const [first, ...others] = pods();
    const text = draw({
      pods: [{ ...first!, isLeader: true }, ...others],
      runs: [
        run({ mark: 'orphaned' }),
        run({ pod: 'pod-3 → 1' }),
        run({ mark: 'released', pod: '' }),
      ],
    }).join('\n');
    expect(text).toContain('pod-1 ★');
    expect(text).toMatch(/pod-1 .*orphaned/);
    expect(text).toMatch(/pod-3 → 1 .*active/);
    expect(text).toMatch(/released/);
  });

  test.each([80, 100])('at %i columns no machine is cut while there are blanks', (columns) => {
    const name = 'image/install';
    const runs = picture.runs.map((each) => ({ ...each, machine: name, state: 'unpack.work' }));
    const long = { ...picture.runs[0]!, machine: 'image/install-all' };
    expect(draw({ runs }, columns).join('\n')).toContain(`${name} `);
    expect(draw({ runs: [long] }, columns).join('\n')).toContain(`${long.machine} `);
  });

  test('offers to enqueue tasks only where there are samples', () => {
    const keys = (hasSamples: boolean) => draw({ hasSamples }).at(-1);
    expect(keys(true)).toContain('s enqueue more  t 429  d deploy');
    expect(keys(false)).toBe(' k kill a pod    d deploy    q drain and quit    ★ leads');
  });

  test('shows whole ids where there is room, so that they can be pasted', () => {
    expect(draw({}, 120).join('\n')).toContain(picture.runs[0]!.id);
    expect(draw({}, 80).join('\n')).not.toContain(picture.runs[0]!.id);
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
