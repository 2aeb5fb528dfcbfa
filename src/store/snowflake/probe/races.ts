/** What all of FleetQ rests on: of several who write one row at once, who wins, and who is told so. */

import { StoreUnreachableError } from '../../errors.ts';
import { meaningOf } from '../driver-errors.ts';
import type { TableKind } from '../migrate.ts';
import { type Ask, type Bench, refusalOf } from './bench.ts';
import * as texts from './probe.sql.ts';
import type { Finding, Question } from './questions.ts';

const RIVALS = 8;
const ROUNDS = 5;

export const lostUpdates = (kind: TableKind): Question => ({
  name: `lost updates, ${kind}`,
  asks: `Do ${RIVALS} sessions that count one row up at once, ${ROUNDS} times each, lose a count?`,
  of: kind,
  isNeeded: true,
  ask: (bench) => bench.several(RIVALS, (asks) => countTogether(bench, kind, asks)),
});

async function countTogether(bench: Bench, kind: TableKind, asks: Ask[]): Promise<Finding> {
  const table = bench.tableOf(kind);
  await bench.lay(kind);
  let [told, refused, unknown] = [0, 0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.allSettled(asks.map((ask) => ask(texts.countUp(table), [3])));
    told += answers.filter(({ status }) => status === 'fulfilled').length;
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      // Whoever was not answered in time may have counted, or not.
      if (meaningOf(answer.reason) instanceof StoreUnreachableError) unknown += 1;
      else refused += 1;
    }
  }
  const { rows } = await asks[0]!(texts.selectRow(table), [3]);
  const counted = Number(rows[0]?.['v']);
  const figures = { told, counted, refused, unknown };
  const answer = `${told} were told that they had counted, ${refused} gave way, and it is at ${counted}`;
  return counted >= told && counted <= told + unknown
    ? { verdict: 'ok', answer, concludes: 'a statement that waited looks again', figures }
    : { verdict: 'fail', answer, concludes: UNSAFE, figures };
}

const UNSAFE =
  'writes are lost here: no outcome could be told to be the only one; do not run a fleet on these tables';

export const compareAndSet = (kind: TableKind): Question => ({
  name: `compare and set, ${kind}`,
  asks:
    `Of ${RIVALS} sessions that change one row at once, if it is as all of them saw it, ` +
    'is one told that it did, and is it what the row says?',
  of: kind,
  isNeeded: true,
  ask: (bench) => bench.several(RIVALS, (asks) => changeTogether(bench, kind, asks)),
});

async function changeTogether(bench: Bench, kind: TableKind, asks: Ask[]): Promise<Finding> {
  const table = bench.tableOf(kind);
  await bench.lay(kind);
  let seen = 'a';
  let [wrong, undecided] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const winners: string[] = [];
    await Promise.all(
      asks.map(async (ask, rival) => {
        const rev = `${round}.${rival}`;
        const sent = ask(texts.compareAndSet(table), [rev, 3, seen]);
        const refused = await refusalOf(sent);
        if (!refused && (await sent).count === 1) winners.push(rev);
      }),
    );
    const { rows } = await asks[0]!(texts.selectRow(table), [3]);
    const now = String(rows[0]?.['rev']);
    if (winners.length === 0 && now === seen) undecided += 1;
    else if (winners.length !== 1 || winners[0] !== now) wrong += 1;
    seen = now;
  }
  const figures = { rounds: ROUNDS, wrong, undecided };
  const won = ROUNDS - wrong - undecided;
  const answer = `one, and the row says so, in ${won} of ${ROUNDS} rounds; in ${undecided} all gave way`;
  if (wrong > 0) return { verdict: 'fail', answer, concludes: UNSAFE, figures };
  if (won === 0) {
    const concludes = 'nobody gets through; look for what else locks the tables of this schema';
    return { verdict: 'fail', answer, concludes, figures };
  }
  return { verdict: 'ok', answer, concludes: 'a task has one owner, and one outcome', figures };
}
