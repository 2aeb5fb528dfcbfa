/** The copy of the dead letters on a host's own disk. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SqliteDeadLetters } from '../../src/fleet/dead-letters.ts';
import { defineMachine } from '../../src/index.ts';
import { placeOf } from '../../src/journal/index.ts';
import type { TaskRow } from '../../src/store/index.ts';
import { anyInput, STEADY_MS, useTestFleets, whileAdvancing } from './support.ts';

const { newDir, startFleet } = useTestFleets();

/** A store whose dead letters are these; what a row has besides does not matter here. */
function newScene() {
  const letters: TaskRow[] = [];
  let answers: Promise<void> | undefined;
  const dataDir = newDir();
  mkdirSync(dataDir, { recursive: true });
  const copy = new SqliteDeadLetters(join(dataDir, 'dead-letters.db'), {
    list: async ({ before = '~', countMax }) => {
      await answers;
      return letters.filter(({ id }) => id < before).slice(0, countMax);
    },
    histories: async () => [],
  });
  return {
    copy,
    fail(count: number): void {
      for (let n = count; n > 0; n -= 1) letters.push(letterOf(`${n}`.padStart(9, '0')));
    },
    redriveAll: () => letters.splice(0),
    holdAnswers: () => {
      let answer!: () => void;
      answers = new Promise((resolve) => (answer = resolve));
      return answer;
    },
  };
}

function letterOf(id: string): TaskRow {
  return { id, generation: 1, machine: 'm', version: 1, updatedAt: 1 } as unknown as TaskRow;
}

test('dead letters that were redriven in bulk are removed without a look at each row for each', async () => {
  const { copy, fail, redriveAll } = newScene();
  fail(6_000);
  expect(await copy.refresh()).toBe(6_000);
  redriveAll();
  const begunMs = performance.now();
  expect(await copy.refresh()).toBe(0);
  // A look at each row for each of them takes several seconds on any host.
  expect(performance.now() - begunMs).toBeLessThan(1_500);
  expect(copy.list(10)).toEqual([]);
  copy.close();
});

test('I46: a copy that is closed while the store answers is not opened again', async () => {
  const { copy, fail, holdAnswers } = newScene();
  fail(3);
  const answer = holdAnswers();
  const refreshing = copy.refresh();
  copy.close();
  answer();
  expect(await refreshing).toBe(0);
  expect(() => copy.list(1)).toThrow('closed');
});

test.each(['drains', 'stops at once'])('I46: a pod that %s closes its copy', async (how) => {
  const machine = defineMachine({
    name: 'm',
    version: 1,
    input: anyInput,
    check: 'none',
    work: () => 1,
  });
  const { clock, startPod } = startFleet();
  const { fleet, dataDir } = await startPod('alder', { machines: [machine] });
  await clock.advance(STEADY_MS + 60_000);
  const { deadLetters } = placeOf(dataDir);
  expect(existsSync(deadLetters)).toBe(true);
  if (how === 'drains') await whileAdvancing(clock, fleet.drain({ budget: '5s' }));
  else fleet.stopNow();
  // SQLite removes its log with the last handle.
  expect(existsSync(`${deadLetters}-wal`)).toBe(false);
});
