/** What `fleetq dev` makes of what its pods tell: who holds what, who took over what, who was lost. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Board } from '../../src/cli/dev/board.ts';
import { Verifier, verdictText } from '../../src/cli/dev/verifier.ts';
import type { SupervisorEvent } from '../../src/cli/worker/supervisor.ts';
import type { RunId } from '../../src/index.ts';
import type { TaskRow } from '../../src/store/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const machine = 'sample/resize';
const begun = (run: string): SupervisorEvent => ({ kind: 'begun', run, machine, version: 1 });
const resumed = (run: string): SupervisorEvent => ({
  ...{ kind: 'resumed', run, machine, version: 1, state: 'main.work', attempt: 2 },
});
const died: SupervisorEvent = { kind: 'died', pid: 1, how: 'SIGKILL', againInMs: undefined };
const ready: SupervisorEvent = {
  ...{ kind: 'ready', pid: 1, boot: 1, pod: 'P', health: undefined, elapsedMs: 1 },
};

describe('the board', () => {
  test('tells who took over which run at which phase, and how long after the death', () => {
    const board = new Board(['pod-1', 'pod-2']);
    board.hear('pod-1', begun('a'), 0);
    board.hear('pod-1', begun('b'), 0);
    board.hear('pod-1', { kind: 'settled', run: 'b', to: 'completed' }, 5);
    board.hear('pod-1', died, 10);
    expect([...board.pod('pod-1').orphans]).toEqual(['a']);
    expect(board.hear('pod-2', resumed('a'), 3_510)).toEqual({
      ...{ kind: 'takenOver', run: 'a', machine, state: 'main.work' },
      ...{ from: 'pod-1', by: 'pod-2', afterMs: 3_500 },
    });
    expect(board.pod('pod-1').orphans.size).toBe(0);
    expect(board.pod('pod-2')).toMatchObject({ tookOver: 1, holds: new Set(['a']) });
    expect(board.totals.takenOver).toBe(1);
  });

  test('does not call it a take-over where a pod goes on with its own', () => {
    const board = new Board(['pod-1', 'pod-2']);
    board.hear('pod-1', begun('a'), 0);
    board.hear('pod-1', died, 1);
    expect(board.hear('pod-1', resumed('a'), 2)).toBeUndefined();
    expect(board.totals.takenOver).toBe(0);
  });

  test('leaves out the recovery runs of a pod, which end with it', () => {
    const board = new Board(['pod-1']);
    board.hear('pod-1', { kind: 'begun', run: 's', machine: 'recovery/sweep', version: 1 }, 0);
    board.hear('pod-1', died, 1);
    expect(board.pod('pod-1').orphans.size).toBe(0);
  });

  test('names the busiest for the kill, and nobody where only one is left', () => {
    const board = new Board(['pod-1', 'pod-2']);
    board.hear('pod-1', ready, 0);
    expect(board.busiest()).toBeUndefined();
    board.hear('pod-2', ready, 0);
    board.hear('pod-2', begun('a'), 0);
    expect(board.busiest()?.name).toBe('pod-2');
  });
});

describe('the verifier', () => {
  const newDir = useTempDirs();
  const row = (id: string, over: Partial<TaskRow> = {}) =>
    ({ id, machine, outcome: 'completed', finishedAt: 1, ...over }) as TaskRow;

  function newLedger(): string {
    const directory = newDir();
    mkdirSync(directory, { recursive: true });
    return join(directory, 'ledger');
  }

  async function verdictOf(rows: readonly TaskRow[], lines: string, known = ['a', 'b']) {
    const ledger = newLedger();
    appendFileSync(ledger, lines);
    const store = { find: async () => [...rows] };
    const verifier = new Verifier(store, ledger);
    for (const id of known) verifier.acknowledge(id as RunId);
    return verifier.look();
  }

  test.each<[string, readonly TaskRow[], string, string]>([
    ['all is well', [row('a'), row('b')], 'a\nb\n', 'lost 0, doubled 0 of 2 acknowledged'],
    ['a row is gone', [row('a')], 'a\nb\n', 'lost 1, doubled 0 of 2 acknowledged'],
    ['an effect is missing', [row('a'), row('b')], 'a\n', 'lost 1, doubled 0 of 2 acknowledged'],
    ['one came twice', [row('a'), row('b')], 'a\nb\na\n', 'lost 0, doubled 1 of 2 acknowledged'],
    [
      'one is under way',
      [row('a'), row('b', { finishedAt: undefined, outcome: undefined })],
      'a\n',
      'lost 0, doubled 0 of 2 acknowledged, 1 under way',
    ],
    [
      'one was handed off, one leaves no line',
      [row('a', { outcome: 'handedOff' }), row('b', { machine: 'hello' })],
      '',
      'lost 0, doubled 0 of 2 acknowledged',
    ],
  ])('%s', async (_, rows, lines, text) => {
    expect(verdictText(await verdictOf(rows, lines))).toBe(text);
  });

  test('counts a line that was half written when it was read', async () => {
    const ledger = newLedger();
    const verifier = new Verifier({ find: async () => [row('abc')] }, ledger);
    appendFileSync(ledger, 'ab');
    await verifier.look();
    appendFileSync(ledger, 'c\n');
    verifier.acknowledge('abc' as RunId);
    expect(await verifier.look()).toMatchObject({ lost: [], doubled: [] });
  });
});
