/** The small size of `npm run kills`: the same code, the same ledgers, fewer runs and kills. */
import { expect, test } from 'vitest';
import { runKills } from './kills.ts';
import { judgeLedgers } from './kills-judge.ts';

test('random SIGKILLs lose no acknowledged run and double no persist outside the one window', async () => {
  const slots = 16;
  const report = await runKills({ runs: 1_500, kills: 25, slots, seed: 7, secondsMax: 100 });
  console.log(JSON.stringify(report));
  expect(report).toMatchObject({
    acknowledged: 1_500,
    kills: 25,
    lost: 0,
    doubled: 0,
    invented: 0,
  });
  expect(report.repeatedPerProcessMax).toBeLessThanOrEqual(slots);
}, 110_000);

const line = (step: string, phase: string, fencingToken: number, subject = 'a') => ({
  run: 'r',
  step,
  phase,
  attempt: 1,
  idempotencyKey: `${subject} ${step} ${phase}`,
  fencingToken,
  outcome: 'done',
  subject,
});

test('the judge of the ledgers sees what is lost, doubled and invented', () => {
  const starts = [
    { subject: 'a', shape: 'one' as const },
    { subject: 'b', shape: 'three' as const },
  ];
  const verdict = (...effects: ReturnType<typeof line>[]) => judgeLedgers(starts, effects);
  expect(verdict(line('main', 'persist', 1))).toMatchObject({ lost: 1, repeated: 0, doubled: 0 });
  const twiceInOneProcess = verdict(line('main', 'persist', 1), line('main', 'persist', 1));
  expect(twiceInOneProcess).toMatchObject({ repeated: 1, doubled: 1 });
  const cutOff = verdict(line('main', 'persist', 1), line('main', 'persist', 2));
  expect(cutOff).toMatchObject({ repeated: 1, doubled: 0, repeatedPerProcessMax: 1 });
  const hadBeenRecorded = verdict(
    line('pull', 'persist', 1, 'b'),
    line('unpack', 'check', 1, 'b'),
    line('pull', 'persist', 2, 'b'),
  );
  expect(hadBeenRecorded).toMatchObject({ repeated: 1, doubled: 1 });
  expect(verdict(line('main', 'work', 1, 'nobody'))).toMatchObject({ invented: 1 });
});
