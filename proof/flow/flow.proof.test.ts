/** The small size of `npm run proof -- flow`: the same pods, the same ledger, fewer keys, tasks and kills. */
import { expect, test } from 'vitest';
import { runFlow } from './flow.ts';
import { type FlowLine, judgeFlow } from './flow-judge.ts';

test('tasks of one key run one at a time and in order on pods that are killed, within the limit', async () => {
  const options = { keys: 8, tasks: 10, pods: 3, kills: 2, limit: 5, workMs: 5 };
  const report = await runFlow({ ...options, seed: 7, secondsMax: 90 });
  expect(report).toMatchObject({ together: 0, outOfOrder: 0, stuck: 0 });
  // On a host that is busy a pod may not be up again in time to be killed once more.
  expect(report.kills).toBeGreaterThan(0);
  expect(report.claimedMax).toBeLessThanOrEqual(report.limit);
  expect(report.claimedMax).toBeGreaterThan(1);
}, 110_000);

test('the judge of the ledger sees two at once, what is out of order, and what is stuck', () => {
  const line = (key: string, number: number, what: FlowLine['what'] = 'begins') => ({
    key,
    number,
    what,
  });
  const run = (key: string, number: number) => [line(key, number), line(key, number, 'ends')];
  const verdict = (...lines: FlowLine[]) => judgeFlow(lines, { keys: ['a', 'b'], tasks: 2 });
  const b = [...run('b', 0), ...run('b', 1)];
  const fine = { together: 0, outOfOrder: 0, stuck: 0, repeated: 0 };
  expect(verdict(...run('a', 0), ...run('a', 1), ...b)).toEqual(fine);
  expect(verdict(line('a', 0), ...run('b', 0), ...run('a', 0), ...run('a', 1))).toMatchObject({
    together: 0,
    repeated: 1,
    stuck: 1,
  });
  expect(verdict(line('a', 0), line('a', 1))).toMatchObject({ together: 1, stuck: 4 });
  expect(verdict(...run('a', 1), ...run('a', 0))).toMatchObject({ outOfOrder: 1 });
  const excused = judgeFlow(
    [line('a', 0), ...run('a', 1), ...b],
    { keys: ['a', 'b'], tasks: 2 },
    new Set(['a 0']),
  );
  expect(excused).toEqual(fine);
});
