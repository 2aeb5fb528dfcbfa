/**
 * What an account says to a statement that another one is in the way of. Codes of hybrid tables are not
 * published: here they come from the account itself, and FleetQ is asked what it would take them for.
 */
import { StoreBusyError } from '../../errors.ts';
import { DuplicateKeyError, meaningOf } from '../driver-errors.ts';
import type { TableKind } from '../migrate.ts';
import { type Ask, codeOf, type Refused, refusalOf } from './bench.ts';
import * as texts from './probe.sql.ts';
import type { Finding, Question } from './questions.ts';

/** Whoever would send it again has understood it. */
function judged(
  refused: Refused | undefined,
  wanted: typeof StoreBusyError,
  none: string,
): Finding {
  if (!refused) return { verdict: 'warn', answer: none, concludes: 'nothing rests on it' };
  const meaning = meaningOf(refused.thrown);
  const answer = `${codeOf(refused)}: ${refused.message}`;
  const figures = { code: refused.code ?? null, sqlState: refused.sqlState ?? null };
  return meaning instanceof wanted
    ? {
        verdict: 'ok',
        answer,
        concludes: 'known: nothing was written, and it is tried again',
        figures,
      }
    : {
        verdict: 'fail',
        answer,
        concludes: `taken for ${meaning.code}, and not for a busy store: please report this code`,
        figures,
      };
}

/** `first` has a row, or its table, in a transaction that goes on. */
async function hold(first: Ask, table: string, id: number): Promise<void> {
  await first('begin');
  await first(texts.countUp(table), [id]);
}

export const lockWait = (kind: TableKind): Question => ({
  name: `lock wait, ${kind}`,
  asks: 'What does a statement get that has waited longer for a lock than it may?',
  of: kind,
  isNeeded: true,
  ask: (bench) =>
    bench.several(2, async ([first, second]) => {
      const table = bench.tableOf(kind);
      await hold(first!, table, 1);
      await second!(texts.lockSeconds(1));
      const refused = await refusalOf(second!(texts.countUp(table), [1]));
      await first!('rollback');
      return judged(refused, StoreBusyError, 'it was carried out: nothing was locked');
    }),
});

/** Row by row, or all of the table: what hybrid tables are for. */
export const rowLocks: Question = {
  name: 'row locks, hybrid',
  asks: 'Does a statement wait for another that has a different row?',
  of: 'hybrid',
  ask: (bench) =>
    bench.several(2, async ([first, second]) => {
      const table = bench.tableOf('hybrid');
      await hold(first!, table, 1);
      await second!(texts.lockSeconds(1));
      const refused = await refusalOf(second!(texts.countUp(table), [2]));
      await first!('rollback');
      if (!refused) {
        const concludes = 'pods do not wait for each other';
        return { verdict: 'ok', answer: 'no, rows are locked one by one', concludes };
      }
      const concludes = 'hybrid tables are no faster here than standard ones with several pods';
      return { verdict: 'warn', answer: `yes: ${codeOf(refused)}`, concludes };
    }),
};

export const deadlock: Question = {
  name: 'deadlock, hybrid',
  asks: 'What does one of two get that wait for each other, and after how long?',
  of: 'hybrid',
  ask: (bench) =>
    bench.several(2, async ([first, second]) => {
      const table = bench.tableOf('hybrid');
      await Promise.all([first!(texts.lockSeconds(5)), second!(texts.lockSeconds(5))]);
      await Promise.all([hold(first!, table, 1), hold(second!, table, 2)]);
      const begunMs = bench.nowMs();
      const ends = await Promise.all([
        refusalOf(first!(texts.countUp(table), [2])),
        refusalOf(second!(texts.countUp(table), [1])),
      ]);
      const elapsedMs = Math.round(bench.nowMs() - begunMs);
      await Promise.all([first!('rollback'), second!('rollback')].map((end) => refusalOf(end)));
      const found = judged(ends[0] ?? ends[1], StoreBusyError, 'neither was refused');
      const figures = { ...found.figures, elapsedMs };
      return { ...found, answer: `after ${elapsedMs} ms, ${found.answer}`, figures };
    }),
};

export const duplicateKey: Question = {
  name: 'duplicate key, hybrid',
  asks: 'What does an insert get whose key is there already?',
  of: 'hybrid',
  isNeeded: true,
  ask: async (bench) => {
    await bench.lay('hybrid');
    return bench.one(async (ask) => {
      const rows = JSON.stringify([{ id: 1, rev: 'b' }]);
      const insert = ask(texts.insertRows(bench.tableOf('hybrid')), [rows]);
      const refused = await refusalOf(insert);
      if (refused) return judged(refused, DuplicateKeyError, '');
      const concludes = 'keys are not kept by hybrid tables here: use tables=standard';
      return { verdict: 'fail', answer: 'it was put in a second time', concludes };
    });
  },
};

export const lockingRead: Question = {
  name: 'locking read, hybrid',
  asks: 'Does SELECT … LIMIT 1 FOR UPDATE lock that row alone, and what does a second one get?',
  of: 'hybrid',
  ask: (bench) =>
    bench.several(2, async ([first, second]) => {
      const table = bench.tableOf('hybrid');
      const concludes = 'good to know: FleetQ locks no rows by reading them';
      await Promise.all([first!('begin'), second!('begin')]);
      const refused = await refusalOf(first!(texts.selectFirstLocked(table)));
      if (refused) return { verdict: 'ok', answer: `refused: ${codeOf(refused)}`, concludes };
      const other = await refusalOf(second!(texts.selectOneLocked(table), [2]));
      const same = await refusalOf(second!(texts.selectOneLocked(table), [1]));
      const gets = same ? codeOf(same) : 'it waits for nobody';
      const answer = `${other ? 'no, others as well' : 'yes'}; ${gets}`;
      const figures = { locksOthers: other !== undefined, code: same?.code ?? null };
      return { verdict: 'ok', answer, concludes, figures };
    }),
};

/** One more than wait in an account of the old kind. */
const WAITERS = 22;

export const waiters: Question = {
  name: 'waiters, standard',
  asks: `How many of ${WAITERS} statements may wait for the lock of one table?`,
  of: 'standard',
  isNeeded: true,
  ask: (bench) =>
    bench.several(WAITERS + 1, async ([first, ...others]) => {
      const table = bench.tableOf('standard');
      await Promise.all(others.map((ask) => ask(texts.lockSeconds(2))));
      await hold(first!, table, 1);
      const ends = await Promise.all(
        others.map((ask) => refusalOf(ask(texts.countUp(table), [2]))),
      );
      await first!('rollback');
      const crowd = ends.filter((end) => end?.code === '000625').length;
      const strange = ends.find((end) => end && !(meaningOf(end.thrown) instanceof StoreBusyError));
      if (strange) return judged(strange, StoreBusyError, '');
      const figures = { waiters: WAITERS, refused: crowd };
      const answer =
        crowd === 0
          ? `all of them; they gave up after the time they may wait`
          : `${WAITERS - crowd}: ${crowd} were refused with 000625`;
      const concludes =
        crowd === 0
          ? 'more pods may write at once than the old limit of 20 lets'
          : 'keep to ten pods; what is refused is tried again a little later';
      return { verdict: crowd === 0 ? 'ok' : 'warn', answer, concludes, figures };
    }),
};
