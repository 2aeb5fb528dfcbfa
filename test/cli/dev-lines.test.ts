/** The lines of `fleetq dev`: each shows what became of its run, whichever message was lost with a pod. */
import { describe, expect, test } from 'vitest';
import { type LineRow, RunLines, type ShownRun } from '../../src/cli/dev/lines.ts';
import type { SupervisorEvent } from '../../src/cli/worker/supervisor.ts';
import type { RunId } from '../../src/index.ts';

const of = (run: string) => ({ run, machine: 'sample/charge', version: 1 });
const begun = (run: string): SupervisorEvent => ({ kind: 'begun', ...of(run) });
const resumed = (run: string): SupervisorEvent => ({
  ...{ kind: 'resumed', ...of(run), state: 'main.work', attempt: 2 },
});
const finished = (run: string, elapsedMs = 5): SupervisorEvent => ({
  ...{ kind: 'finished', ...of(run), outcome: 'completed', state: 'main.persist' },
  ...{ reason: undefined, elapsedMs },
});
const settled = (run: string, to: string): SupervisorEvent => ({ kind: 'settled', run, to });
const listed = (run: string): ShownRun => ({
  ...{ id: run as RunId, machine: 'sample/charge', version: 1, status: 'active' },
  ...{ state: 'main.validate', attempt: 1, startedAt: 1_000 },
});
const row = (id: string, over: Partial<LineRow>): LineRow => ({
  ...{ id: id as RunId, status: 'claimed', outcome: undefined, finishedAt: undefined, ...over },
});

/** A table of two lines, and pods that hold what they say they hold. */
function table(countMax = 2) {
  const lines = new RunLines();
  let now = 1_000;
  return {
    lines,
    hear: (pod: string, ...events: SupervisorEvent[]) => {
      for (const event of events) lines.hear(pod, event, now++, countMax);
    },
    list: (pod: string, runs: readonly string[], asOf = lines.heard) => {
      const holds = new Set(runs);
      lines.refresh(pod, runs.map(listed), { asOf, holds, countMax });
    },
    decide: (rows: readonly LineRow[], asOf = lines.heard) =>
      lines.decide(lines.unlisted(new Set()), rows, asOf),
    shown: () => lines.all.map(({ id, status, pod }) => [id, status, pod]),
  };
}

describe('a run', () => {
  test('that starts and ends between two looks at its pod has its line, and has ended there', () => {
    const { hear, shown, lines } = table();
    hear('pod-1', begun('A'), finished('A', 5), settled('A', 'completed'));
    expect(shown()).toEqual([['A', 'completed', 'pod-1']]);
    expect(lines.all[0]!.finishedAt! - lines.all[0]!.startedAt).toBe(5);
  });

  test('that has ended does not come back by a list that was asked for before', () => {
    const { hear, list, lines, shown } = table();
    hear('pod-1', begun('A'));
    const asOf = lines.heard;
    hear('pod-1', finished('A'));
    list('pod-1', ['A'], asOf);
    expect(shown()).toEqual([['A', 'completed', 'pod-1']]);
  });

  test('that gave its line away and has been settled gets no other line', () => {
    const { hear, lines, shown } = table(1);
    hear('pod-1', begun('A'), finished('A'), settled('A', 'completed'), begun('B'));
    const settledByNow = { asOf: 0, holds: new Set<string>(), countMax: 2 };
    lines.refresh('pod-1', [listed('A')], settledByNow);
    expect(shown()).toEqual([['B', 'active', 'pod-1']]);
  });

  test('whose pod died after it had settled it has ended, as the store says', () => {
    const { hear, decide, shown } = table();
    hear('pod-1', begun('A'), begun('B'));
    decide([row('A', { status: 'failed', outcome: 'timedOut', finishedAt: 2_000 }), row('B', {})]);
    expect(shown()).toEqual([
      ['A', 'failed', 'pod-1'],
      ['B', 'active', 'pod-1'],
    ]);
  });

  test('that was removed from the store has no line', () => {
    const { hear, decide, shown } = table();
    hear('pod-1', begun('A'));
    decide([]);
    expect(shown()).toEqual([]);
  });

  test('that another pod took over meanwhile is not released by an older row', () => {
    const { hear, decide, lines, shown } = table();
    hear('pod-1', begun('A'));
    const asOf = lines.heard;
    hear('pod-2', resumed('A'));
    decide([row('A', { status: 'pending' })], asOf);
    expect(shown()).toEqual([['A', 'active', 'pod-2']]);
  });

  test('that waits, or was released, belongs to no pod until one takes it up', () => {
    const { hear, lines, shown } = table();
    hear('pod-1', begun('A'), begun('B'), settled('A', 'waiting'), settled('B', 'pending'));
    expect(shown().map(([, status]) => status)).toEqual(['waiting', 'waiting']);
    expect(lines.all.map(({ hold }) => hold)).toEqual(['waiting', 'released']);
    hear('pod-2', resumed('B'));
    expect(lines.all[1]).toMatchObject({ pod: 'pod-2', hold: 'held', state: 'main.work' });
  });

  test('that a person redrives goes on in its line', () => {
    const { hear, shown, lines } = table();
    hear('pod-1', begun('A'), finished('A'), settled('A', 'completed'), begun('A'));
    expect(shown()).toEqual([['A', 'active', 'pod-1']]);
    expect(lines.all[0]!.finishedAt).toBeUndefined();
  });

  test('of recovery is not among those of people', () => {
    const { hear, shown } = table();
    hear('pod-1', { kind: 'begun', run: 'S', machine: 'recovery/sweep', version: 1 });
    expect(shown()).toEqual([]);
  });
});

describe('the lines', () => {
  test('stay where they are; a new run takes the line of the one that ended first', () => {
    const { hear, shown } = table();
    hear('pod-1', begun('A'), begun('B'), finished('B'), finished('A'), begun('C'));
    expect(shown().map(([id]) => id)).toEqual(['A', 'C']);
  });

  test('are all taken while all their runs go on; the next run gets one when it is free', () => {
    const { hear, list, shown } = table(1);
    hear('pod-1', begun('A'), begun('B'));
    list('pod-1', ['A', 'B']);
    expect(shown().map(([id]) => id)).toEqual(['A']);
    hear('pod-1', finished('A'));
    list('pod-1', ['B']);
    expect(shown().map(([id]) => id)).toEqual(['B']);
  });

  test('after a thousand runs show none that has ended as active', () => {
    const { hear, list, lines } = table(10);
    for (let turn = 0; turn < 1_000; turn++) {
      const [id, asOf] = [`R${turn}`, lines.heard];
      hear('pod-1', begun(id), finished(id));
      // The answer was on its way while the run ended.
      list('pod-1', [id], asOf);
      hear('pod-1', settled(id, 'completed'));
    }
    expect(new Set(lines.all.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(lines.all.map(({ id }) => id)).toContain('R999');
  });
});
