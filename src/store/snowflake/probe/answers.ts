/** What an account answers, and when: requests that come twice, reads by others, texts it may not take. */
import type { TableKind } from '../migrate.ts';
import { codeOf, refusalOf } from './bench.ts';
import * as texts from './probe.sql.ts';
import type { Question } from './questions.ts';

export const sameRequest: Question = {
  name: 'same request twice',
  asks: 'Is a statement that comes twice under one request id carried out once?',
  of: 'standard',
  ask: async (bench) => {
    await bench.lay('standard');
    return bench.one(async (ask) => {
      const table = bench.tableOf('standard');
      const id = uuidOf(bench.sessions.random.hex(16));
      await ask(texts.countUp(table), [3], id);
      await ask(texts.countUp(table), [3], id);
      const { rows } = await ask(texts.selectRow(table), [3]);
      const counted = Number(rows[0]?.['v']);
      const figures = { carriedOut: counted };
      if (counted === 1) {
        const concludes = 'what the driver sends again by itself does no harm';
        return { verdict: 'ok', answer: 'once', concludes, figures };
      }
      const answer = `${counted} times`;
      const concludes =
        'the driver may do things twice; FleetQ holds, every write being conditional';
      return { verdict: 'warn', answer, concludes, figures };
    });
  },
};

/** The shape that the driver wants of a request's id. */
function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

const READS = 6;

export const oldReads = (kind: TableKind): Question => ({
  name: `old reads, ${kind}`,
  asks:
    'Does another session read at once what one has written, with and without read_latest_writes, ' +
    'and once it has written a row of that table itself?',
  of: kind,
  isNeeded: true,
  ask: (bench) =>
    bench.several(4, async ([writer, latest, plain, touching]) => {
      const table = bench.tableOf(kind);
      await bench.lay(kind);
      await plain!(texts.readOld);
      const old = { latest: 0, plain: 0, touching: 0 };
      for (let round = 1; round <= READS; round += 1) {
        await writer!(texts.countUp(table), [3]);
        const seen = await Promise.all(
          [latest!, plain!].map(async (ask) => {
            const { rows } = await ask(texts.selectRow(table), [3]);
            return Number(rows[0]?.['v']);
          }),
        );
        if (seen[0] !== round) old.latest += 1;
        if (seen[1] !== round) old.plain += 1;
        await touching!(texts.touch(table));
        const { rows } = await touching!(texts.selectRow(table), [3]);
        if (Number(rows[0]?.['v']) !== round) old.touching += 1;
      }
      const answer =
        `${old.latest} of ${READS} reads were old with it, ${old.plain} without, ` +
        `${old.touching} after a write of its own`;
      const figures = { reads: READS, ...old };
      if (old.latest === 0) {
        return { verdict: 'ok', answer, concludes: 'pods see each other at once', figures };
      }
      const remedy =
        "an administrator may set READ_CONSISTENCY_MODE = 'GLOBAL' for the account, and ask again";
      // Of hybrid tables nothing is read late by what FleetQ sets, and so nothing is made sure of.
      const isUnsure = kind === 'hybrid' || old.touching > 0;
      const concludes = isUnsure
        ? `a pod may take its own claim for lost, and do its work twice: ${remedy}`
        : `pods see each other late, and write before they believe that something is gone; ${remedy}`;
      return { verdict: isUnsure ? 'fail' : 'warn', answer, concludes, figures };
    }),
});

export const lastChange = (kind: TableKind): Question => ({
  name: `last change, ${kind}`,
  asks: 'Can it be asked without a warehouse whether a table has changed?',
  of: kind,
  ask: (bench) =>
    bench.one(async (ask) => {
      const table = bench.tableOf(kind);
      const look = async () => (await ask(texts.lastChange(table))).rows[0]?.['changed'];
      const concludesNo =
        kind === 'hybrid'
          ? 'idle pods watch a small standard table instead, which every enqueue rings'
          : 'an idle fleet keeps the warehouse up, each time it looks';
      const refused = await refusalOf(look());
      if (refused) {
        const answer = `no: ${codeOf(refused)}`;
        const verdict = kind === 'hybrid' ? 'ok' : 'warn';
        return { verdict, answer, concludes: concludesNo, figures: { works: false } };
      }
      const before = await look();
      await ask(texts.countUp(table), [3]);
      const isSeen = (await look()) !== before;
      const figures = { works: isSeen };
      return isSeen
        ? { verdict: 'ok', answer: 'yes', concludes: 'an idle fleet lets it suspend', figures }
        : { verdict: 'warn', answer: 'a change was not told', concludes: concludesNo, figures };
    }),
});

export const boundLimit: Question = {
  name: 'bound limit',
  asks: 'Does the account take LIMIT ? with a bind?',
  ask: (bench) =>
    bench.one(async (ask) => {
      const refused = await refusalOf(ask(texts.selectLimited(bench.tableOf('standard')), [1]));
      const answer = refused ? `no: ${codeOf(refused)}` : 'yes';
      const concludes = 'good to know: FleetQ ends its texts with a few numbers of its own';
      return { verdict: 'ok', answer, concludes, figures: { works: !refused } };
    }),
};

export const inlineProcedure: Question = {
  name: 'inline procedure',
  asks: 'Does the account make inline procedures?',
  of: 'hybrid',
  ask: (bench) =>
    bench.one(async (ask) => {
      const name = `fleetq_probe_${bench.tag}_inline`;
      const refused = await refusalOf(ask(texts.createInline(name)));
      if (!refused) await ask(texts.dropInline(name));
      const answer = refused ? `no: ${codeOf(refused)}` : 'yes';
      const concludes = 'good to know: FleetQ does without them';
      return { verdict: 'ok', answer, concludes, figures: { works: !refused } };
    }),
};
