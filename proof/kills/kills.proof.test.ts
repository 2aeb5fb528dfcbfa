/** The small size of `npm run proof -- kills`: the same code, the same ledgers, fewer runs and kills. */
import { expect, test } from 'vitest';
import type { LedgerLine } from '../../test/support/ledger.ts';
import { runKills } from './kills.ts';
import { judgeLedgers } from './kills-judge.ts';

test('random SIGKILLs lose no acknowledged run and double no effect outside the one window', async () => {
  const slots = 16;
  const report = await runKills({ runs: 1_500, kills: 25, slots, seed: 7, secondsMax: 100 });
  console.log(JSON.stringify(report));
  expect(report).toMatchObject({
    acknowledged: 1_500,
    kills: 25,
    lost: 0,
    work: { doubled: 0 },
    persist: { doubled: 0 },
    invented: 0,
  });
  // Kills did hit work that was under way, and never more of it than there were slots.
  expect(report.work.repeated).toBeGreaterThan(0);
  expect(report.repeatedPerProcessMax).toBeLessThanOrEqual(slots);
}, 110_000);

const line = (
  step: string,
  phase: string,
  fencingToken: number,
  more: Partial<LedgerLine> = {},
) => {
  const subject = more.subject ?? 'a';
  return {
    run: 'r',
    step,
    phase,
    attempt: fencingToken,
    idempotencyKey: `${subject} ${step} ${phase}`,
    fencingToken,
    outcome: 'done',
    subject,
    ...more,
  };
};
const verdict = (...effects: LedgerLine[]) =>
  judgeLedgers(
    [
      { subject: 'a', shape: 'one' },
      { subject: 'b', shape: 'three' },
    ],
    effects,
  );

test('the judge of the ledgers sees what is lost, doubled and invented', () => {
  const persist = (effects: LedgerLine[]) => verdict(...effects).persist;
  expect(verdict(line('main', 'persist', 1))).toMatchObject({
    lost: 1,
    persist: { count: 1, repeated: 0, doubled: 0 },
  });
  const twiceInOneProcess = [1, 1].map((process) => line('main', 'persist', process));
  expect(persist(twiceInOneProcess)).toMatchObject({ repeated: 1, doubled: 1 });
  const cutOff = [1, 2].map((process) => line('main', 'persist', process));
  expect(persist(cutOff)).toMatchObject({ repeated: 1, doubled: 0 });
  expect(verdict(...cutOff).repeatedPerProcessMax).toBe(1);
  const b = { subject: 'b' };
  const hadBeenRecorded = [
    line('pull', 'persist', 1, b),
    line('unpack', 'check', 1, b),
    line('pull', 'persist', 2, b),
  ];
  expect(persist(hadBeenRecorded)).toMatchObject({ repeated: 1, doubled: 1 });
  expect(verdict(line('main', 'work', 1, { subject: 'nobody' }))).toMatchObject({ invented: 1 });
});

test('the judge tells work that was cut off from work that failed and from work done for nothing', () => {
  const work = (...effects: LedgerLine[]) => verdict(...effects).work;
  const cutOff = [line('main', 'work', 1), line('main', 'work', 2)];
  expect(work(...cutOff)).toEqual({ count: 2, repeated: 1, doubled: 0 });
  const inOneProcess = line('main', 'work', 1, { attempt: 2 });
  expect(work(line('main', 'work', 1), inOneProcess)).toMatchObject({ repeated: 1, doubled: 1 });
  const validated = line('main', 'validate', 1);
  expect(work(cutOff[0]!, validated, cutOff[1]!)).toMatchObject({ repeated: 1, doubled: 1 });
  // To be done again: the work threw, or what it made was rejected.
  const threw = line('main', 'work', 1, { outcome: 'threw' });
  expect(work(threw, inOneProcess)).toMatchObject({ repeated: 0, doubled: 0 });
  const rejected = { ...validated, outcome: 'threw' };
  expect(work(cutOff[0]!, rejected, inOneProcess)).toMatchObject({ repeated: 0, doubled: 0 });
  // Of one process both kinds count together: a slot is in one phase at a time.
  const both = [
    ...cutOff,
    ...[1, 2].map((process) => line('main', 'persist', process, { subject: 'b' })),
  ];
  expect(verdict(...both).repeatedPerProcessMax).toBe(2);
});
